// The tuner's winners on made-up times: a seed fixes the winner of each pass and shape, and the order of candidates.

import { afterEach, expect, test, vi } from 'vitest';
import type { AttentionShape } from '../../src/attention/attention';
import type { Gpu } from '../../src/gpu/device';
import { gateUpEpilogue } from '../../src/kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_q8';
import { headEpilogue } from '../../src/kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import type { Linear } from '../../src/kernels/linear/linear';
import { quoted } from '../../src/shared/why';
import { type TuneAttentionOptions, tuneAttention } from '../../src/tune/attention/attention';
import { keyOf } from '../../src/tune/attention/attention_candidates';
import type { AttentionTuneBuffers } from '../../src/tune/attention/attention_meter';
import { ProductMeter } from '../../src/tune/products/product_meter';
import { type NamedProduct, tuneProducts } from '../../src/tune/products/products';
import { plainScores } from '../attention/cases';
import { mockMeter } from './mock_meter';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
/** The share of refused candidates, and of noise in a time. */
const REFUSED = 0.1;
const NOISE = 0.03;

afterEach(() => vi.restoreAllMocks());

/** FNV-1a, 32 bits, mixed once more (murmur3's finalizer). */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A number from 0 to 1. */
const random = (...of: (string | number)[]): number => hash(of.join()) / 2 ** 32;

const limits = {
  maxComputeWorkgroupStorageSize: 32768,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxStorageBufferBindingSize: 2 ** 30,
};
const gpu = { limits, can: { timestamps: true, subgroupMinSize: 32 }, isSoftware: false } as unknown as Gpu;

const SHAPES: AttentionShape[] = [
  { nHeads: 32, nKvHeads: 8, headDim: 64, contextLength: 8192, maxTokens: 512, kvType: 'f16', ...plainScores(64) },
  { nHeads: 8, nKvHeads: 2, headDim: 128, contextLength: 1000, maxTokens: 256, kvType: 'f32', ...plainScores(128) },
];

/** A candidate takes a fixed time plus noise that differs from run to run. */
function mockAttention(seed: number) {
  let timed = 0;
  mockMeter((candidate, { pass, kvLen }) => {
    const of = [seed, keyOf(candidate), pass];
    if (random('refused', ...of) < REFUSED) return 'it is wrong';
    const noise = 1 + NOISE * random('noise', seed, timed++);
    return noise * (0.1 + random('ms', ...of, kvLen));
  });
}

const rounded = (ms: number | null) => ms && Number(ms.toPrecision(12));

test('of attention', async () => {
  const lines: string[] = [];
  for (const [i, shape] of SHAPES.entries()) {
    for (const seed of SEEDS) {
      mockAttention(seed);
      const totals: number[] = [];
      const options: TuneAttentionOptions = { onResult: (_, done, total) => totals.push(done, total) };
      const { profile, results } = await tuneAttention(gpu, shape, {} as AttentionTuneBuffers, options);
      vi.restoreAllMocks();
      const all = results.map(({ combination, name, parameters, nTokens, kvLen, ms, fastest }) =>
        JSON.stringify([combination, name, parameters, nTokens, kvLen, rounded(ms), fastest]),
      );
      lines.push(
        `shape ${i}, seed ${seed}: ${results.length} results ${hash(all.join())}, progress ${hash(totals.join())}`,
      );
      for (const tuned of [profile.prefill, ...profile.decode]) {
        lines.push(`  ${tuned.name} ${JSON.stringify(tuned.parameters)} ${rounded(tuned.ms)}`);
      }
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('winners_attention.txt');
});

const QKV = { nHeads: 32, nKvHeads: 8, headDim: 64, contextLength: 512, kvType: 'f16' } as const;

/** The products of two layers and a head. */
function products(): NamedProduct[] {
  const made = (
    name: NamedProduct['name'],
    pass: NamedProduct['pass'],
    epilogue: NamedProduct['epilogue'],
    input: NamedProduct['input'],
    rows: number,
    cols: number,
  ): NamedProduct => ({
    name,
    pass,
    epilogue,
    input,
    shape: { rows, cols, format: 'q4', normEps: null, bias: false },
    matrix: { rows, cols, parts: [] },
    params: {} as GPUBuffer,
    buffers: Array.from({ length: 1 + epilogue.bindings.length }, () => ({}) as GPUBuffer),
  });
  const add = residualEpilogue(1);
  const layer = [
    made('down', 'prefill', add, 'q8', 2048, 8192),
    made('gate_up', 'prefill', gateUpEpilogue('silu'), 'q8', 16384, 2048),
    made('qkv', 'prefill', qkvEpilogue(QKV), 'q8', 3072, 2048),
    made('o', 'prefill', add, 'q8', 2048, 2048),
    made('qkv', 'decode', qkvEpilogue(QKV), 'to_q8', 3072, 2048),
    made('o', 'decode', add, 'to_q8', 2048, 2048),
    made('gate_up', 'decode', gateUpQ8Epilogue('silu'), 'to_q8', 16384, 2048),
    made('down', 'decode', add, 'q8', 2048, 8192),
  ];
  return [made('head', 'decode', headEpilogue(1, null), 'to_q8', 128256, 2048), ...layer, ...layer];
}

/** Times by the index of the shape and of the candidate. */
function mockProducts(seed: number): void {
  const shapes: object[] = [];
  const places = new Map<object, [shape: number, candidate: number]>();
  vi.spyOn(ProductMeter.prototype, 'compile').mockImplementation(async function (this: object) {
    if (!shapes.includes(this)) shapes.push(this);
    const shape = shapes.indexOf(this);
    const kernel = {} as Linear;
    places.set(kernel, [shape, [...places.values()].filter(([of]) => of === shape).length]);
    return kernel;
  });
  const placeOf = (kernel: Linear) => places.get(kernel) as [number, number];
  vi.spyOn(ProductMeter.prototype, 'verify').mockImplementation(async (kernel) =>
    random('refused', seed, ...placeOf(kernel)) < REFUSED ? quoted('it is wrong') : null,
  );
  vi.spyOn(ProductMeter.prototype, 'time').mockImplementation(async (kernels) =>
    kernels.map((kernel) => 0.001 * (1 + 0.2 * random('ms', seed, ...placeOf(kernel)))),
  );
}

test('of products', async () => {
  const lines: string[] = [];
  for (const seed of SEEDS) {
    mockProducts(seed);
    const progress: number[] = [];
    const onResult = (_: unknown, done: number, total: number) => progress.push(done, total);
    const { profile, results } = await tuneProducts(gpu, products(), 256, { onResult });
    vi.restoreAllMocks();
    const all = results.map(({ name, rows, cols, input, nTokens, parameters, isDefault, ms, fastest }) =>
      JSON.stringify([name, rows, cols, input, nTokens, parameters, isDefault, rounded(ms), fastest]),
    );
    lines.push(`seed ${seed}: ${results.length} results ${hash(all.join())}, progress ${hash(progress.join())}`);
    for (const tuned of [profile.matvec, profile.tiles]) {
      for (const [key, parameters] of Object.entries(tuned)) lines.push(`  ${key}: ${JSON.stringify(parameters)}`);
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('winners_products.txt');
});
