// The plan of a fused step: every row and block has one owner, regions of words lie apart, registers and workgroup
// memory stay within their bounds, and what does not fit is refused with its numbers.

import { describe, expect, test } from 'vitest';
import { Step } from '../../../src/kernels/step/step';
import {
  type FormatRows,
  HEADER_WORDS,
  layerParams,
  loadsOf,
  planStep,
  qkvRows,
  type RunPlan,
  refusal,
  type StepFormats,
  type StepLaunch,
  type StepPlan,
  type StepShape,
  X_BLOCK,
  xStride,
} from '../../../src/kernels/step/step_plan';
import { recordingGpu } from '../../../tools/wgsl/recording_gpu';

const LIMITS = { maxComputeWorkgroupStorageSize: 49152, maxComputeInvocationsPerWorkgroup: 1024 };
/** Registers that a thread may hold while it waits, of 255: words of weights, and beside them scales. */
const MOST_REGISTERS = 64;
const MOST_SCALES = 16;
const WORDS_A_BLOCK = 8;

type Format = FormatRows['format'];
type Sizes = Pick<StepShape, 'hiddenSize' | 'intermediateSize' | 'nHeads' | 'nKvHeads' | 'headDim'>;
const sizes = (
  hiddenSize: number,
  intermediateSize: number,
  nHeads: number,
  nKvHeads: number,
  headDim: number,
): Sizes => ({ hiddenSize, intermediateSize, nHeads, nKvHeads, headDim });

