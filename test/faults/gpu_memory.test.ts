// B7, row 15: the n-th buffer that the GPU refuses, for all n of a load and of an embedding: a typed error, nothing
// left behind, and the model loads next and answers right. And what a load does where less is granted.

import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type LoadedModel, loadModel } from '../../src/engine/load/load';
import { allocateModel } from '../../src/engine/load/load_memory';
import { resolveLoad } from '../../src/engine/load/load_options';
import type { EngineEvent, LoadOptions, LoadProgress, Warning } from '../../src/engine/protocol';
import { generate } from '../../src/engine/worker/generate';
import type { GpuMemoryError } from '../../src/errors';
import { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config/read';
import { resolveTensors } from '../../src/model/weights/tensors';
import { openModel } from '../../src/storage/model_file';
import { chainFiles } from '../chain/chain_model';
import { faultyGpu } from './memory_faults';

/** Few kernels, so that they are compiled soon. */
const OPTIONS: LoadOptions = { contextLength: 128, attention: 'fused_decode' };
const TEXT = 'Hello! I am a chain of tokens.';

afterEach(() => vi.restoreAllMocks());

async function load(gpu: Gpu, onProgress: (progress: LoadProgress) => void = () => {}): Promise<LoadedModel> {
  const request = vi.spyOn(Gpu, 'request').mockResolvedValue(gpu);
  try {
    return await loadModel(chainFiles(), OPTIONS, onProgress, new AbortController().signal);
  } finally {
    request.mockRestore();
  }
}

async function answer({ session }: LoadedModel): Promise<string> {
  const events: EngineEvent[] = [];
  await generate(
    session,
    { messages: [{ role: 'user', content: 'hello' }] },
    { temperature: 0 },
    (some) => void events.push(...some),
    () => false,
  );
  return events.map((event) => (event.type === 'token' || event.type === 'done' ? event.text : '')).join('');
}

/** Labels of the buffers of a whole load, in their order. */
let labels: string[] = [];

beforeAll(async () => {
  const { gpu, ...faults } = await faultyGpu();
  await load(gpu);
  labels = faults.labels;
  gpu.destroy();
  await faults.end();
});

test('what is allocated before the weights are read is what a load takes, within 1 %', async () => {
  const { gpu, live, ...faults } = await faultyGpu();
  const sizes = new Map<string, number>();
  let planned = 0;
  const create = gpu.createBuffer.bind(gpu);
  gpu.createBuffer = (label, size, usage) => {
    const buffer = create(label, size, usage);
    sizes.set(label, buffer.size);
    if (label === 'reserve') planned = gpu.allocatedBytes;
    return buffer;
  };
  const { info, session } = await load(gpu);
  const { weights, kvCache, activations } = info.gpuBytes ?? { weights: 0, kvCache: 0, activations: 0 };
  const total = weights + kvCache + activations;
  const staging = (sizes.get('repack.staging') ?? 0) + (sizes.get('repack.chunk') ?? 0);
  expect(total).toBe([...live].reduce((sum, { size }) => sum + size, 0));
  expect(Math.abs(planned - staging - total) / total).toBeLessThan(0.01);
  session.backend.destroy();
  expect([live.size, gpu.allocatedBytes]).toEqual([0, 0]);
  await faults.end();
});

/** One of the ring of readbacks stands for all. */
const isRepeated = (label: string) => /^readback\.(\d|[1-5]\d|6[0-3])$/.test(label);

test('every n-th buffer of a load that is refused is a typed error, and nothing is left', async () => {
  const reserve = labels.indexOf('reserve');
  expect(reserve).toBeGreaterThan(30);
  for (const [n, label] of labels.entries()) {
    if (isRepeated(label)) continue;
    const { gpu, live, ...faults } = await faultyGpu({ refuse: (i) => i === n });
    let loadedBytes = 0;
    const loading = load(gpu, (progress) => {
      loadedBytes = progress.loadedBytes;
    });
    const error = await loading.then(
      () => null,
      (thrown: GpuMemoryError) => thrown,
    );
    const name = `${n}: ${label}`;
    expect(error, name).toMatchObject({ code: 'gpu-memory', name: 'GpuMemoryError', canRetry: true });
    expect(error?.requestedBytes, name).toBeGreaterThan(0);
    expect(error?.message, name).toMatch(
      n <= reserve ? /^This model \(\d+ bytes of weights, / : `The buffer "${label}"`,
    );
    expect(error?.message, name).toMatch(/ needs \d+ bytes.*, or (close|choose) /);
    if (n <= reserve) expect(loadedBytes, name).toBeLessThan(100_000); // of 2 MB: no weights were read
    expect([live.size, gpu.allocatedBytes], name).toEqual([0, 0]);
    await faults.end();
  }
  const { gpu, ...faults } = await faultyGpu();
  const next = await load(gpu);
  expect(await answer(next)).toBe(TEXT);
  next.session.backend.destroy();
  await faults.end();
});

test('a call that throws is the same error', async () => {
  for (const label of ['weights.embedding', 'kv_cache.k.0', 'reserve', 'readback.64']) {
    const { gpu, live, ...faults } = await faultyGpu({ fault: 'thrown', refuse: (_, __, which) => which === label });
    await expect(load(gpu), label).rejects.toMatchObject({ code: 'gpu-memory', canRetry: true });
    expect([live.size, gpu.allocatedBytes]).toEqual([0, 0]);
    await faults.end();
  }
});

test('a readback of vectors that is refused fails the embedding alone', async () => {
  const { gpu, live, ...faults } = await faultyGpu();
  const { session } = await load(gpu);
  const { backend } = session;
  const embed = async () => (await backend.embed(Uint32Array.of(1, 2, 3), () => false)).vector;
  const before = live.size;
  for (const n of [0, 1]) {
    const at = faults.labels.length + n;
    faults.refuse((i) => i === at);
    await expect(embed()).rejects.toThrow(/^The readback of vectors \(refused at "readback\.\d" of 1024 bytes\)/);
    expect([live.size, gpu.failure]).toEqual([before, null]);
  }
  expect((await embed())?.length).toBe(256);
  expect(await answer({ session } as LoadedModel)).toBe(TEXT);
  backend.destroy();
  expect([live.size, gpu.allocatedBytes]).toEqual([0, 0]);
  await faults.end();
});

/** Allocates a chain model made for 8192 tokens, on a GPU that refuses some buffers. */
async function allocate(options: LoadOptions, refuse: (n: number, bytes: number, label: string) => boolean) {
  const { gpu, ...faults } = await faultyGpu({ refuse });
  const files = await openModel(chainFiles());
  const config = { ...readConfig(files), contextLength: 8192 };
  const warnings: Warning[] = [{ code: 'context-shortened', message: 'An earlier one.' }];
  const contextLength = options.contextLength ?? 8192;
  const wanted = {
    tensors: resolveTensors(files, config),
    config,
    contextLength,
    options: resolveLoad(options),
    warnings,
  };
  try {
    const { memory } = await allocateModel(gpu, wanted, undefined);
    return { contextLength: memory.contextLength, warnings, gpu };
  } finally {
    gpu.destroy();
    await faults.end();
  }
}

const KEY_BYTES = 128; // of a token, in f16

test.each([
  ['the model wants', {}, 8192, 3456],
  ['the caller asks for', { contextLength: 6000 }, 6000, 3375],
])(
  'where the context that %s is refused, a shorter one is a warning with its numbers',
  async (_, options, wanted, got) => {
    const most = 4000 * KEY_BYTES;
    const { contextLength, warnings } = await allocate(
      options,
      (_, bytes, label) => label === 'kv_cache.k.0' && bytes > most,
    );
    expect(contextLength).toBe(got);
    expect(warnings).toHaveLength(1);
    expect(warnings[0].code).toBe('context-shortened');
    expect(warnings[0].message).toMatch(
      new RegExp(
        `^The context is ${got} tokens instead of ${wanted}: the GPU refused \\d+ bytes for more beside \\d+ of weights\\.$`,
      ),
    );
  },
);

test('it ends at 2048 tokens, with an error of all that is needed and of what would fit', async () => {
  const refuse = (_: number, __: number, label: string) => label === 'kv_cache.v.0';
  const failed = (options: LoadOptions) => allocate(options, refuse).catch((error: GpuMemoryError) => error.message);
  const keys = 2 * 2048 * KEY_BYTES;
  const text = await failed({});
  expect(text).toMatch(
    new RegExp(`^This model \\(\\d+ bytes of weights, ${keys} of keys and values for 2048 tokens, \\d+ of`),
  );
  const [, need, granted, q4] =
    /needs (\d+) bytes; this GPU grants (\d+)\. Load it with quantize q4, which needs (\d+),/
      .exec(String(text))
      ?.map(Number) ?? [];
  expect(granted).toBeGreaterThan(0);
  expect(granted).toBeLessThan(need);
  expect(q4).toBeGreaterThan(0);
  expect(q4).toBeLessThan(need);
  expect(await failed({ quantize: 'q4' })).toContain('. Choose a smaller model or format, or close other GPU pages.');
  expect(await failed({ contextLength: 512 })).toContain('for 512 tokens');
});
