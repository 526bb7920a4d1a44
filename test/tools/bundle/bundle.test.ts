// The output of the build: the ESM entries and the script tag, with their worker in parts beside them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { page as pageTexts } from '../../../src/words/en/page';
import { BUDGETS, weigh } from '../../../tools/lib/bundle/build';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { shortened } from '../../../tools/lib/bundle/wgsl_plugin';

const ROOT = path.resolve(import.meta.dirname, '../../..');

let bundle = '';
/** The worker's core of the package. */
let core = '';
let embed = '';
let panel = '';
let elements = '';
let openai = '';
let promptApi = '';
let webllm = '';
let remote = '';

beforeAll(async () => {
  await ensureBuilt();
  const read = (file: string) => readFileSync(path.join(DIST, file), 'utf8');
  [bundle, embed, panel, elements] = [
    read('lib/vivace.js'),
    read('embed.js'),
    read('embed_panel.js'),
    read('lib/elements.js'),
  ];
  core = read(`lib/${readdirSync(path.join(DIST, 'lib')).find((file) => file.startsWith('vivace_worker_core-'))}`);
  [openai, promptApi, webllm] = [read('lib/openai.js'), read('lib/prompt_api.js'), read('lib/webllm.js')];
  remote = read('lib/remote.js');
});

/** Names of the files in dist/ that end so. */
const built = (ending: string) =>
  readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ending));

test('every byte of every script and style sheet is ASCII, so that a page without a charset reads it right', () => {
  const scripts = built('.js');
  expect(scripts).toEqual(expect.arrayContaining(['embed.js', 'embed_panel.js', 'vivace_worker.js', 'lib/vivace.js']));
  for (const file of [...scripts, ...built('.css')]) {
    const bytes = readFileSync(path.join(DIST, file));
    const at = bytes.findIndex((byte) => byte > 0x7e);
    expect(`${file}: ${at < 0 ? 'ASCII' : bytes.subarray(at - 40, at + 8)}`).toBe(`${file}: ASCII`);
  }
});

test('pages name their charset first', () => {
  for (const file of built('.html')) {
    expect(readFileSync(path.join(DIST, file), 'utf8'), file).toMatch(/<head>\s*<meta charset="utf-8" \/>/);
  }
});

const shader = (file: string) => shortened(path.join(ROOT, 'shaders', file));

/** The position of the text, which occurs once. */
function placeOf(text: string): number {
  const place = core.indexOf(text);
  expect(place).toBeGreaterThan(0);
  expect(core.indexOf(text, place + 1)).toBe(-1);
  return place;
}

test('shaders travel once, shortened, side by side', async () => {
  const first = await shader('linear/matvec.wgsl');
  const last = await shader('attention/decode/decode_tiles.wgsl');
  const between = placeOf(last) - placeOf(first);
  expect(between).toBeGreaterThan(0);
  expect(between).toBeLessThan(64_000); // all shaders together, a sixth of the core
});

test('the core has no shader of a part, which holds it', async () => {
  const files = built('.js').filter((file) => file.startsWith('lib/vivace_worker_part_'));
  const parts = files.map((file) => readFileSync(path.join(DIST, file), 'utf8'));
  for (const file of [
    'attention/lanes/lanes.wgsl',
    'linear/epilogues/put_rows_q8.wgsl',
    'linear/weights/q4_placed.wgsl',
    'linear/x/x_staged.wgsl',
    'sampling/logprobs.wgsl',
  ]) {
    const text = await shader(file);
    expect(core, file).not.toContain(text);
    expect(
      parts.filter((part) => part.includes(text)),
      file,
    ).toHaveLength(1);
  }
});

test('hashes of shaders are values: nothing in the bundle makes them', () => {
  const offsetBasis = readFileSync(path.join(ROOT, 'src/tune/profile/shader_hash.ts'), 'utf8').match(
    /0x[0-9a-f]{8}/,
  )?.[0];
  expect(Number(offsetBasis)).toBeGreaterThan(0);
  expect(core).not.toContain(String(Number(offsetBasis)));
  expect(core).not.toContain('shaders/');
});

