// The fused step, one dispatch a phase, against the same layers in plain loops (step_oracle.ts): x after every layer.
// Its hand-over between workgroups is the subject of test/engine/loop/fused_loop.test.ts.

import { expect, test } from 'vitest';
import type { CapabilityName } from '../../../src/gpu/limits';
import type { StepAttention, StepLaunch } from '../../../src/kernels/step/step_plan';
import { openModel } from '../../../src/storage/model_file';
import { fixtureFolder } from '../../cpu/fixtures';
import { testGpu, twinOf } from '../../gpu/test_device';
import { droppedFolder } from '../fixtures/files';
import { modelFile, SHAPE, type Variant } from '../fixtures/tiny_gguf';
import { FusedRun, type FusedRunOptions } from './fused_run';
import { EXACT, FUSED, FUSED_LANES, PLAIN, StepOracle } from './step_oracle';

/**
 * Distance of x after a layer from the textbook that rounds as the fused step does. Only the order of sums differs,
 * until it turns a value to the next byte, which moves x by up to FLIPPED. Keys and values keep the difference.
 */
const SAME = 1e-4;
const FLIPPED = 0.06;
/** Positions in a row of which one at least has no turned byte, in some layer. */
const WINDOW = 8;
/**
 * Distance of all x from f32, as a share of that of plain steps, whose blocks are twice as long: 0.8 to 0.97, and up to
 * 1.7 where the weights of a row have a large mean, so that single blocks decide.
 */
const NO_FARTHER = 2;

interface Case extends Omit<FusedRunOptions, 'contextLength'> {
  /** A fixture of this name, or a small file. */
  model: string | { variant: Variant; shape: Partial<typeof SHAPE> };
  launch: StepLaunch;
  positions?: number;
  without?: CapabilityName[];
  bindingLimit?: number;
  /** Layers of each range, if there are several. */
  ranges?: number[];
}

const small = { vocab: 67, layers: 2 };

const SEVEN_LAYERS: Case = {
  model: {
    variant: { format: 'q8' },
    shape: { ...small, hidden: 64, intermediate: 64, layers: 7, heads: 2, kvHeads: 1 },
  },
  launch: { groups: 1, threads: 32 },
  positions: 16,
  bindingLimit: 512 * 64 * 4,
  ranges: [2, 2, 1, 1, 1],
};

const CASES: Record<string, Case> = {
  'a q8 head of 64 a KV head, rows of one block, without immediates': {
    model: 'bf16_group1_hd64_rope_parameters',
    launch: { groups: 2, threads: 32 },
    quantize: 'q8',
    without: ['immediates'],
  },
  'q4, four heads of 128 a KV head, f16 keys, one workgroup': {
    model: 'bf16_group4_hd128_llama3',
    launch: { groups: 1, threads: 128 },
    quantize: 'q4',
    kvType: 'f16',
    lanes: true,
  },
  'Qwen 2: q8, biases of q, k and v, three workgroups': {
    model: 'qwen2',
    launch: { groups: 3, threads: 64 },
    quantize: 'q8',
  },
  'Qwen 3: q4, norms of q and k, five workgroups': {
    model: 'qwen3',
    launch: { groups: 5, threads: 32 },
    quantize: 'q4',
    lanes: true,
  },
  'Granite: q8, heads of 16, a scaled residual addition': {
    model: 'granite',
    launch: { groups: 2, threads: 32 },
    quantize: 'q8',
    kvType: 'f16',
  },
  'q5_1, q4_1 and q8, eight heads a KV head, five tiles of keys in one split': {
    model: {
      variant: { format: 'q5_1', mixed: { attn_output: 'q8', ffn_down: 'q4_1' } },
      shape: { ...small, heads: 8, kvHeads: 1 },
    },
    launch: { groups: 1, threads: 64 },
    positions: 96, // three epochs each: they wrap
    lanes: true, // many tiles of keys in one split
  },
  'q8, three heads of 48 a KV head, sizes that are padded, five workgroups': {
    model: { variant: { format: 'f32' }, shape: { ...small, hidden: 52, intermediate: 90, heads: 6, headDim: 48 } },
    launch: { groups: 5, threads: 64 },
    quantize: 'q8',
    lanes: true,
  },
  'q4, two heads of 80 a KV head, biases, GELU': {
    model: { variant: { format: 'q4', biased: true }, shape: { ...small, heads: 4, headDim: 80 } },
    launch: { groups: 3, threads: 96 },
    config: { activation: 'gelu_tanh' },
  },
  'q4_k with v and down in q6_k in two of three layers': {
    model: {
      variant: {
        format: 'q4_k',
        mixed: { 'blk.0.attn_v': 'q6_k', 'blk.0.ffn_down': 'q6_k', 'blk.2.attn_v': 'q6_k', 'blk.2.ffn_down': 'q6_k' },
      },
      shape: { ...small, hidden: 256, intermediate: 512, layers: 3, heads: 4, headDim: 64 },
    },
    launch: { groups: 3, threads: 64 },
    positions: 24,
  },
  'q5_k, with o and down in q6_k, f16 keys': {
    model: {
      variant: { format: 'q5_k', mixed: { attn_output: 'q6_k', ffn_down: 'q6_k' } },
      shape: { ...small, hidden: 256, intermediate: 256, heads: 4, headDim: 64 },
    },
    launch: { groups: 2, threads: 32 },
    kvType: 'f16',
    positions: 24,
  },
  'q8 keys and values, norms of q and k, five workgroups': {
    model: 'qwen3',
    launch: { groups: 5, threads: 32 },
    quantize: 'q8',
    kvType: 'q8',
    lanes: true,
  },
  'q8 keys and values, three heads of 48 a KV head, by lanes with a cell to spare': {
    model: { variant: { format: 'q4' }, shape: { ...small, heads: 6, headDim: 48 } },
    launch: { groups: 5, threads: 64 },
    kvType: 'q8',
    positions: 16,
    lanes: true,
  },
  'q8, seven layers in five ranges': { ...SEVEN_LAYERS, launch: { groups: 2, threads: 32 } },
};
const POSITIONS = 40;
/** By lanes: what they have in common with tiles was seen. */
const POSITIONS_BY_LANES = 24;
const CONTEXT = 512;
const TIMEOUT_MS = 180_000; // most of it compiling

