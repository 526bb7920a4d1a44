// The tuner's winners on made-up times: a fixed seed gives a fixed winner of each pass and shape, candidate by candidate.

import { afterEach, expect, test, vi } from 'vitest';
import type { AttentionShape } from '../../src/attention/attention';
import type { Gpu } from '../../src/gpu/device';
import { gateUpEpilogue } from '../../src/kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_q8';
import { headEpilogue } from '../../src/kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import { type TuneOptions, tuneAttention } from '../../src/tune/attention';
import { type Candidate, keyOf, type TunedPass } from '../../src/tune/attention_candidates';
import { CandidateMeter, type Measurement, type TuneBuffers } from '../../src/tune/attention_meter';
import { ProductMeter } from '../../src/tune/product_meter';
import { type TunableProduct, tuneProducts } from '../../src/tune/products';
import { plainScores } from '../attention/cases';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
/** Shares of candidates that are refused, and of times that are noise. */
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

/** From 0 to 1. */
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

/** The same candidate takes the same time but for noise, which is another each time. */
function mockAttention(seed: number) {
  let timed = 0;
  vi.spyOn(CandidateMeter.prototype, 'compileAhead').mockResolvedValue();
  vi.spyOn(CandidateMeter.prototype, 'measure').mockImplementation(
    async (candidate: Candidate, pass: TunedPass): Promise<Measurement> => {
      const of = [seed, keyOf(candidate), pass.pass];
      if (random('refused', ...of) < REFUSED) return { ms: null, refused: 'it is wrong' };
      const noise = 1 + NOISE * random('noise', seed, timed++);
      return { ms: noise * (0.1 + random('ms', ...of, pass.kvLen)), refused: null };
    },
  );
}

const rounded = (ms: number | null) => ms && Number(ms.toPrecision(12));

test('of attention', async () => {
  const lines: string[] = [];
  for (const [i, shape] of SHAPES.entries()) {
    for (const seed of SEEDS) {
      mockAttention(seed);
      const totals: number[] = [];
      const options: TuneOptions = { onResult: (_, done, total) => totals.push(done, total) };
      const { profile, results } = await tuneAttention(gpu, shape, {} as TuneBuffers, options);
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

/** The products of a model's layers, as the model binds them. */
function products(): TunableProduct[] {
  const made = (
    name: TunableProduct['name'],
    pass: TunableProduct['pass'],
    epilogue: TunableProduct['epilogue'],
    input: TunableProduct['input'],
    rows: number,
    cols: number,
  ): TunableProduct => ({
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

test('of products', async () => {
  const lines: string[] = [];
  for (const seed of SEEDS) {
    let measured = 0;
    vi.spyOn(ProductMeter.prototype, 'measure').mockImplementation(async ({ candidates }) => {
      const batch = measured++;
      return candidates.map((_, i) => {
        if (random('refused', seed, batch, i) < REFUSED) return { ms: null, refused: 'it is wrong' };
        return { ms: 0.001 * (1 + 0.2 * random('ms', seed, batch, i)), refused: null };
      });
    });
    const progress: number[] = [];
    const onResult = (_: unknown, done: number, total: number) => progress.push(done, total);
    const { profile, results } = await tuneProducts(gpu, QKV, products(), 256, { onResult });
    vi.restoreAllMocks();
    const all = results.map(({ name, rows, cols, input, nTokens, parameters, isDefault, ms, fastest }) =>
      JSON.stringify([name, rows, cols, input, nTokens, parameters, isDefault, rounded(ms), fastest]),
    );
    lines.push(`seed ${seed}: ${results.length} results ${hash(all.join())}, progress ${hash(progress.join())}`);
    for (const tuned of [profile.products, profile.tiles]) {
      for (const [key, parameters] of Object.entries(tuned)) lines.push(`  ${key}: ${JSON.stringify(parameters)}`);
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('winners_products.txt');
});
