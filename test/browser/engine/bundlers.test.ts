// The packed package in apps of strangers: built by Vite, webpack, esbuild and Rollup, served by Vite while it is
// written, imported from another origin without a build, and inside a worker. Each app streams the same answer, and
// draws what its chat imports when it needs it.

import { cpSync } from 'node:fs';
import path from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build as esbuild } from 'esbuild';
import type { Browser } from 'playwright-core';
import { rollup } from 'rollup';
import { createServer, build as vite } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import webpack from 'webpack';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { type Served, serve } from '../../../tools/lib/serve';
import { createProject, type Project } from '../../package/pack';
import { installScripted } from '../scripted_engine';
import { lastAnswer, send } from '../site';

const APP = path.join(ROOT, 'test/package/app');
const MODEL = 'storyteller-q8_0.gguf';

let project: Project;
let browser: Browser;
/** The page's origin, and another one with the packages as they are. */
let site: Served;
let packages: Served;
let expected = '';

const at = (...parts: string[]) => path.join(project.folder, ...parts);

beforeAll(async () => {
  process.env.NODE_ENV = 'production';
  project = await createProject();
  cpSync(path.join(ROOT, 'public/models/storyteller'), at('node_modules/vivace-storyteller'), { recursive: true });
  cpSync(APP, project.folder, { recursive: true });
  packages = await serve({ mounts: { '/': at('node_modules') }, crossOrigin: true });
  const imports = {
    vivace: `${packages.url}vivace/dist/lib/vivace.js`,
    'vivace/elements': `${packages.url}vivace/dist/lib/elements.js`,
    'vivace-storyteller': `${packages.url}vivace-storyteller/index.js`,
  };
  const page = (head: string): string =>
    `<!doctype html><link rel="icon" href="data:,">${head}<output></output><script type="module" src="main.js"></script>`;
  const parts = (head: string): string =>
    `<!doctype html><link rel="icon" href="data:,">${head}<vivace-chat lang="de"></vivace-chat><script type="module" src="parts.js"></script>`;
  const answer = (html: string) => (_: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  site = await serve({
    mounts: { '/': at('built'), '/plain/main.js': at('main.js'), '/plain/parts.js': at('parts.js') },
    handlers: {
      '/plain/': answer(page(map)),
      '/plain/parts.html': answer(parts(map)),
      ...Object.fromEntries(
        ['webpack', 'esbuild', 'rollup'].flatMap((name) => [
          [`/${name}/`, answer(page(''))],
          [`/${name}/parts.html`, answer(parts(''))],
        ]),
      ),
    },
  });
  browser = await launchChromium({ webgpu: false });
  expected = await answerOf(`${site.url}plain/`);
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  await packages?.close();
  project?.remove();
});

/** What an app has written when it is done. */
async function answerOf(url: string): Promise<string> {
  const page = await browser.newPage();
  const failure = new Promise<string>((resolve) => {
    page.on('pageerror', ({ message }) => resolve(message));
    page.on('console', (message) => message.type() === 'error' && resolve(message.text()));
  });
  await page.goto(url);
  const done = page.waitForFunction('document.title === "done"', null, { timeout: 120_000 }).then(() => 'done');
  expect(await Promise.race([done, failure])).toBe('done');
  const text = await page.locator('output').textContent();
  await page.close();
  return text ?? '';
}

/** Expects texts in German, colors of code and math in a page with a chat. */
async function drawsParts(url: string): Promise<void> {
  const page = await browser.newPage();
  page.setDefaultTimeout(90_000);
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(url);
  await page.getByRole('button', { name: 'Senden', exact: true }).waitFor();
  await installScripted(page, { answers: [{ text: '$x^2$\n```js\nreturn 1;\n```\n' }] });
  await send(page, 'Go');
  await lastAnswer(page).locator('msup').waitFor();
  await lastAnswer(page).locator('.code-keyword', { hasText: 'return' }).waitFor();
  expect(errors).toEqual([]);
  await page.close();
}

/** esbuild and Rollup leave an address beside the bundle as it is: the file is for the app to copy. */
const copyModel = (folder: string) => cpSync(at('node_modules/vivace-storyteller', MODEL), at('built', folder, MODEL));

test('plain modules from another origin', async () => {
  expect(expected.split(' ').length).toBeGreaterThan(4);
  await drawsParts(`${site.url}plain/parts.html`);
});

test('Vite, in the page and in a worker', async () => {
  const input = { index: at('index.html'), nested: at('nested.html'), parts: at('parts.html') };
  await vite({
    root: project.folder,
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es' },
    base: './',
    build: { outDir: at('built/vite'), rolldownOptions: { input } },
  });
  expect(await answerOf(`${site.url}vite/index.html`)).toBe(expected);
  expect(await answerOf(`${site.url}vite/nested.html`)).toBe(expected);
  await drawsParts(`${site.url}vite/parts.html`);
});

test('the server of Vite', async () => {
  const server = await createServer({
    root: project.folder,
    configFile: false,
    logLevel: 'error',
    server: { port: 0 },
  });
  await server.listen();
  const [url = ''] = server.resolvedUrls?.local ?? [];
  expect(await answerOf(url)).toBe(expected);
  await drawsParts(`${url}parts.html`);
  await server.close();
});

test('webpack', async () => {
  const compiler = webpack({
    mode: 'production',
    context: project.folder,
    entry: { main: './main.js', parts: './parts.js' },
    output: { path: at('built/webpack'), filename: '[name].js' },
    optimization: { minimize: false },
    performance: { hints: false },
  });
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    compiler.run((error, found) => (error ? reject(error) : resolve(found)));
  });
  expect(stats?.toJson({ all: false, errors: true, warnings: true })).toMatchObject({ errors: [], warnings: [] });
  expect(await answerOf(`${site.url}webpack/`)).toBe(expected);
  await drawsParts(`${site.url}webpack/parts.html`);
});

test('esbuild', async () => {
  const { warnings } = await esbuild({
    absWorkingDir: project.folder,
    entryPoints: ['main.js', 'parts.js'],
    outdir: 'built/esbuild',
    bundle: true,
    format: 'esm',
    logLevel: 'silent',
  });
  expect(warnings).toEqual([]);
  copyModel('esbuild');
  expect(await answerOf(`${site.url}esbuild/`)).toBe(expected);
  await drawsParts(`${site.url}esbuild/parts.html`);
});

test('Rollup', async () => {
  const warnings: string[] = [];
  const bundle = await rollup({
    input: [at('main.js'), at('parts.js')],
    plugins: [nodeResolve()],
    onwarn: ({ message }) => void warnings.push(message),
  });
  await bundle.write({ dir: at('built/rollup'), format: 'es' });
  await bundle.close();
  expect(warnings).toEqual([]);
  copyModel('rollup');
  expect(await answerOf(`${site.url}rollup/`)).toBe(expected);
  await drawsParts(`${site.url}rollup/parts.html`);
});