/** |a - b|^2 / |b|^2. */
function squaredDistance(a: Float32Array, b: Float32Array): number {
  const sum = (x: Float32Array) => x.reduce((total, value) => total + value * value, 0);
  return sum(a.map((value, i) => value - b[i])) / sum(b);
}

async function create({ model, launch, without, bindingLimit, ...options }: Case, apart = true) {
  const gpu = twinOf(await testGpu(without), bindingLimit);
  const dropped =
    typeof model === 'string'
      ? droppedFolder(fixtureFolder(model))
      : modelFile(model.variant, { ...SHAPE, ...model.shape });
  const sizes = { ...options, contextLength: CONTEXT };
  return { gpu, run: await FusedRun.create(gpu, await openModel(dropped), launch, sizes, { apart }) };
}

/** Squared distances of x, by position and layer: of the fused step from its textbook and from f32, of plain from f32. */
async function walk(run: FusedRun, { kvType = 'f32', ranges }: Case, positions: number, attention: StepAttention) {
  const { config, weights } = run;
  const [exact, plain, textbook] = [EXACT, PLAIN, attention === 'lanes' ? FUSED_LANES : FUSED].map(
    (rounding) => new StepOracle(config, weights, CONTEXT, kvType, rounding),
  );
  const errors: Record<'textbook' | 'fused' | 'plain', number[][]> = { textbook: [], fused: [], plain: [] };
  for (let position = 0; position < positions; position++) {
    const id = (position * 29 + 3) % config.vocabSize;
    const after = await run.step(exact.embed(id), position, ranges ?? [config.nLayers], attention);
    const wanted = exact.step(id, position);
    // Each layer of the textbook continues from the x that the GPU had.
    errors.textbook.push(textbook.step(id, position, after).map((x, i) => squaredDistance(after[i], x)));
    errors.fused.push(after.map((x, i) => squaredDistance(x, wanted[i])));
    errors.plain.push(plain.step(id, position).map((x, i) => squaredDistance(x, wanted[i])));
  }
  return errors;
}

const mean = (squares: number[][]) => Math.sqrt(squares.flat().reduce((sum, x) => sum + x) / squares.flat().length);
const least = (squares: number[][]) => Math.sqrt(Math.min(...squares.flat()));

for (const [name, given] of Object.entries(CASES)) {
  test(name, { timeout: TIMEOUT_MS }, async () => {
    const { gpu, run } = await create(given);
    await checkWalk(run, given, given.positions ?? POSITIONS, 'tiles');
    run.forget();
    if (given.lanes) await checkWalk(run, given, POSITIONS_BY_LANES, 'lanes');
    expect(gpu.failure).toBeNull();
  });
}

async function checkWalk(run: FusedRun, given: Case, positions: number, attention: StepAttention): Promise<void> {
  const { textbook, fused, plain } = await walk(run, given, positions, attention);
  for (let first = 0; first < textbook.length; first += WINDOW) {
    const window = textbook.slice(first, first + WINDOW);
    expect(least(window), `${attention}, positions from ${first} on`).toBeLessThan(SAME);
  }
  for (const layer of textbook[0].keys()) {
    expect(least(textbook.map((at) => [at[layer]])), `${attention}, layer ${layer}`).toBeLessThan(SAME);
  }
  expect(Math.sqrt(Math.max(...textbook.flat())), attention).toBeLessThan(FLIPPED);
  expect(mean(fused)).toBeGreaterThan(1e-3); // otherwise nothing was rounded
  expect(mean(fused) / mean(plain), attention).toBeLessThan(NO_FARTHER);
}

// One workgroup waits for no other. It writes 12 epochs a step, which wrap at 256.
test('a dispatch for each range gives the same x as a dispatch for each phase', { timeout: TIMEOUT_MS }, async () => {
  const given = { ...SEVEN_LAYERS, lanes: true };
  const [apart, whole] = [await create(given), await create(given, false)];
  const { config, weights } = whole.run;
  const oracle = new StepOracle(config, weights, CONTEXT, 'f32', EXACT);
  for (const attention of ['tiles', 'lanes'] as const) {
    for (const { run } of [apart, whole]) run.forget();
    for (let position = 0; position < 24; position++) {
      const embedding = oracle.embed((position * 29 + 3) % config.vocabSize);
      const expected = await apart.run.whole(embedding, position, attention);
      const { x, dispatches } = await whole.run.whole(embedding, position, attention);
      expect([expected.dispatches, dispatches]).toEqual([7 * 6 + 5 * 2, 5]);
      expect(x, attention).toEqual(expected.x);
    }
  }
  expect(await whole.run.fused.gaveUp()).toBe(false);
});
