// The forward pass of every architecture on the GPU against the logits and greedy ids of transformers
// (test/fixtures/architectures).

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CpuLlama } from '../../src/cpu/llama';
import { loadCpuWeights } from '../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import type { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config/read';
import { Llama, type LlamaOptions } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { PATHS, pathName, testGpu } from '../gpu/test_device';
import { GREEDY } from '../sampling/params';
import { openAsGguf } from './fixtures/architectures_gguf';
import { droppedFolder } from './fixtures/files';

const ROOT = new URL('../fixtures/architectures/', import.meta.url).pathname;
const NAMES = readdirSync(ROOT).sort();
/** The context of the fixtures. longrope and dynamic scaling depend on it. */
const CONTEXT = 48;
/** Largest error of decode on quantized activations. */
const STEPS = 12;
const TIMEOUT_MS = 180_000; // most of it compiling
/** Largest error as a share of the largest logit. Only the order of sums differs. */
const BOUND = 2e-5;

/** Models for the plain path. Together they use all kernels, which also have their own tests on both paths. */
const PLAIN = ['gemma3', 'olmo2', 'smollm3'];

/**
 * Models with the attention that users get, one with caps and windows and one without. Each sibling has its own tests.
 */
const AUTO = ['gemma2', 'llama_yarn'];

async function open(name: string, from: 'folder' | 'gguf' = 'folder') {
  const folder = await openModel(droppedFolder(ROOT + name));
  const files = from === 'gguf' ? await openAsGguf(folder) : folder;
  const config = readConfig(files);
  return { files, config, tensors: resolveTensors(files, config) };
}

type Options = Partial<Pick<LlamaOptions, 'attention' | 'activations'>> & {
  quantize?: QuantizedFormat;
  from?: 'folder' | 'gguf';
};

async function load(name: string, without: (typeof PATHS)[number], { quantize, from, ...options }: Options) {
  const gpu = await testGpu(without);
  const { files, config, tensors } = await open(name, from);
  const { weights, read } = await allocateWeights(gpu, tensors, config, quantize);
  const attention = AUTO.includes(name) ? 'auto' : 'fused_decode';
  const llama = await Llama.create(gpu, config, weights, {
    contextLength: CONTEXT,
    kvType: 'f32',
    attention,
    ...options,
  });
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  return { gpu, llama };
}

interface Expected {
  ids: number[];
  logits: Float32Array[];
  promptIds: number[];
  greedyIds: number[];
}

function readExpected(name: string): Expected {
  const { promptIds, ids: greedyIds } = JSON.parse(readFileSync(`${ROOT}${name}/greedy.json`, 'utf8'));
  const file = new Uint8Array(readFileSync(`${ROOT}${name}/expected.safetensors`));
  const begin = 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, begin)));
  const bytes = (tensor: string) => {
    const [from, to] = header[tensor].data_offsets as [number, number];
    return file.slice(begin + from, begin + to).buffer;
  };
  const ids = [...new Int32Array(bytes('input_ids'))];
  const all = new Float32Array(bytes('logits'));
  const vocabSize = all.length / ids.length;
  const logits = ids.map((_, t) => all.subarray(t * vocabSize, (t + 1) * vocabSize));
  return { ids, logits, promptIds, greedyIds };
}

/** The logits after each id, one token a pass. */
async function decode(llama: Llama, ids: readonly number[]): Promise<Float32Array[]> {
  const logits: Float32Array[] = [];
  for (const position of ids.keys()) {
    llama.writeTokens(Uint32Array.from(ids), 0); // the sampler has overwritten the next one
    llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
    logits.push(await llama.readLogits());
  }
  return logits;
}

/** The logits after the last id of each chunk, a chunk a pass. */
async function prefill(llama: Llama, ids: readonly number[], chunks: readonly number[]): Promise<Float32Array[]> {
  const logits: Float32Array[] = [];
  let position = 0;
  for (const nTokens of chunks) {
    llama.writeTokens(Uint32Array.from(ids), 0);
    llama.pass(nTokens, 'sample', position).run({ position, nTokens });
    logits.push(await llama.readLogits());
    position += nTokens;
  }
  return logits;
}

