// Attention inside the engine: each sibling, forced, by cache length, after a fallback or tuned, gives the greedy ids
// of transformers for a tiny model (test/fixtures/llama).

import { describe, expect, test } from 'vitest';
import { ATTENTION_NAMES } from '../../../src/attention/attention';
import type { AttentionProfile } from '../../../src/attention/profile';
import { CpuLlama } from '../../../src/cpu/llama';
import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type { TuneResult } from '../../../src/engine/protocol';
import type { Gpu } from '../../../src/gpu/device';
import { readConfig } from '../../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { loadFixture, readFixture } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { GREEDY } from '../../sampling/params';
import { breakSiblings } from '../doubles/broken_gpu';

const NAME = 'f32_group4_hd32_bias_llama3_rope_parameters';
const FOLDER = new URL(`../../fixtures/llama/${NAME}`, import.meta.url).pathname;
/** Few enough keys that a tuner tries no splits: a fourth of the candidates, in half of the time. */
const CONTEXT = 60;
/** Enough for a software GPU, which compiles for seconds while other tests share its cores. */
const TIMEOUT_MS = 200_000;
/**
 * A GPU without subgroups, whose kernels compile in half the time. Which siblings run does not depend on subgroups, and
 * each sibling's own tests have both paths.
 */
const plainGpu = () => testGpu(['subgroups']);
const { promptIds, ids: EXPECTED } = readFixture(NAME).greedy;

async function load(gpu: Gpu, options: Partial<LlamaOptions> = {}) {
  const files = await openModel(droppedFolder(FOLDER));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const given = { contextLength: CONTEXT, kvType: 'f32', attention: 'auto', ...options } as const;
  const llama = await Llama.create(gpu, config, weights, given);
  await read(files);
  llama.start(weights);
  return { gpu, llama, backend: new WebGpuBackend(gpu, llama) };
}

/** Greedy ids after a prompt, and the sibling of each step, with `ahead` steps in flight as in the loop. */
async function run(backend: WebGpuBackend, prompt: readonly number[], count: number) {
  const ahead = Math.min(4, backend.maxRunAhead);
  await backend.begin(GREEDY, true);
  const never = () => false;
  const { token } = await backend.prefill(Uint32Array.from(prompt), 0, () => {}, never);
  const inFlight = [token as Promise<number>];
  const ids: number[] = [];
  const names = new Map<string, number>();
  for (let queued = 1; ids.length < count; ) {
    for (; queued < count && inFlight.length < ahead; queued++) {
      inFlight.push(backend.decode(prompt.length + queued - 1) as Promise<number>);
      const { decode } = backend.attention;
      names.set(decode, (names.get(decode) ?? 0) + 1);
    }
    ids.push(await (inFlight.shift() as Promise<number>));
  }
  return { ids, names: Object.fromEntries(names) };
}

describe('forced by name', { timeout: TIMEOUT_MS }, () => {
  test.each(ATTENTION_NAMES)('%s gives the reference ids, unless it rounds to bytes', async (attention) => {
    const { gpu, llama, backend } = await load(await plainGpu(), { attention });
    const count = attention === 'cpu' ? 12 : EXPECTED.length;
    const { ids } = await run(backend, promptIds, count);
    expect(ids).toHaveLength(count);
    if (attention !== 'flash_prefill_q8') expect(ids).toEqual(EXPECTED.slice(0, count));
    expect(backend.attention).toMatchObject({ prefill: attention, decode: attention });
    expect(backend.attention.reason).toContain('asked for by name');
    expect(gpu.failure).toBeNull();
    const host = attention === 'cpu';
    expect(backend.maxRunAhead).toBe(host ? 1 : 64);
    expect((await backend.stepTimes()) === null).toBe(host);
    const tuning = backend.tune(
      () => {},
      () => false,
    );
    await expect(tuning).rejects.toThrow(`loaded with attention "${attention}"`);
    llama.attention.destroy();
  });
});

