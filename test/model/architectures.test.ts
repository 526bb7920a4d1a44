// The forward pass of every architecture on the GPU against the logits and greedy ids of transformers (test/fixtures/architectures).

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WebGpuBackend } from '../../src/engine/webgpu_backend';
import type { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/tensors';
import { allocateWeights } from '../../src/model/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { PATHS, pathName, testGpu } from '../gpu/test_device';
import { droppedFolder } from './files';

const ROOT = new URL('../fixtures/architectures/', import.meta.url).pathname;
const NAMES = readdirSync(ROOT).sort();
const GREEDY = { temperature: 0, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, seed: 0 };
/** What longrope and dynamic scaling depend on: the fixtures were made with it. */
const CONTEXT = 48;
const TIMEOUT_MS = 180_000; // most of it compiling
/** Of the largest logit; only the order of sums differs. */
const BOUND = 2e-5;

/** Kernels have tests of their own on both paths; whole models on the plain one are those that have all of them between them. */
const PLAIN = ['gemma3', 'olmo2', 'smollm3'];

/** Siblings of attention have tests of their own: these two, with caps and windows and without, take those that a user gets. */
const AUTO = ['gemma2', 'llama_yarn'];

async function load(name: string, without: (typeof PATHS)[number]) {
  const gpu = await testGpu(without);
  const files = await openModel(droppedFolder(ROOT + name));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const attention = AUTO.includes(name) ? 'auto' : 'fused_decode';
  const options = { contextLength: CONTEXT, kvType: 'f32', attention } as const;
  const llama = await Llama.create(gpu, config, weights, options);
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
    llama.writeTokens(Uint32Array.from(ids), 0); // the sampler overwrote the next one
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
  backend.begin(GREEDY, true);
  const { token } = await backend.prefill(
    Uint32Array.from(prompt),
    0,
    () => {},
    () => false,
  );
  const ids = [(await token) as number];
  for (let position = prompt.length; ids.length < count; position++) ids.push(await backend.decode(position));
  return ids;
}

/** The largest error of any position, relative to its largest logit. */
const worst = (got: readonly Float32Array[], expected: readonly Float32Array[]) =>
  Math.max(...got.map((logits, i) => relativeError(logits, expected[i])));

test('the models of the plain path are there', () => {
  expect(NAMES).toEqual(expect.arrayContaining(PLAIN));
});

for (const name of NAMES) {
  for (const without of PATHS) {
    if (without.length > 0 && !PLAIN.includes(name)) continue;
    test(`${name}: logits at every position, in chunks, and greedy ids, ${pathName(without)}`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { gpu, llama } = await load(name, without);
      const { ids, logits, promptIds, greedyIds } = readExpected(name);
      expect(worst(await decode(llama, ids), logits)).toBeLessThan(BOUND);
      // Both chunks end inside a tile, and reach further back than any window.
      expect(worst(await prefill(llama, ids, [31, 17]), [logits[30], logits[47]])).toBeLessThan(BOUND);
      expect(await greedy(gpu, llama, promptIds, greedyIds.length)).toEqual(greedyIds);
      expect(gpu.failure).toBeNull();
    });
  }
}
