// The output of the build: the ESM entries and the script tag, with the worker inside them, and their types.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { BUDGETS, weigh } from '../../tools/lib/build';
import { DIST, ensureBuilt } from '../../tools/lib/dist';
import { shortened } from '../../tools/lib/wgsl_plugin';

const ROOT = path.resolve(import.meta.dirname, '../..');

let bundle = '';
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
  const place = bundle.indexOf(text);
  expect(place).toBeGreaterThan(0);
  expect(bundle.indexOf(text, place + 1)).toBe(-1);
  return place;
}

test('shaders travel once, shortened, side by side', async () => {
  const first = await shader('attention/flash_prefill.wgsl');
  const last = await shader('linear/matvec.wgsl');
  const between = placeOf(last) - placeOf(first);
  expect(between).toBeGreaterThan(0);
  expect(between).toBeLessThan(64_000); // all shaders together, a fifth of the bundle
});

test('hashes of shaders are values: nothing in the bundle makes them', () => {
  const offsetBasis = readFileSync(path.join(ROOT, 'src/tune/shader_hash.ts'), 'utf8').match(/0x[0-9a-f]{8}/)?.[0];
  expect(Number(offsetBasis)).toBeGreaterThan(0);
  expect(bundle).not.toContain(String(Number(offsetBasis)));
  expect(bundle).not.toContain('shaders/');
});

test('errors keep their names, whatever their classes are called in a bundle', async () => {
  const { VivaceError } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(bundle)}`);
  expect(VivaceError.name).not.toBe('VivaceError');
  expect(new VivaceError('internal', '').name).toBe('VivaceError');
  expect(new VivaceError('model-fetch', '').name).toBe('ModelFetchError');
});

test('every bundle with a budget keeps its ceiling', () => {
  expect(BUDGETS).toHaveLength(13);
  for (const { name, files: names, budgetKb, ceilingKb } of BUDGETS) {
    const sizes = names.map((file) => gzipSync(readFileSync(path.join(DIST, file)), { level: 9 }).length);
    const kb = sizes.reduce((sum, bytes) => sum + bytes / 1000, 0);
    expect(kb, name).toBeGreaterThan(budgetKb / 4);
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

test('nothing asks for unsafe-eval or wasm-unsafe-eval', () => {
  for (const code of [bundle, embed, panel, elements, openai, promptApi, webllm, remote])
    expect(code).not.toMatch(/\beval\(|\bFunction\(|\bWebAssembly\b/);
});

test('nothing of the fault injector is built', () => {
  for (const file of [...built('.js'), ...built('.html')]) {
    expect(readFileSync(path.join(DIST, file), 'utf8'), file).not.toMatch(
      /vivaceFaults|vivacePlan|faults\.js|Injected:/,
    );
  }
});

test('the engine travels in one of the bundles that meet on a page', () => {
  const worker = (code: string) => code.split('createShaderModule').length - 1;
  expect(worker(bundle)).toBeGreaterThan(0);
  expect(worker(embed)).toBe(worker(bundle));
  expect(worker(panel)).toBe(0);
  expect(worker(elements)).toBe(0);
  expect(elements).toMatch(/from *["']\.\/vivace\.js["']/);
});

/** Texts of the interfaces of other engines, which no bundle renames. */
const OF_OPENAI = ['chat.completion', 'text_completion'];
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

test("OpenAI's interface loads its responses when they are asked for", () => {
  const imports = [...openai.matchAll(/\b(?:from *|import\()["'`]([^"'`]+)/g)].map(([all, file]) => [
    all.startsWith('import'),
    file,
  ]);
  expect(imports).toEqual([
    [false, './openai_request.js'],
    [true, './openai_responses.js'],
  ]);
});

const CONSUMER = `
import { Engine, type EngineEvent, VivaceError } from 'vivace';
import type { VivaceChat } from 'vivace/elements';
import type { VivaceHandle } from 'vivace/embed.js';
import { createFetch } from 'vivace/openai';
import { createLanguageModel, type LanguageModelSession } from 'vivace/prompt-api';
import { RemoteEngine, RemoteError } from 'vivace/remote';
import { CreateMLCEngine } from 'vivace/webllm';

export async function tell(chat: VivaceChat): Promise<string> {
  const engine = await Engine.load('m.gguf', { backend: 'cpu', onProgress: ({ loadedBytes }) => loadedBytes.toFixed() });
  let text = '';
  for await (const event of engine.chat([{ role: 'user', content: 'Hi' }])) {
    const heard: EngineEvent = event;
    if (heard.type === 'token') text += heard.text;
  }
  chat.engine = engine;
  window.Vivace?.on('message', ({ role }) => role === 'user');
  const handle: VivaceHandle | undefined = window.Vivace;
  await handle?.load();
  const local: typeof fetch = createFetch(engine, { models: { other: engine } });
  await local('http://vivace/v1/models');
  const session: LanguageModelSession = await createLanguageModel(engine).create({ samplingMode: 'most-predictable' });
  text += await session.prompt('Hi');
  const other = await CreateMLCEngine('m.gguf', { load: Engine.load });
  text += await other.getMessage();
  const far = await RemoteEngine.load('http://localhost:8080', { apiKey: 'key' });
  const there: typeof fetch = createFetch(far);
  for await (const event of far.chat([{ role: 'user', content: 'Hi' }], { maxTokens: 5 })) text += event.type;
  text += far.metrics?.network?.beyondServer?.ttftMs.toFixed() ?? new RemoteError('server-cut', String(there)).status;
  // @ts-expect-error: an option that there is not
  await Engine.load('m.gguf', { nonsense: 1 });
  return text + new VivaceError('internal', text).code;
}
`;

test('a client of the package compiles against its types alone', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vivace-consumer-'));
  const run = async (...args: string[]) =>
    promisify(execFile)(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), ...args], {
      cwd: folder,
    })
      .then(({ stdout }) => stdout)
      .catch(({ stdout }) => stdout as string);
  try {
    const own = path.join(folder, 'node_modules/vivace');
    mkdirSync(own, { recursive: true });
    cpSync(path.join(ROOT, 'package.json'), path.join(own, 'package.json'));
    for (const name of ['comlink', 'lit', 'lit-html', 'lit-element', '@lit']) {
      symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
    }
    writeFileSync(path.join(folder, 'consumer.ts'), CONSUMER);
    await run('-p', path.join(ROOT, 'tsconfig.types.json'), '--outDir', path.join(own, 'dist/lib/types'));
    const settings =
      '--ignoreConfig --noEmit --strict --target ES2022 --module ESNext --moduleResolution bundler --types';
    expect(await run(...settings.split(' '), '', 'consumer.ts')).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
