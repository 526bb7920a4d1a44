// The one case list of all attention siblings: shapes, lengths at tile edges, and contents that break careless
// softmaxes.

import type { AttentionName, AttentionShape } from '../../src/attention/attention';
import type { Pass } from './run';

export interface AttentionCase {
  title: string;
  shape: AttentionShape;
  position: number;
  nTokens: number;
  window?: number | null;
  /** Rows of a head in the caches. Default: those of a layer with this window. */
  room?: number;
  fill?: Fill;
}

/** Value of element d of a row (a query, or a key of the cache); the default is random around 0 with variance 1. */
export interface Fill {
  q?: (d: number) => number;
  k?: (key: number, d: number) => number;
  /** Share of the largest |v| by which an output may differ, where scores are too large for the usual bound. */
  bound?: number;
}

/** Scores as most models have them. */
export function plainScores(headDim: number): Pick<AttentionShape, 'scale' | 'softcap' | 'windowed'> {
  return { scale: headDim ** -0.5, softcap: null, windowed: false };
}

export const SMALL: AttentionShape = {
  nHeads: 4,
  nKvHeads: 2,
  headDim: 32,
  contextLength: 64,
  maxTokens: 32,
  kvType: 'f32',
  ...plainScores(32),
};
/** Whatever needs no shape of its own runs on this one: compiling a kernel takes longer than most passes. */
export const COMMON: AttentionShape = {
  nHeads: 8,
  nKvHeads: 2,
  headDim: 64,
  contextLength: 1100,
  maxTokens: 65,
  kvType: 'f32',
  ...plainScores(64),
};
/** 8192 keys: beyond what any grid covers in one stride. */
const LONG: AttentionShape = {
  nHeads: 2,
  nKvHeads: 1,
  headDim: 32,
  contextLength: 8192,
  maxTokens: 70,
  kvType: 'f16',
  ...plainScores(32),
};

/** Around the tiles of every sibling, one less and one more: 32, 64, 128, 256 keys; in prefill 16, 32, 64 tokens. */
const KV_LENS = [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1100];
const PREFILLS: [position: number, nTokens: number][] = [
  [0, 2],
  [0, 15],
  [0, 16],
  [0, 17],
  [0, 31],
  [0, 32],
  [0, 33],
  [1, 31],
  [5, 3],
  [7, 63],
  [7, 64],
  [7, 65],
  [31, 2],
  [100, 29],
  [127, 16],
  [128, 17],
  [200, 40],
];

export function geometry(headDim: number, nKvHeads: number, group: number, kvType: 'f16' | 'f32'): AttentionCase[] {
  const shape = {
    nHeads: nKvHeads * group,
    nKvHeads,
    headDim,
    contextLength: 150,
    maxTokens: 19,
    kvType,
    ...plainScores(headDim),
  };
  const title = `head_dim=${headDim} group=${group} kv_heads=${nKvHeads} ${kvType}`;
  return [
    { title: `${title} decode`, shape, position: 140, nTokens: 1 },
    { title: `${title} prefill`, shape, position: 30, nTokens: 19 },
  ];
}

const HEAD_DIMS = [32, 64, 80, 96, 128, 256];
const GROUPS = [1, 3, 4, 7, 8];

/** Every head_dim with every group, f16 and f32 in turn. */
const CROSSED = HEAD_DIMS.flatMap((headDim, i) =>
  GROUPS.flatMap((group, j) => geometry(headDim, group < 4 ? 2 : 1, group, (i + j) % 2 ? 'f32' : 'f16')),
);
/** A head_dim that nobody tiles for, a group, and the least head_dim. */
const UNTILED = [geometry(40, 3, 1, 'f16'), geometry(32, 1, 19, 'f16'), geometry(8, 4, 2, 'f32')];

/** A sibling's share of the shapes: those that share their tiles take different halves. */
export type Half = 0 | 1;

/** Query heads that fill one vec4, and two: the loops of every kernel of tiles turn once or twice. */
const NARROW = [1, 3, 4];
const WIDE = [7, 8];
/** 0 and 1 by turns that are not those of narrow and wide. */
const turn = (i: number) => ((i + 1) >> 1) % 2;

/** Every head_dim and every group, narrow and wide by turns; the other half has each head_dim the other way round. */
function halfOf(half: Half, isF16 = (i: number) => turn(i) === half): AttentionCase[][] {
  return HEAD_DIMS.map((headDim, i) => {
    const groups = (i + half) % 2 === 0 ? NARROW : WIDE;
    const group = groups[(i >> 1) % groups.length];
    return geometry(headDim, group < 4 ? 2 : 1, group, isF16(i) ? 'f16' : 'f32');
  });
}

/** Parameters that need more than 16 KiB of workgroup memory, up to 32: they run where the device grants it. */
export const LARGE: Partial<Record<AttentionName, Record<string, number>>> = {
  flash_prefill: { BLOCK_M: 64, BLOCK_N: 64, DV_TILE: 64 },
  fused_decode: { WORKGROUP: 256, HEADS: 8 },
  split_kv_decode: { SPLITS: 2, WORKGROUP: 256, HEADS: 8 },
};
export const LARGE_CASES = geometry(128, 1, 8, 'f16');

const extreme = (title: string, fill: Fill, position = 40, nTokens = 20): AttentionCase[] => [
  { title: `${title}, decode`, shape: COMMON, position: 260, nTokens: 1, fill },
  { title: `${title}, prefill`, shape: COMMON, position, nTokens, fill },
];
/** A row that is x at d = 0, and 0 elsewhere. */
export const first = (x: number) => (d: number) => (d === 0 ? x : 0);

