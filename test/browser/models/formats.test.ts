// A model in every format and from every location that `generate --model` takes: each gives the fixture's ids, in one
// browser.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askPage, blankPage } from '../../../tools/lib/browser/blank_page';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { ensureBuilt } from '../../../tools/lib/bundle/dist';
import { ROOT } from '../../../tools/lib/ensure.mjs';
import { PAGE_MOUNTS } from '../../../tools/lib/generate/generate_in_page';
import { locateModel } from '../../../tools/lib/locate_model';
import { type Served, serve } from '../../../tools/lib/serve';
import type { Run } from '../../../tools/page/generate';
import type { PageRequest } from '../../../tools/page/page';
import { type FakeHub, fakeHub, type HubFiles } from '../../storage/fake_hub';
import { splitGguf } from '../../storage/split_file';
import { byteLevelJson } from '../../text/tiny_vocabulary';

const FIXTURES = path.join(ROOT, 'test/fixtures/llama');
const SINGLE = 'f16_group1_hd32_tied';
const SHARDED = 'f16_group3_hd32_bias_sharded';
const STORYTELLER = path.join(ROOT, 'public/models/storyteller/storyteller-q8_0.gguf');
/** One token per byte. The fixtures have 259. */
const TOKENIZER = JSON.stringify(bytesAlone());

function bytesAlone() {
  const json = byteLevelJson();
  const model = json.model as { vocab: Record<string, number> };
  const vocab = Object.fromEntries(Object.entries(model.vocab).filter(([, id]) => id < 256));
  return { ...json, added_tokens: [], model: { ...model, vocab, merges: [] } };
}

let folder: string;
let browser: Browser;
let page: Page;
let server: Served;
let hub: FakeHub;
const mounts: Record<string, string> = {};

/** The files of a fixture with a tokenizer, as in a repository. */
async function repository(fixture: string): Promise<HubFiles> {
  const names = ['config.json', ...(fixture === SHARDED ? SHARDS : ['model.safetensors'])];
  const read = async (name: string) =>
    [name, new Uint8Array(await readFile(path.join(FIXTURES, fixture, name)))] as const;
  return { ...Object.fromEntries(await Promise.all(names.map(read))), 'tokenizer.json': TOKENIZER };
}
const SHARDS = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors', 'model.safetensors.index.json'];

async function write(name: string, files: HubFiles): Promise<string> {
  const at = await mkdtemp(path.join(folder, name));
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(at, file), content);
  return at;
}

beforeAll(async () => {
  await ensureBuilt();
  folder = await mkdtemp(path.join(tmpdir(), 'vivace-formats-'));
  hub = await fakeHub();
  Object.assign(mounts, PAGE_MOUNTS);
  server = await serve({ mounts, handlers: { '/': blankPage('/tools.js') } });
  browser = await launchChromium({ webgpu: false });
  page = await browser.newPage();
  await page.goto(server.url);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  hub?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The ids of four tokens after a prompt, and the warnings. */
async function answer(model: string): Promise<{ ids: readonly number[]; warnings: string[] }> {
  const located = locateModel(model);
  Object.assign(mounts, located.mounts);
  const request: PageRequest = {
    task: 'generate',
    model: located.url,
    prompt: 'the quick brown fox',
    chat: false,
    load: { backend: 'cpu', hubUrl: hub.url },
    options: { maxTokens: 4, temperature: 0 },
  };
  const { runs } = await askPage<{ runs: Run[] }>(page, request);
  const [run] = runs;
  return { ids: run.report.ids, warnings: run.report.warnings.map(({ code }) => code) };
}

test('safetensors, single and sharded: a folder, a hub, a mirror without an API, and any address', async () => {
  for (const fixture of [SINGLE, SHARDED]) {
    const files = await repository(fixture);
    const here = await write(fixture, files);
    const { ids } = await answer(here);
    expect(ids).toHaveLength(4);
    hub.push(`tests/${fixture}`, files);
    hub.faults = {};
    expect((await answer(`tests/${fixture}`)).ids).toEqual(ids);
    hub.faults = { noListing: true };
    expect((await answer(`hf:tests/${fixture}@main`)).ids).toEqual(ids);
    expect((await answer(`${hub.url}/tests/${fixture}/resolve/main`)).ids).toEqual(ids);
  }
});

test('GGUF, single and split: a file, a folder, a hub by quantization or file', async () => {
  const whole = new Uint8Array(await readFile(STORYTELLER));
  const parts = splitGguf(whole, 'storyteller-q8_0', 3);
  const { ids } = await answer(STORYTELLER);
  expect((await answer(await write('split', parts))).ids).toEqual(ids);
  const names = Object.keys(parts);
  expect(names).toHaveLength(3);
  hub.faults = {};
  hub.push('tests/whole', { 'storyteller-q8_0.gguf': whole });
  hub.push('tests/split', parts);
  expect(await answer('tests/whole')).toMatchObject({ ids, warnings: [] });
  expect((await answer('tests/split:Q8_0')).ids).toEqual(ids);
  expect((await answer(`tests/split/${names[2]}`)).ids).toEqual(ids);
});
