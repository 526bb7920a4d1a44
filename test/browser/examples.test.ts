// The examples for React, Vue and Svelte: built in a folder of their own against the package as it is published, checked
// against its types alone, and opened. Each shows a chat and counts the tokens of its answers.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../tools/lib/chromium';
import { DIST, ensureBuilt } from '../../tools/lib/dist';
import { ROOT } from '../../tools/lib/ensure.mjs';
import { type Served, serve } from '../../tools/lib/serve';

const folder = mkdtempSync(path.join(tmpdir(), 'vivace-examples-'));
let browser: Browser;
let server: Served | undefined;

/** What a project has installed beside the package. */
const INSTALLED = [
  'react',
  'react-dom',
  'vue',
  'svelte',
  'preact',
  'vite',
  '@types',
  '@vitejs',
  '@sveltejs',
  'comlink',
  'lit',
  'lit-html',
  'lit-element',
  '@lit',
];

beforeAll(async () => {
  await ensureBuilt();
  process.env.NODE_ENV = 'production'; // libraries bring a slower twin for tests
  const own = path.join(folder, 'node_modules/vivace');
  cpSync(path.join(DIST, 'lib'), path.join(own, 'dist/lib'), { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(own, 'package.json'));
  for (const name of INSTALLED) {
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
  }
  cpSync(path.join(ROOT, 'examples'), path.join(folder, 'examples'), { recursive: true });
  mkdirSync(path.join(folder, 'types'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  browser = await launchChromium({ webgpu: false }); // the cpu backend loads within a second
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true });
});

test.each(['react', 'vue', 'svelte'])('the example for %s is built, answers and hears its answer', async (name) => {
  const outDir = path.join(folder, 'built', name);
  const root = path.join(folder, 'examples', name);
  const configFile = name === 'react' ? false : path.join(root, 'vite.config.ts');
  await build({ root, configFile, logLevel: 'error', build: { outDir } });
  await server?.close();
  server = await serve({ mounts: { '/': outDir, '/models/': path.join(DIST, 'models') } });
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(server.url);
  await expect.poll(() => page.getByTestId('prompt').getAttribute('placeholder')).toBe('Ask for a story');
  await expect.poll(() => page.getByTestId('system').count()).toBe(0); // `settings` has come through
  await page.getByRole('button', { name: 'A lost key' }).click();
  await expect.poll(async () => Number(await page.locator('output').textContent())).toBeGreaterThan(3);
  expect(errors).toEqual([]);
  await page.close();
});

test('under Node, which renders pages first, an import of the elements does nothing', async () => {
  const code = `import { VivaceChat, VivaceMetrics } from 'vivace/react'; console.log(VivaceChat.name, VivaceMetrics.name)`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
  expect(stdout.trim().split(' ')).toHaveLength(2);
});

const VANILLA = `
import type { VivaceChat } from 'vivace/elements';

const chat: VivaceChat = document.createElement('vivace-chat');
document.querySelector('vivace-metrics')?.addEventListener('vivace-roofline', ({ detail }) => detail?.readGBps);
chat.addEventListener('vivace-event', ({ detail }) => detail.type === 'token' && detail.text.length);
chat.addEventListener('vivace-changed', ({ detail }) => detail.id.length);
chat.addEventListener('click', ({ clientX }) => clientX.toFixed());
chat.addEventListener('of-another', (event) => event.type);
// @ts-expect-error: the event has no such detail
chat.addEventListener('vivace-open-run', ({ detail }) => detail.nonsense);
`;

const JSX_CONSUMER = `
export const chat = (
  <vivace-chat id="a" model="m.gguf" autoload context={4096} kv="f16" examples="a | b" theme="dark" settings="off"
    ref={(element) => element?.stop()} onvivace-event={({ detail }) => detail.type === 'done'} />
);
export const panel = <vivace-metrics for="a" onvivace-roofline={({ detail }) => detail === null} />;
// @ts-expect-error: none of the themes
export const wrong = <vivace-chat theme="blue" />;
// @ts-expect-error: none of the events' details
export const deaf = <vivace-chat onvivace-open-run={({ detail }) => detail.nonsense} />;
`;

const TEMPLATES = `
import type { SvelteHTMLElements } from 'svelte/elements';
import type { GlobalComponents } from 'vue';
import type {} from 'vivace/svelte';
import type {} from 'vivace/vue';

type VueChat = InstanceType<GlobalComponents['vivace-chat']>['$props'];
export const vue: VueChat = { id: 'a', context: '4096', onVivaceEvent: ({ detail }) => void detail.type, ref: 'chat' };
export const svelte: SvelteHTMLElements['vivace-chat'] = {
  id: 'a', context: 4096, autoload: '', 'onvivace-event': ({ detail }) => void detail.type,
};
export const panel: SvelteHTMLElements['vivace-metrics'] = { for: 'a' };
// @ts-expect-error: none of the values
export const wrongVue: VueChat = { settings: 'some' };
// @ts-expect-error: none of the values
export const wrongSvelte: SvelteHTMLElements['vivace-chat'] = { thinking: 'perhaps' };
`;

/** How projects find modules: as bundlers do, and as Node does. */
const RESOLUTIONS = ['--module ESNext --moduleResolution bundler', '--module nodenext'];

test.each(RESOLUTIONS)('markup and listeners are checked against the types of the package alone: %s', async (found) => {
  const sources = {
    'vanilla.ts': VANILLA,
    'react.tsx': `import 'vivace/react';${JSX_CONSUMER}`,
    'preact.tsx': `/** @jsxImportSource preact */\nimport 'vivace/preact';${JSX_CONSUMER}`,
    'templates.ts': TEMPLATES,
  };
  const files = Object.entries(sources).map(([name, text]) => {
    writeFileSync(path.join(folder, 'types', name), text);
    return `types/${name}`;
  });
  const settings = `--ignoreConfig --noEmit --strict --target ES2022 ${found} --jsx react-jsx --types`;
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const said = await promisify(execFile)(
    process.execPath,
    [compiler, ...settings.split(' '), '', ...files, 'examples/react/main.tsx'],
    { cwd: folder },
  ).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout as string,
  );
  expect(said).toBe('');
});