const EXTREMES = [
  extreme('scores of +-1e4 and far apart', { q: first(800), k: (key, d) => (d ? 0 : 100 * Math.sin(key * key)) }),
  extreme('scores of 1e4, close', { q: first(800), k: (key, d) => (d ? 0 : 100 + 0.01 * (key % 7)), bound: 2e-3 }),
  extreme('each key above the one before', { q: first(8), k: (key, d) => (d ? 0 : key / 4) }),
  extreme('each key below the one before', { q: first(8), k: (key, d) => (d ? 0 : -key / 4) }),
  // Each key of a tile is the max of some row, key 255 too: a max that misses a thread overflows.
  extreme('each key 200 above the one before', { q: first(800), k: (key, d) => (d ? 0 : 2 * key) }, 238, 33),
  extreme('all scores equal', { q: () => 1, k: () => 0.5 }),
  extreme('all scores 1e4 and equal', { q: first(800), k: (_, d) => (d ? 0 : 100) }),
  extreme('all scores -0', { q: () => -0 }),
  extreme('all scores -1e20', { q: first(1e10), k: (_, d) => (d ? 0 : -8e10) }),
  extreme('scores from -1e20 to -3e22', { q: first(1e10), k: (key, d) => (d ? 0 : -8e10 * (1 + key)) }),
].flat();

/** Lengths that change from step to step, on a few shapes. */
export const PROGRESS: AttentionCase[] = [
  ...KV_LENS.map((kvLen) => ({ title: `kv_len=${kvLen}`, shape: COMMON, position: kvLen - 1, nTokens: 1 })),
  ...PREFILLS.map(([position, nTokens]) => ({
    title: `position=${position} n_tokens=${nTokens}`,
    shape: COMMON,
    position,
    nTokens,
  })),
];

/**
 * The same for a sibling whose workgroups see one token each. A token's keys are all that it works on, so lengths at the
 * tiles of tokens are the same work again; passes of 2, 3, 16 and 65 tokens share out splits, and reach the most tokens.
 */
export const PROGRESS_BY_TOKEN = PROGRESS.filter(({ nTokens }) => [1, 2, 3, 16, 65].includes(nTokens));

/** Many keys, and a group of 2. */
const FAR: AttentionCase[] = [
  { title: 'position=1000 n_tokens=70 head_dim=32 group=2 f16', shape: LONG, position: 1000, nTokens: 70 },
  { title: 'kv_len=8192 head_dim=32 group=2 f16', shape: LONG, position: 8191, nTokens: 1 },
  { title: 'position=8187 n_tokens=5 head_dim=32 group=2 f16', shape: LONG, position: 8187, nTokens: 5 },
];

export const CASES: AttentionCase[] = [...PROGRESS, ...FAR, ...CROSSED, ...UNTILED.flat(), ...EXTREMES];

/** Cases for a sibling whose source is the same on both paths. */
export function casesOf(half: Half): AttentionCase[] {
  return [...PROGRESS, ...FAR, ...halfOf(half).flat(), ...UNTILED.flat(), ...EXTREMES];
}

/**
 * Cases for one of two siblings that share their tiles and have a source for each path: each of the two has every
 * head_dim, on one of its paths, and each path has every head_dim, in one of the two.
 */
export function tileCasesOf(half: Half): AttentionCase[] {
  const own = halfOf(half, (i) => i % 2 === half).filter((_, i) => turn(i) !== half);
  const far = FAR.filter(({ nTokens }) => nTokens <= 5); // 70 tokens are more than a block, which these do not have
  return [...PROGRESS_BY_TOKEN, ...far, ...own.flat(), ...UNTILED[half], ...EXTREMES];
}

/** The same without subgroups, where scores and reductions alone are made in another way. */
export function plainTileCasesOf(half: Half): AttentionCase[] {
  return [
    ...PROGRESS_BY_TOKEN,
    ...halfOf(1)
      .filter((_, i) => turn(i) === half)
      .flat(),
    ...EXTREMES,
  ];
}

/** Inputs of a case, the same on every run. Cache rows that no token sees hold NaN: no kernel may let them through. */
export function passOf({
  shape,
  position,
  nTokens,
  window = null,
  room,
  fill = {},
}: Omit<AttentionCase, 'title'>): Pass {
  const random = normal(shape.headDim * 7919 + position * 31 + nTokens);
  const { nHeads, nKvHeads, headDim, contextLength } = shape;
  const kvLen = position + nTokens;
  const firstSeen = window === null ? 0 : position + 1 - window;
  const cache = (value: Fill['k']) => {
    const rows = new Float32Array(nKvHeads * contextLength * headDim).fill(Number.NaN);
    for (let head = 0; head < nKvHeads; head++) {
      for (let key = Math.max(0, firstSeen); key < kvLen; key++) {
        const row = (head * contextLength + key) * headDim;
        for (let d = 0; d < headDim; d++) rows[row + d] = value?.(key, d) ?? random();
      }
    }
    return rows;
  };
  return {
    shape,
    position,
    nTokens,
    window,
    room,
    q: Float32Array.from({ length: nTokens * nHeads * headDim }, (_, i) => fill.q?.(i % headDim) ?? random()),
    k: cache(fill.k),
    v: cache(undefined),
  };
}

/** Normally distributed numbers (Box and Muller) from a linear congruential generator. */
function normal(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}