async function greedy(gpu: Gpu, llama: Llama, prompt: readonly number[], count: number): Promise<number[]> {
  const backend = new WebGpuBackend(gpu, llama);
  await backend.begin(GREEDY, true);
  const { token } = await backend.prefill(
    Uint32Array.from(prompt),
    0,
    () => {},
    () => false,
  );
  const ids = [(await token) as number];
  for (let position = prompt.length; ids.length < count; position++)
    ids.push((await backend.decode(position)) as number);
  return ids;
}

/**
 * Tokens of the passes over the 48 positions: five at once, then the sixth alone; or two passes that end inside a tile.
 */
const CHUNKS = [Array(8).fill([5, 1]).flat() as number[], [31, 17]];

/** The largest error of any position, relative to its largest logit. */
const worst = (got: readonly Float32Array[], expected: readonly Float32Array[]) =>
  Math.max(...got.map((logits, i) => relativeError(logits, expected[i])));

test('the models of the plain path are there', () => {
  expect(NAMES).toEqual(expect.arrayContaining(PLAIN));
});

for (const name of NAMES) {
  for (const without of PATHS) {
    if (without.length > 0 && !PLAIN.includes(name)) continue;
    test(`${name}: logits of tokens alone and in chunks, and greedy ids, ${pathName(without)}`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { gpu, llama } = await load(name, without, {});
      const { ids, logits, promptIds, greedyIds } = readExpected(name);
      for (const chunks of CHUNKS) {
        const at = chunks.map((_, i) => chunks.slice(0, i + 1).reduce((sum, n) => sum + n) - 1);
        const got = await prefill(llama, ids, chunks);
        expect(
          worst(
            got,
            at.map((position) => logits[position]),
          ),
        ).toBeLessThan(BOUND);
      }
      expect(await greedy(gpu, llama, promptIds, greedyIds.length)).toEqual(greedyIds);
      expect(gpu.failure).toBeNull();
    });
  }
}

// Factors as tensors, fused matrices, pairs that are neighbors in the file, and norms that include their offset.
for (const name of ['phi3_longrope_long', 'granite', 'gemma2']) {
  test(`${name} of a GGUF gives the same logits`, { timeout: TIMEOUT_MS }, async () => {
    const { gpu, llama } = await load(name, [], { from: 'gguf' });
    const { ids, logits } = readExpected(name);
    expect(worst(await prefill(llama, ids, [31, 17]), [logits[30], logits[47]])).toBeLessThan(BOUND);
    expect(gpu.failure).toBeNull();
  });
}

// Norms of q and k, post-norms and GELU around linears in integers, one of which merges the splits of attention. Qwen 3
// is in padding.test.ts.
test('gemma3 on quantized activations is close to the same weights on exact ones', {
  timeout: TIMEOUT_MS,
}, async () => {
  const name = 'gemma3';
  const options = { quantize: 'q8', activations: 'q8', attention: 'split_kv_decode' } as const;
  const { gpu, llama } = await load(name, [], options);
  expect(llama.activations).toBe('q8');
  const ids = readExpected(name).ids.slice(0, STEPS);
  const { config, tensors } = await open(name);
  const cpu = new CpuLlama(config, await loadCpuWeights(tensors, undefined, 'q8'), CONTEXT);
  const exact = ids.map((id, position) => Float32Array.from(cpu.forward(id, position)));
  const quantized = await decode(llama, ids);
  const far = worst(quantized, exact);
  expect(far).toBeGreaterThan(1e-3); // otherwise nothing was quantized
  expect(far).toBeLessThan(0.06);
  expect(worst(await prefill(llama, ids, [STEPS]), [quantized[STEPS - 1]])).toBeLessThan(0.03);
  expect(gpu.failure).toBeNull();
});
