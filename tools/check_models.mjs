// `node tools/check_models.mjs [--only NAME]`: every model of test/fixtures on the GPU of this machine, in Chromium: 32 greedy ids in f32 must be those of
// transformers, whatever the attention sibling and the type of keys and values. Exit code 1 where one differs or does not load.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DIST, ensureBuilt } from './lib/build.mjs';
import { ROOT } from './lib/ensure.mjs';
import { serve } from './lib/serve.mjs';
import { toolMain } from './lib/tool_main.mjs';

/** @typedef {{ promptIds: number[], ids: number[] }} Greedy */
/** @typedef {{ kvCache: 'f16' | 'f32', attention: 'auto' | 'eager' | 'split_kv_decode' }} Way */

/** @type {Record<string, import('./lib/flags.mjs').Flag>} */
const FLAGS = {
  only: {
    kind: 'texts',
    value: 'NAME',
    help: 'a folder of test/fixtures/llama or test/fixtures/architectures; may be given again (default: all)',
  },
};

/** @type {readonly Way[]} */
const WAYS = [
  { kvCache: 'f32', attention: 'auto' },
  { kvCache: 'f16', attention: 'auto' },
  { kvCache: 'f32', attention: 'split_kv_decode' },
  { kvCache: 'f32', attention: 'eager' },
];
/** What dynamic and longrope scaling were computed for. */
const CONTEXT = 48;
const ROOMS = ['llama', 'architectures'].map((room) => path.join(ROOT, 'test/fixtures', room));
/** Token i is this character: the fixtures have ids and no words. */
const FIRST = 0x4e00;
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Models</title>';

/** @param {readonly number[]} ids */
const spelled = (ids) => String.fromCodePoint(...ids.map((id) => FIRST + id));

/** @param {string} folder @returns {string} tokenizer.json with a character a token */
function tokenizer(folder) {
  const { vocab_size: size } = JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8'));
  const vocab = Object.fromEntries(Array.from({ length: size }, (_, id) => [spelled([id]), id]));
  return JSON.stringify({ model: { type: 'BPE', vocab, merges: [] } });
}

/** Runs in the page. @param {{ model: string, prompt: string, tokens: number, load: Way & { contextLength: number } }} request */
async function answerInPage({ model, prompt, tokens, load }) {
  /** @type {typeof import('../src/engine/engine')} */
  const { Engine } = await import(/** @type {string} */ ('/lib/vivace.js'));
  const engine = await Engine.load(model, { ...load, activations: 'f32', cache: false, backend: 'webgpu' });
  const ids = [];
  for await (const event of engine.complete(prompt, { maxTokens: tokens, temperature: 0 })) {
    if (event.type === 'token') ids.push(event.id);
  }
  const { adapter, warnings } = engine.info;
  await engine.unload();
  return { ids, adapter, warnings: warnings.map(({ message }) => message) };
}

/** @param {readonly number[]} made @param {readonly number[]} wanted */
function compare(made, wanted) {
  const at = wanted.findIndex((id, i) => id !== made[i]);
  return at < 0 ? 'equal' : `differs at token ${at}: ${made[at]} instead of ${wanted[at]}`;
}

/** Every way through one model, a line each; whether all were right. @param {import('playwright-core').Page} page @param {string} folder */
async function check(page, folder) {
  const name = path.basename(folder);
  /** @type {Greedy} */
  const { promptIds, ids } = JSON.parse(readFileSync(path.join(folder, 'greedy.json'), 'utf8'));
  let isRight = true;
  for (const way of WAYS) {
    const request = { model: `/${name}/`, prompt: spelled(promptIds), tokens: ids.length };
    const load = { ...way, contextLength: CONTEXT };
    const said = await page.evaluate(answerInPage, { ...request, load }).then(
      (made) => [compare(made.ids, ids), made.adapter, ...made.warnings],
      (error) => [String(error).split('\n')[0]],
    );
    isRight &&= said[0] === 'equal';
    console.log(`${name}, ${way.kvCache} keys and values, attention ${way.attention}: ${said.join('; ')}`);
  }
  return isRight;
}

/** @param {import('./lib/flags.mjs').Values} flags */
async function main(flags) {
  await ensureBuilt();
  const { launchChromium } = await import('./lib/chromium.mjs');
  const only = /** @type {string[] | undefined} */ (flags.only);
  const folders = ROOMS.flatMap((room) => readdirSync(room).map((name) => path.join(room, name))).filter(
    (folder) => existsSync(path.join(folder, 'greedy.json')) && (only?.includes(path.basename(folder)) ?? true),
  );
  const server = await serve({
    mounts: {
      '/lib/': path.join(DIST, 'lib'),
      ...Object.fromEntries(folders.map((folder) => [`/${path.basename(folder)}/`, folder])),
    },
    handlers: {
      '/': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(HTML),
      ...Object.fromEntries(
        folders.map((folder) => [
          `/${path.basename(folder)}/tokenizer.json`,
          (_, /** @type {import('./lib/serve.mjs').Response} */ response) =>
            response.writeHead(200, { 'content-type': 'application/json' }).end(tokenizer(folder)),
        ]),
      ),
    },
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    let wrong = 0;
    for (const folder of folders) if (!(await check(page, folder))) wrong++;
    console.log(`${folders.length - wrong} of ${folders.length} models are right`);
    process.exitCode = wrong === 0 && folders.length > 0 ? 0 : 1;
  } finally {
    await browser.close();
    await server.close();
  }
}

await toolMain('node tools/check_models.mjs', FLAGS, main);