test('errors keep their names, whatever their classes are called in a bundle', async () => {
  const { VivaceError } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(bundle)}`);
  expect(VivaceError.name).not.toBe('VivaceError');
  expect(new VivaceError('internal', '').name).toBe('VivaceError');
  expect(new VivaceError('model-fetch', '').name).toBe('ModelFetchError');
});

test('what has a budget keeps its ceiling', async () => {
  expect(BUDGETS).toHaveLength(18);
  const weighed = await weigh();
  expect(weighed.map(({ name }) => name)).toEqual(expect.arrayContaining(BUDGETS.map(({ name }) => name)));
  for (const { name, kb, ceilingKb } of weighed) {
    expect(kb, name).toBeGreaterThan(ceilingKb / 4);
    expect(kb, name).toBeLessThanOrEqual(ceilingKb);
  }
});

test('the page paints before its worker and its panel are there, and they are files of their own', async () => {
  const page = readFileSync(path.join(DIST, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/<(?:script|link rel="modulepreload")[^>]* (?:src|href)="\.\/([^"]+)"/g)];
  expect(scripts.length).toBeGreaterThan(0);
  for (const [, file = ''] of scripts) {
    expect(readFileSync(path.join(DIST, file), 'utf8'), file).not.toMatch(/createShaderModule|\.u-axis/);
  }
  const weighed = (await weigh()).filter(({ name }) => name.startsWith('page '));
  expect(weighed.map(({ kb, ceilingKb }) => kb > 20 && kb <= ceilingKb)).toEqual([true, true]);
});

test('bundles for other pages have no text of the page alone, since their files in other languages have none', () => {
  const text = pageTexts.answerForm.help;
  const scripts = built('.js').filter((file) => readFileSync(path.join(DIST, file), 'utf8').includes(text));
  expect(scripts.map((file) => path.dirname(file))).toEqual(['assets']);
});

test('nothing asks for unsafe-eval or wasm-unsafe-eval', () => {
  for (const code of [bundle, core, embed, panel, elements, openai, promptApi, webllm, remote])
    expect(code).not.toMatch(/\beval\(|\bFunction\(|\bWebAssembly\b/);
});

test('nothing of the fault injector is built', () => {
  for (const file of [...built('.js'), ...built('.html')]) {
    expect(readFileSync(path.join(DIST, file), 'utf8'), file).not.toMatch(
      /vivaceFaults|vivacePlan|faults\.js|Injected:/,
    );
  }
});

test('the engine is a file of its own beside the bundles that meet on a page', () => {
  expect(core).toMatch(/createShaderModule/);
  for (const code of [bundle, embed, panel, elements]) expect(code).not.toMatch(/createShaderModule/);
  expect(elements).toMatch(/from *["']\.\/vivace\.js["']/);
});

/** Texts of the interfaces of other engines, which no bundle renames. */
const OF_OPENAI = ['chat.completion', 'model_not_found'];
const OF_WEBLLM = ['tokens/sec'];
const OF_PROMPT_API = ['InvalidStateError', 'quotaoverflow', 'contextoverflow'];

test('the interfaces of other engines and the engine are in bundles of their own', () => {
  const has = (code: string, words: readonly string[]) => words.filter((word) => code.includes(word));
  expect(has(openai, OF_OPENAI)).toEqual(OF_OPENAI);
  expect(has(promptApi, OF_PROMPT_API)).toEqual(OF_PROMPT_API);
  expect(has(webllm, OF_WEBLLM)).toEqual(OF_WEBLLM);
  expect(webllm).toMatch(/^import *{[^}]*} *from *["']\.\/openai\.js["']/);
  const ofInterfaces = [...OF_OPENAI, ...OF_PROMPT_API, ...OF_WEBLLM];
  for (const code of [bundle, embed, panel, elements]) expect(has(code, ofInterfaces)).toEqual([]);
  expect(has(webllm, OF_OPENAI)).toEqual([]);
  for (const code of [openai, promptApi, webllm]) expect(code).not.toMatch(/createShaderModule|navigator\.gpu/);
  expect(promptApi).not.toMatch(/\bimport\b/);
});

test("OpenAI's interface loads what is not a chat when they are asked for", () => {
  const imports = [...openai.matchAll(/\b(?:from *|import\()["'`]([^"'`]+)/g)].map(([all, file]) => [
    all.startsWith('import'),
    file,
  ]);
  expect(imports).toEqual([
    [false, './openai_shared.js'],
    [true, './openai_completions.js'],
    [true, './openai_responses.js'],
    [true, './openai_embeddings.js'],
  ]);
});
