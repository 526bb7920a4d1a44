// Models with windows over contexts in which their rings begin again: logits against the textbook, which keeps every key,
// at the edges of windows, chunks and rings, after a rewind, and in two chats that take turns. And the bytes.

import { expect, test } from 'vitest';
import { kvRowBytes } from '../../../src/attention/kv_layout';
import { CpuLlama } from '../../../src/cpu/llama';
import { kvBytesOf, kvReadsOf } from '../../../src/model/kv/kv_cache';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { relativeError } from '../../close';
import { fixtureFolder, loadFiles } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { GREEDY } from '../../sampling/params';
import { droppedFolder } from '../fixtures/files';

const CONTEXT = 1300;
/** The window of every fixture. */
const WINDOW = 12;
/** Rows of a layer with that window. */
const ROOM = WINDOW - 1 + 1024;
/**
 * Share of the largest logit: only the order of sums differs. In signed bytes numbers of a window's keys become the next
 * byte, too: that moved logits by 2.2e-3; one key too few moves them by tenths.
 */
const BOUND = { f32: 2e-5, q8: 5e-3 };

async function open(name: string, kvType: 'f32' | 'q8', attention: 'auto' | 'fused_decode') {
  const files = await openModel(droppedFolder(fixtureFolder(name)));
  const { config, weights: cpuWeights } = await loadFiles(files);
  const gpu = await testGpu();
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, { contextLength: CONTEXT, kvType, attention });
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  return { gpu, config, llama, cpu: new CpuLlama(config, cpuWeights, CONTEXT, kvType) };
}

/** Ids that differ from position to position and from chat to chat. */
const idsOf = (chat: number, length: number) =>
  Uint32Array.from({ length }, (_, i) => (7 * i + (i >> 3) + 31 * chat) % 120);

/** Runs ids from `from` to `to` on both sides, and compares the logits after the last. */
async function compare(
  { llama, cpu }: { llama: Llama; cpu: CpuLlama },
  ids: Uint32Array<ArrayBuffer>,
  from: number,
  to: number,
  bound: number,
) {
  llama.writeTokens(ids, 0);
  for (let position = from; position < to; position += llama.passTokens) {
    const nTokens = Math.min(llama.passTokens, to - position);
    await llama.pass(nTokens, 'sample', position).run({ position, nTokens });
    llama.writeTokens(ids, 0); // the sampler has overwritten the next one
  }
  const want = cpu.prefill(ids.subarray(from, to), from);
  expect(relativeError(await llama.readLogits(), want), `positions ${from} to ${to}`).toBeLessThan(bound);
}

/** Ends of passes: window - 1, window, window + 1, 2 window + 3, the ring and one more, steps behind. */
const ENDS = [11, 12, 13, 27, ROOM, ROOM + 1, ROOM + 2, ROOM + WINDOW, 1250];

test.each([
  ['gemma3', 'f32', 'auto'],
  ['mistral_window', 'q8', 'fused_decode'],
] as const)('%s, %s: past the end of its rings, back, and two chats in turns', async (name, kvType, attention) => {
  const model = await open(name, kvType, attention);
  const bound = BOUND[kvType];
  const { llama } = model;
  const a = idsOf(1, CONTEXT);
  const { kvParking: branches } = llama;
  const pieces = await llama.kvPieces();
  let from = 0;
  for (const to of ENDS) {
    await compare(model, a, from, to, bound);
    from = to;
    expect(branches.least).toBe(to > ROOM ? to - 1024 : 0);
  }
  expect(await pieces.read(0, 16)).toBeNull();

  // As far back as it goes, and on in another way.
  const { least } = branches;
  const b = Uint32Array.from([...a.subarray(0, least), ...idsOf(2, CONTEXT - least)]);
  await compare(model, b, least, least + 40, bound);
  await compare(model, b, least + 40, least + 41, bound);

  // Another chat takes the cache, and the first comes back, whole and in part.
  await compare(model, b, least + 41, 1200, bound);
  const { allocatedBytes } = model.gpu;
  const parked = await branches.park(1200);
  expect(model.gpu.allocatedBytes - allocatedBytes).toBe(branches.bytesOf(1200));
  const kept = model.cpu.park(1200);
  const c = idsOf(3, 60 + llama.passTokens);
  await compare(model, c, 0, 60, bound);
  expect(branches.least).toBe(0);
  expect(await pieces.read(0, 16)).not.toBeNull();
  await compare(model, c, 60, 60 + llama.passTokens, bound); // a whole chunk, past the end of a ring
  for (const tokens of [1200, 1100]) {
    parked?.restore(b.slice(0, tokens));
    model.cpu.restore(kept, tokens);
    expect(branches.least).toBe(1250 - 1024);
    await compare(model, b, tokens, tokens + 30, bound);
  }
  parked?.destroy();
});

test('a layer with a window has room for it and 1,023 tokens beside, and the others for the context; so do copies', async () => {
  const { config, llama } = await open('gemma3', 'f32', 'fused_decode');
  const row = 2 * config.nKvHeads * kvRowBytes({ headDim: config.headDim, kvType: 'f32' });
  expect(llama.kvCacheBytes).toBe(row * (3 * ROOM + CONTEXT));
  expect(kvBytesOf(config, 'f32', CONTEXT)).toBe(row * (3 * ROOM + CONTEXT));
  expect(kvBytesOf(config, 'f32', 1000)).toBe(row * 4 * 1000);
  expect(llama.kvParking.bytesOf(1200)).toBe(row * (3 * ROOM + 1200));
  expect(llama.kvParking.bytesOf(1000)).toBe(row * 4 * 1000);
  const kvInWindows = [{ positions: WINDOW - 1, perPosition: 3 * row }];
  expect(kvReadsOf(config, 'f32')).toEqual({ kvPerPosition: row, kvInWindows });
});