describe('broken on this GPU', { timeout: TIMEOUT_MS }, () => {
  test('flash_prefill and fused_decode: the ids stay right', async () => {
    const gpu = breakSiblings(await plainGpu(), { flash_prefill: 'wrong', fused_decode: 'refused' });
    const { llama, backend } = await load(gpu);
    expect((await run(backend, promptIds, EXPECTED.length)).ids).toEqual(EXPECTED);
    expect(backend.attention).toMatchObject({ prefill: 'chunked', decode: 'split_kv_decode' });
    expect(llama.attention.setAside.map(({ name }) => name).sort()).toEqual(['flash_prefill', 'fused_decode']);
    expect(gpu.failure).toBeNull();
  });

  test('every GPU sibling: the cpu sibling gives the same ids, one step at a time', async () => {
    const gpu = breakSiblings(await plainGpu(), {
      eager: 'wrong',
      chunked: 'refused',
      flash_prefill: 'refused',
      fused_decode: 'wrong',
      split_kv_decode: 'refused',
    });
    const { backend } = await load(gpu);
    expect(backend.maxRunAhead).toBe(1);
    expect((await run(backend, promptIds, 8)).ids).toEqual(EXPECTED.slice(0, 8));
    expect(backend.attention).toMatchObject({ prefill: 'cpu', decode: 'cpu' });
  });
});

test('a step past 128 keys changes the sibling and nothing else', { timeout: TIMEOUT_MS }, async () => {
  const gpu = await plainGpu();
  const length = 122;
  const prompt = Array.from({ length }, (_, i) => (i * 37) % 259);
  const { backend } = await load(gpu, { contextLength: 300 });
  const { ids, names } = await run(backend, prompt, 13);
  expect(names).toEqual({ fused_decode: 6, split_kv_decode: 6 });
  const { config, weights } = await loadFixture(NAME);
  const cpu = new CpuLlama(config, weights, 300);
  const best = (logits: Float32Array) => logits.indexOf(Math.max(...logits));
  const expected = [best(cpu.prefill(prompt, 0))];
  for (let position = length; expected.length < ids.length; position++) {
    expected.push(best(cpu.forward(expected.at(-1) as number, position)));
  }
  expect(ids).toEqual(expected);
});

const PROFILE: AttentionProfile = {
  prefill: { name: 'flash_prefill', parameters: { BLOCK_M: 16, BLOCK_N: 16, DV_TILE: 16 }, ms: 1 },
  decode: [{ name: 'split_kv_decode', parameters: { SPLITS: 2 }, ms: 1, kvLen: CONTEXT }],
  tunedAt: '2026-11-21T10:00:00.000Z',
};

describe('a profile', { timeout: TIMEOUT_MS }, () => {
  test('counts from the next answer on, and leaves no memory behind', async () => {
    const { gpu, llama, backend } = await load(await plainGpu());
    await run(backend, promptIds, 4);
    await llama.retune(PROFILE);
    const before = gpu.allocatedBytes;
    await llama.retune(PROFILE);
    expect(gpu.allocatedBytes).toBe(before);
    expect((await run(backend, promptIds, EXPECTED.length)).ids).toEqual(EXPECTED);
    expect(backend.attention).toEqual({
      prefill: 'flash_prefill',
      decode: 'split_kv_decode',
      reason: 'split_kv_decode (2 splits); tuned on this GPU 2026-11-21',
    });
  });

  test('comes out of tuning, which can be canceled before', async () => {
    const { gpu, backend, llama } = await load(await plainGpu());
    const untuned = backend.attention;
    const before = gpu.allocatedBytes;
    const heard: TuneResult[] = [];
    const canceled = backend.tune(
      (result) => heard.push(result),
      () => heard.length > 1,
    );
    await expect(canceled).rejects.toMatchObject({ name: 'AbortError' });
    expect(heard.length).toBeLessThan(4);
    expect(gpu.allocatedBytes).toBe(before);
    expect(backend.attention).toEqual(untuned);
    expect((await run(backend, promptIds, 4)).ids).toEqual(EXPECTED.slice(0, 4));

    const { results, attention, stored } = await backend.tune(
      () => {},
      () => false,
    );
    expect(stored).toBe(false); // there is no storage here
    expect(attention.reason).toMatch(/^([a-z_ ()\d]+; )?tuned on this GPU \d{4}-\d\d-\d\d$/);
    expect(attention).toEqual(backend.attention);
    const fastest = results.filter((result) => result.fastest);
    expect(fastest.find(({ pass }) => pass === 'prefill')?.name).toBe(attention.prefill);
    expect(llama.attention.at(1, CONTEXT).kernel.name).toBe(fastest.findLast(({ pass }) => pass === 'decode')?.name);
    expect((await run(backend, promptIds, EXPECTED.length)).ids).toEqual(EXPECTED);
    expect(gpu.failure).toBeNull();
  });
});
