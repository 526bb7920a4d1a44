// The examples: each is built in a project that has the packed package, checked against its types, opened, and answers.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumFlags, launchChromium } from '../../../tools/lib/browser/chromium';
import { ensureChromium, ROOT } from '../../../tools/lib/ensure.mjs';
import { type Served, serve } from '../../../tools/lib/serve';
import { createProject, type Project } from '../../package/pack';

let project: Project;
let browser: Browser;
let server: Served;

/** What the examples have installed beside the package. */
const INSTALLED = [
  'vivace-storyteller',
  'react',
  'react-dom',
  'vue',
  'svelte',
  'vite',
  'ai',
  '@ai-sdk/openai-compatible',
  '@ai-sdk/react',
  '@types/react',
  '@types/react-dom',
  '@vitejs/plugin-vue',
  '@sveltejs/vite-plugin-svelte',
];
const STORYTELLER = '/public/models/storyteller/storyteller-q8_0.gguf';

const at = (...parts: string[]) => path.join(project.folder, ...parts);

beforeAll(async () => {
  process.env.NODE_ENV = 'production'; // libraries bring a slower twin for tests
  project = await createProject(INSTALLED);
  cpSync(path.join(ROOT, 'examples'), at('examples'), { recursive: true });
  server = await serve({
    mounts: {
      '/': at('built'),
      '/examples/': at('examples'),
      '/dist/': at('node_modules/vivace/dist'),
      '/public/': path.join(ROOT, 'public'),
    },
  });
  browser = await launchChromium({ webgpu: false }); // the cpu backend loads within a second
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  project?.remove();
});

async function open(address: string): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(server.url + address);
  return { page, errors };
}

/** As the command of the example's README does: Vite looks for a config in the folder of the example. */
async function buildAndOpen(name: string) {
  const root = at('examples', name);
  await build({ root, base: './', logLevel: 'error', build: { outDir: at('built', name) } });
  return open(`${name}/`);
}

/** What the page says of a model that its server does not have. */
async function saidWithoutModel(address: string): Promise<string> {
  const page = await browser.newPage();
  await page.route('**/*.gguf', (route) => route.fulfill({ status: 404 }));
  await page.goto(server.url + address);
  const status = page.locator('[role=status]', { hasText: /\.$/ });
  const said = await status.textContent();
  await page.close();
  return said ?? '';
}

const lettersOf = async (page: Page, selector: string) => (await page.locator(selector).textContent())?.length ?? 0;

test.each(['react', 'vue', 'svelte'])('%s: the element answers, and the page hears its answer', async (name) => {
  const { page, errors } = await buildAndOpen(name);
  await expect.poll(() => page.getByTestId('prompt').getAttribute('placeholder')).toBe('Ask for a story');
  await expect.poll(() => page.getByTestId('system').count()).toBe(0); // `settings` has come through
  await page.getByRole('button', { name: 'A lost key' }).click();
  await expect.poll(async () => Number(await page.locator('output').textContent())).toBeGreaterThan(3);
  expect(errors).toEqual([]);
  await page.close();
});

test('react_ai_sdk: useChat streams an answer, and stops it', async () => {
  const { page, errors } = await buildAndOpen('react_ai_sdk');
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect.poll(() => lettersOf(page, '.assistant')).toBeGreaterThan(10);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('textbox').fill('Another one');
  await expect.poll(() => page.getByRole('button', { name: 'Ask' }).isEnabled()).toBe(true);
  expect(errors).toEqual([]);
  await page.close();
});

test('rag: the texts nearest to a question go to the model', async () => {
  const file = at('examples/rag/main.ts');
  const source = readFileSync(file, 'utf8').replaceAll(/'hf:[^']+'/g, `'${STORYTELLER}'`);
  expect(source.split(STORYTELLER)).toHaveLength(3);
  writeFileSync(file, source);
  const { page, errors } = await buildAndOpen('rag');
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect.poll(() => lettersOf(page, 'output')).toBeGreaterThan(10);
  expect(await page.locator('li').count()).toBe(2);
  expect(errors).toEqual([]);
  await page.close();
  expect(await saidWithoutModel('rag/')).toMatch(/was not found \(404\)/);
});

test('vanilla: without a build, an answer comes and is stopped', async () => {
  const { page, errors } = await open('examples/vanilla/');
  await page.getByRole('button', { name: 'Ask' }).click();
  await expect.poll(() => lettersOf(page, 'output')).toBeGreaterThan(10);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Ask' }).isEnabled()).toBe(true);
  expect(errors).toEqual([]);
  await page.close();
  expect(await saidWithoutModel('examples/vanilla/')).toMatch(/was not found \(404\)/);
});

test('script_tag: a button of the page opens the chat, which answers', async () => {
  const { page, errors } = await open('examples/script_tag/');
  await page.getByRole('button', { name: 'Hear one' }).click();
  await page.getByRole('button', { name: 'A lost train' }).click();
  await expect.poll(() => lettersOf(page, '[data-role=assistant] .text')).toBeGreaterThan(10);
  expect(errors).toEqual([]);
  await page.close();
});

test('chrome_extension: its panel answers under the policy of extensions', async () => {
  const folder = at('examples/chrome_extension');
  mkdirSync(path.join(folder, 'vivace'));
  for (const file of ['lib', 'vivace_worker.js']) {
    cpSync(at('node_modules/vivace/dist', file), path.join(folder, 'vivace', file), { recursive: true });
  }
  cpSync(path.join(ROOT, 'public/models/storyteller'), path.join(folder, 'storyteller'), { recursive: true });
  const context = await chromium.launchPersistentContext(at('profile'), {
    executablePath: ensureChromium(),
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [...chromiumFlags(process.env, false), `--load-extension=${folder}`],
  });
  const [background = await context.waitForEvent('serviceworker')] = context.serviceWorkers();
  const page = await context.newPage();
  await page.goto(new URL('/panel.html', background.url()).href);
  await page.getByTestId('prompt').fill('Tell me a story');
  await page.getByTestId('send').click();
  await expect.poll(() => lettersOf(page, '[data-role=assistant] .text')).toBeGreaterThan(10);
  await context.close();
});

test('the examples are checked against the types of the package alone', async () => {
  const files = ['react/main.tsx', 'react_ai_sdk/main.tsx', 'rag/main.ts'].map((file) => `examples/${file}`);
  const settings = '--ignoreConfig --noEmit --strict --target ES2022 --module ESNext --moduleResolution bundler';
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const found = await project.node(compiler, ...settings.split(' '), '--jsx', 'react-jsx', '--skipLibCheck', ...files);
  expect(found).toBe('');
});