/** One format everywhere, or v and down in another. */
function shapeOf(of: Sizes, format: Format = 'q4', other: Format = format, more: Partial<StepShape> = {}): StepShape {
  const { hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = of;
  const kvRows = nKvHeads * headDim;
  const qkv = { format, rows: (nHeads + 2 * nKvHeads) * headDim };
  const mixed = [
    { format, rows: nHeads * headDim + kvRows },
    { format: other, rows: kvRows },
  ];
  const formats: StepFormats = {
    qkv: other === format ? [[qkv]] : [[qkv], mixed],
    o: [[{ format, rows: hiddenSize }]],
    gateUp: [[{ format, rows: 2 * intermediateSize }]],
    down: [...new Set([format, other])].map((each) => [{ format: each, rows: hiddenSize }]),
  };
  return {
    ...of,
    rows: 1,
    nLayers: 16,
    contextLength: 1024,
    kvType: 'f16',
    kvLayerBytes: 2 * kvRows * 1024,
    attentionScale: headDim ** -0.5,
    normEps: 1e-5,
    qkNormEps: null,
    qkvBias: false,
    activation: 'silu',
    residualScale: 1,
    formats,
    ...more,
  };
}

const LLAMA_1B = sizes(2048, 8192, 32, 8, 64);
const MODELS: Record<string, StepShape> = {
  'Llama 3.2 1B, q4': shapeOf(LLAMA_1B),
  'Llama 3.2 1B, q8': shapeOf(LLAMA_1B, 'q8'),
  'Llama 3.2 1B, Q4_K_M': shapeOf(LLAMA_1B, 'q4_k', 'q6_k'),
  'Llama 3.1 8B, q4': shapeOf(sizes(4096, 14336, 32, 8, 128)),
  'Llama 3.1 8B, Q5_K_M': shapeOf(sizes(4096, 14336, 32, 8, 128), 'q5_k', 'q6_k'),
  'Qwen2.5 0.5B, q8': shapeOf(sizes(896, 4864, 14, 2, 64), 'q8', 'q8', { qkvBias: true }),
  'Qwen3 0.6B, q8': shapeOf(sizes(1024, 3072, 16, 8, 128), 'q8', 'q8', { qkNormEps: 1e-6 }),
  'the storyteller, q8': shapeOf(sizes(384, 1024, 6, 2, 64), 'q8'),
  'sizes that nothing divides, q5_1 and q4_1, f32 keys': shapeOf(sizes(352, 992, 12, 4, 80), 'q5_1', 'q4_1', {
    kvType: 'f32',
  }),
  'one block, q4': shapeOf(sizes(32, 32, 2, 1, 16)),
  'eight tokens of Llama 3.2 1B, q4': shapeOf(LLAMA_1B, 'q4', 'q4', { rows: 8 }),
  'eight tokens of Llama 3.2 1B, Q4_K_M': shapeOf(LLAMA_1B, 'q4_k', 'q6_k', { rows: 8 }),
  'eight tokens of Llama 3.1 8B, q4': shapeOf(sizes(4096, 14336, 32, 8, 128), 'q4', 'q4', { rows: 8 }),
  'eight tokens of Qwen2.5 0.5B, q8': shapeOf(sizes(896, 4864, 14, 2, 64), 'q8', 'q8', { rows: 8, qkvBias: true }),
  'eight tokens of one block, q4': shapeOf(sizes(32, 32, 2, 1, 16), 'q4', 'q4', { rows: 8 }),
};

interface Launched {
  launch: StepLaunch;
  subgroup: number;
}
const LAUNCHES: Launched[] = [
  { launch: { groups: 128, threads: 512 }, subgroup: 32 },
  { launch: { groups: 132, threads: 1024 }, subgroup: 32 },
  { launch: { groups: 100, threads: 256 }, subgroup: 4 },
  { launch: { groups: 8, threads: 512 }, subgroup: 8 },
  { launch: { groups: 11, threads: 512 }, subgroup: 64 },
];

/** All models with all launches that they may have. */
const PLANS = Object.entries(MODELS).flatMap(([model, shape]) =>
  LAUNCHES.filter(({ launch, subgroup }) => refusal(shape, launch, subgroup, LIMITS) === null).map(
    ({ launch, subgroup }) => {
      const name = `${model}, ${launch.groups} x ${launch.threads} threads, subgroups of ${subgroup}`;
      return { name, shape, subgroup, plan: planStep(shape, launch, subgroup, LIMITS.maxComputeWorkgroupStorageSize) };
    },
  ),
);

test('most models run with most launches', () => {
  const of = (rows: number) => Object.values(MODELS).filter((shape) => shape.rows === rows).length * LAUNCHES.length;
  const plans = (rows: number) => PLANS.filter(({ shape }) => shape.rows === rows).length;
  expect(plans(1)).toBeGreaterThanOrEqual(0.8 * of(1));
  expect(plans(8)).toBeGreaterThanOrEqual(0.5 * of(8)); // they need as many workgroups as all tokens have KV heads
});

test('several tokens have as many columns in workgroup memory as fit, and those of one are whole', () => {
  const launch = { groups: 128, threads: 512 };
  const columns = (shape: StepShape, bytes: number) => {
    const { products, keyLanes, ownHeads, workgroupBytes } = planStep(shape, launch, 32, bytes);
    expect(workgroupBytes.tiles).toBeLessThanOrEqual(bytes);
    return [products.gateUp[0][0].chunk, products.down[0][0].chunk, keyLanes, ownHeads];
  };
  const eight = MODELS['eight tokens of Llama 3.2 1B, q4'];
  expect(columns(eight, 49152)).toEqual([64, 64, 2, 4]);
  expect(columns(eight, 32768)).toEqual([32, 32, 4, 2]);
  expect(columns({ ...eight, rows: 1 }, 49152)).toEqual([64, 256, 8, 1]);
  expect(columns(MODELS['eight tokens of Qwen2.5 0.5B, q8'], 49152)).toEqual([28, 64, 4, 1]);
});

const runsOf = ({ products }: StepPlan): RunPlan[] => Object.values(products).flat(2);
const launchThreads = ({ launch }: StepPlan) => launch.threads;

/** How often each of `count` rows is owned, where group g owns rows g * own to (g + 1) * own. */
function owners(count: number, own: number, groups: number): Set<number> {
  const times = new Array<number>(count).fill(0);
  for (let i = 0; i < groups * own; i++) if (i < count) times[i]++;
  return new Set(times);
}

describe('every row', () => {
  test.each(PLANS)('is owned once: $name', ({ shape, plan }) => {
    const groups = plan.busyGroups;
    const { hiddenSize, intermediateSize, nHeads, headDim } = shape;
    for (const [count, own] of [
      [hiddenSize, plan.ownHidden],
      [intermediateSize, plan.ownH],
      [nHeads * headDim, plan.ownA],
    ]) {
      expect(own % X_BLOCK).toBe(0);
      expect(owners(count, own, groups)).toEqual(new Set([1]));
    }
    for (const kinds of Object.values(plan.products)) {
      for (const runs of kinds) {
        expect(runs.map(({ row0 }) => row0)).toEqual(
          runs.map((_, i) => runs.slice(0, i).reduce((n, r) => n + r.rows, 0)),
        );
        for (const { rows, own } of runs) expect(owners(rows, own, groups)).toEqual(new Set([1]));
      }
    }
    const total = (runs: readonly RunPlan[]) => runs.reduce((sum, { rows }) => sum + rows, 0);
    for (const runs of plan.products.qkv) expect(total(runs)).toBe(qkvRows(shape));
    // What a workgroup computes is what it publishes: o and down its part of x, gate and up pairs its part of h.
    for (const [run] of [...plan.products.o, ...plan.products.down]) expect(run.own).toBe(plan.ownHidden);
    for (const [run] of plan.products.gateUp) expect(run.own).toBe(2 * plan.ownH);
  });

  test.each(PLANS)('keeps every dispatched workgroup busy: $name', ({ shape, plan }) => {
    const last = plan.busyGroups - 1;
    expect(plan.busyGroups).toBeLessThanOrEqual(plan.launch.groups);
    const { hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = shape;
    const owned = [
      hiddenSize - last * plan.ownHidden,
      intermediateSize - last * plan.ownH,
      nHeads * headDim - last * plan.ownA,
      shape.rows * nKvHeads * plan.splits - last,
      ...plan.products.qkv.flat().map(({ rows, own }) => rows - last * own),
    ];
    expect(Math.max(...owned)).toBeGreaterThan(0);
  });

  test.each(PLANS)('and each of its blocks is loaded by one thread: $name', ({ plan }) => {
    for (const run of runsOf(plan)) {
      const threads = launchThreads(plan);
      const { sets, perLane, trips, turns } = loadsOf(run, threads);
      const { lanes, groupRows, own, blocks, chunk } = run;
      expect(threads % lanes).toBe(0);
      expect(trips).toBe(turns * perLane);
      const times = new Map<number, number>();
      const all = Math.ceil(blocks / chunk) * trips;
      for (let thread = 0; thread < threads; thread++) {
        for (let trip = 0; trip < all; trip++) {
          const within = (thread % lanes) + (trip % perLane) * lanes;
          const block = within < chunk ? Math.floor(trip / trips) * chunk + within : blocks;
          for (let r = 0; r < groupRows; r++) {
            const turn = Math.floor((trip % trips) / perLane);
            const row = Math.floor(thread / lanes) * groupRows + r + turn * sets * groupRows;
            if (row < own && block < blocks)
              times.set(row * blocks + block, (times.get(row * blocks + block) ?? 0) + 1);
          }
        }
      }
      expect(times.size).toBe(own * blocks);
      expect(new Set(times.values())).toEqual(new Set([1]));
    }
  });
});

test.each(PLANS)('regions of words lie apart and behind the header: $name', ({ shape, plan }) => {
  const { rows, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = shape;
  const blocks = (values: number) => rows * (values / X_BLOCK) * WORDS_A_BLOCK;
  const group = nHeads / nKvHeads;
  expect(plan.splits).toBeGreaterThanOrEqual(1);
  expect(plan.splits * rows * nKvHeads).toBeLessThanOrEqual(plan.launch.groups);
  const { x, qkv, parts, a, x2, h } = plan.words;
  let end = HEADER_WORDS;
  for (const [first, count] of [
    [x, blocks(hiddenSize)],
    [qkv, rows * qkvRows(shape)],
    [parts, rows * nKvHeads * plan.splits * group * (headDim + 2)],
    [a, blocks(nHeads * headDim)],
    [x2, blocks(hiddenSize)],
    [h, blocks(intermediateSize)],
  ].toSorted(([p], [q]) => p - q)) {
    expect(first).toBeGreaterThanOrEqual(end);
    expect(first % 64).toBe(0);
    end = first + count;
  }
  expect(plan.nWords).toBeGreaterThanOrEqual(end);
});

/** Registers of a block of 32: words, and one of scales or, in K-quants, four. */
const REGISTERS: Record<Format, number> = { q4: 5, q8: 9, q4_1: 5, q5_1: 6, q4_k: 8, q5_k: 9, q6_k: 10 };

test.each(PLANS)('registers and lanes are within bounds: $name', ({ shape, plan, subgroup }) => {
  const threads = launchThreads(plan);
  for (const runs of Object.values(plan.products).flat()) {
    const held = runs.reduce((sum, run) => {
      const { trips } = loadsOf(run, threads);
      return sum + REGISTERS[run.format] * run.groupRows * (trips > 1 ? 2 : 1);
    }, 0);
    // A single row cannot be cut further.
    const single = runs.reduce((sum, { format }) => sum + 2 * REGISTERS[format], 0);
    expect(held).toBeLessThanOrEqual(Math.max(MOST_REGISTERS + MOST_SCALES, single));
  }
  for (const { lanes } of runsOf(plan)) {
    expect(Number.isInteger(Math.log2(lanes))).toBe(true);
    expect(lanes).toBeLessThanOrEqual(threads);
  }
  const octs = shape.headDim / 8;
  expect(octs % plan.keyLanes).toBe(0);
  expect(plan.keyLanes).toBeLessThanOrEqual(subgroup);
});

/** Bytes of `var<workgroup>` declarations, each rounded up to 16 as WebGPU counts them. */
function declaredBytes(code: string): number {
  const constants = new Map<string, number>();
  const number = (expression: string): number => {
    const js = expression
      .replace(/\bf32\(([^)]*)\)/g, '($1)')
      .replace(/(\d)u\b/g, '$1')
      .replace(/\bmin\(/g, 'Math.min(')
      .replace(/\bselect\(/g, '((f, t, c) => (c ? t : f))(')
      .replace(/\b[A-Z][A-Z0-9_]*\b/g, (name) => String(constants.get(name)));
    return Math.floor(Number(new Function(`return ${js}`)()));
  };
  for (const [, name, value] of code.matchAll(/^const ([A-Z][A-Z0-9_]*) = ([^;]*);/gm)) {
    if (!value.includes('vec')) constants.set(name, value === 'true' ? 1 : value === 'false' ? 0 : number(value));
  }
  const bytes: Record<string, number> = {
    u32: 4,
    f32: 4,
    'atomic<u32>': 4,
    KvPair: 8, // in f32, which the plan counts for f16, too
    'vec2<u32>': 8,
    'vec2<f32>': 8,
    'vec4<f32>': 16,
    'vec4<u32>': 16,
    Heads: 16,
    SoftmaxHeads: 32,
  };
  const bytesOf = (type: string): number => {
    const array = /^array<(.*), ([^,]*)>$/.exec(type);
    if (array) return bytesOf(array[1]) * number(array[2]);
    expect(bytes).toHaveProperty([type]);
    return bytes[type];
  };
  let total = 0;
  for (const [, type] of code.matchAll(/var<workgroup> \w+: ([^;]*);/g)) {
    total += Math.ceil(bytesOf(type) / 16) * 16;
  }
  return total;
}

test.each(PLANS)('workgroup memory is what the shader declares: $name', async ({ shape, plan, subgroup }) => {
  const { gpu, shaders } = await recordingGpu({ subgroupSize: subgroup, immediates: true, limits: LIMITS });
  for (const attention of ['tiles', 'lanes'] as const) await Step.create(gpu, shape, plan.launch, attention);
  expect(plan.workgroupBytes).toEqual({
    tiles: declaredBytes(shaders[0].code),
    lanes: declaredBytes(shaders[1].code),
  });
});

test('planes of x begin in different banks', () => {
  for (const blocks of [1, 15, 16, 17, 64, 256, 448]) {
    expect(xStride(blocks, 1)).toBeGreaterThanOrEqual(blocks / 2); // pairs of words, of two halves of a block
    expect(xStride(blocks, 1) % 16).toBe(2);
    expect(xStride(blocks, 8)).toBeGreaterThanOrEqual(blocks); // quads of words: 8 neighbors are all banks
    expect(xStride(blocks, 8) % 8).toBe(1);
  }
});

test('parameters of a layer: two norms, norms of q and k, biases', () => {
  const shape = shapeOf(LLAMA_1B);
  expect(layerParams(shape)).toBe(2 * 2048);
  expect(layerParams({ ...shape, qkNormEps: 1e-6 })).toBe(2 * 2048 + 2 * 64);
  expect(layerParams({ ...shape, qkNormEps: 1e-6, qkvBias: true })).toBe(2 * 2048 + 2 * 64 + 48 * 64);
});

describe('refused with its numbers', () => {
  const wide = { groups: 128, threads: 512 };
  test.each<[string, StepShape, StepLaunch, number, Partial<typeof LIMITS>]>([
    ['the adapter has no subgroups', shapeOf(LLAMA_1B), wide, 0, {}],
    ['heads of 72 values are no multiple of 16', shapeOf(sizes(288, 576, 4, 4, 72)), wide, 32, {}],
    ['sizes are no multiples of 32', shapeOf(sizes(48, 64, 2, 1, 16)), wide, 32, {}],
    ['sizes are no multiples of 32', shapeOf(sizes(64, 80, 2, 1, 16)), wide, 32, {}],
    ['7 workgroups are fewer than the 8 KV heads', shapeOf(LLAMA_1B), { groups: 7, threads: 512 }, 32, {}],
    [
      '512 threads exceed the 256 of a workgroup on this GPU',
      shapeOf(LLAMA_1B),
      wide,
      32,
      { maxComputeInvocationsPerWorkgroup: 256 },
    ],
    ['320 threads are no multiple of 256', shapeOf(LLAMA_1B), { groups: 8, threads: 320 }, 32, {}],
    [
      '16 query heads of 128 values share a KV head, more than 256 threads hold',
      shapeOf(sizes(2048, 4096, 16, 1, 128)),
      { groups: 8, threads: 256 },
      32,
      {},
    ],
    [
      '8 workgroups are fewer than the 64 KV heads',
      shapeOf(LLAMA_1B, 'q4', 'q4', { rows: 8 }),
      { groups: 8, threads: 512 },
      32,
      {},
    ],
    [
      '21136 bytes of workgroup memory exceed the 16384 of this GPU',
      shapeOf(LLAMA_1B),
      wide,
      32,
      { maxComputeWorkgroupStorageSize: 16384 },
    ],
  ])('%s', (text, shape, launch, subgroup, limits) => {
    expect(refusal(shape, launch, subgroup, { ...LIMITS, ...limits })).toBe(text);
  });
});
