// A load with keys and values in signed bytes: what it reports, that nothing falls back but the fused step, and chats
// that are set aside and come back.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type LoadedModel, loadModel } from '../../../src/engine/load/load';
import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import type { Session } from '../../../src/engine/worker/request/session';
import { Gpu } from '../../../src/gpu/device';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { ask, numberTokenizer, TINY } from '../doubles/loop_session';

const CONTEXT = 77;
/** Heads of 32 in f16, and in bytes with a scale. */
const [HALVES, BYTES] = [64, 36];

let loaded: LoadedModel;
beforeAll(async () => {
  vi.spyOn(Gpu, 'request').mockResolvedValue(await testGpu(['subgroups'])); // without them kernels compile faster
  const files = droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname);
  files.push(new File([JSON.stringify(byteLevelJson())], 'tokenizer.json'));
  const options = { contextLength: CONTEXT, kvCache: 'q8', attention: 'fused_decode' } as const;
  loaded = await loadModel(files, options, () => {}, new AbortController().signal);
  loaded.session.tokenizer = numberTokenizer();
});
afterAll(() => vi.restoreAllMocks());

test('the load says so, with its bytes and the reason for plain steps, and no warning', () => {
  const { kvCache, gpuBytes, bytesPerToken, attention, step, warnings, model } = loaded.info;
  expect([kvCache, attention.prefill, step.name]).toEqual(['q8', 'fused_decode', 'plain']);
  const rows = 2 * model.nLayers * model.nKvHeads;
  expect(bytesPerToken?.kvPerPosition).toBe(rows * BYTES);
  expect(loaded.session.backend.parking?.bytesPerToken).toBe(rows * BYTES);
  // Buffers of whole words, and of layers 256 bytes apart.
  expect(gpuBytes?.kvCache).toBeLessThan(rows * (BYTES * CONTEXT + 256));
  expect(gpuBytes?.kvCache).toBeLessThan(rows * HALVES * CONTEXT);
  expect(warnings.map(({ code }) => code)).toEqual([]);
});

test('a chat that was set aside goes on as it would have', async () => {
  const session: Session = loaded.session;
  const { parking } = session.backend;
  const numbers = (count: number, by: number) => Array.from({ length: count }, (_, i) => (i * by + 5) % 250).join(' ');
  const prompt = { prompt: numbers(40, 7) };
  const options = { temperature: 0, maxTokens: 6 };
  if (parking) session.branches = new Branches(parking, 100 * parking.bytesPerToken);
  const first = await ask(session, prompt, options);
  const other = await ask(session, { prompt: numbers(50, 11).slice(2) }, options);
  const again = await ask(session, { prompt: `${prompt.prompt}${first.text}` }, options);
  expect(other.done.usage.cachedTokens).toBe(0);
  expect(again.done.usage.cachedTokens).toBe(45); // all but the last of 40 and 6
  const alone = await ask(session, prompt, { ...options, maxTokens: 12, reuseCache: false });
  expect([...first.ids, ...again.ids]).toEqual(alone.ids);
});
