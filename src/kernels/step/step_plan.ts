// The plan of a fused step: which rows, blocks and words each workgroup has. Pure arithmetic on the shape.

import { laneVectors, planLanes } from '../../shared/lanes';
import { type Reason, why } from '../../shared/why';
import { BLOCK, type IntegerFormat } from '../linear/weight_format';

/** Sizes of a model whose layers are all alike, but for the formats of their weights. */
export interface StepShape {
  /** Tokens of a step, of a conversation each. A step may have fewer. */
  rows: number;
  nLayers: number;
  hiddenSize: number;
  intermediateSize: number;
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  contextLength: number;
  kvType: 'f16' | 'f32' | 'q8';
  /** Bytes from the keys, or values, of a layer to those of the next. */
  kvLayerBytes: number;
  /** Factor of q . k. */
  attentionScale: number;
  normEps: number;
  /** Epsilon of the norms of each head of q and k, or null without them. */
  qkNormEps: number | null;
  /** True where q, k and v have biases. */
  qkvBias: boolean;
  activation: 'silu' | 'gelu_tanh';
  residualScale: number;
  /** The formats of each product that some layer has. */
  formats: StepFormats;
}

/** Rows of one format, as they follow one another in a matrix. */
export interface FormatRows {
  format: IntegerFormat;
  rows: number;
}

/** The distinct sets of runs of each product. `kinds` of a layer index these. */
export interface StepFormats {
  qkv: readonly (readonly FormatRows[])[];
  o: readonly (readonly FormatRows[])[];
  gateUp: readonly (readonly FormatRows[])[];
  down: readonly (readonly FormatRows[])[];
}

export type StepProduct = keyof StepFormats;

/** The launch of a fused step. */
export interface StepLaunch {
  /** Workgroups, all of which must be resident at once. */
  groups: number;
  /** Threads of each. */
  threads: number;
}

/**
 * Attention within the step. `tiles`: all threads score a tile of keys, then add its values, barriers between. `lanes`:
 * each subgroup has keys of its own, which costs more to merge: faster over many keys.
 */
export type StepAttention = 'tiles' | 'lanes';

/** Values of a block of activations. */
export const X_BLOCK = 16;
/** Words of a block of activations: 6 of bytes, the scale, the sum of squares. */
const BLOCK_WORDS = 8;
/** Those that a product without a norm reads: all but the squares. */
const READ_WORDS = 7;
/** Quads of words of a block of 32 columns of one of several tokens (shaders/step/x_blocks.wgsl). */
export const X_QUADS = 3;
/** Words between a block of 16 values to publish and the next one, of several tokens. */
const SPACED_BLOCK = 20;
/** Sums that a thread keeps of several tokens. */
const MOST_SUMS = 32;
/** Octs of a key, and of its value, that a thread has at most where tiles are large. */
const MOST_LANE_OCTS = 4;
/** Query heads of which a thread adds up values at most: more take registers of the scores. */
const MOST_OWN_HEADS = 4;
/** Fewest columns that are in workgroup memory at a time. */
const LEAST_COLUMNS = 256;
/** Words in front of the regions: status, epoch, spins. */
export const HEADER_WORDS = 64;
/** Regions begin at multiples of this, so that none shares a cache line. */
const REGION_STEP = 64;
/** Quads of weights that a thread holds while it waits: half the registers of 512 threads on a multiprocessor. */
const MOST_QUADS = 16;
/** Quads of weights that a thread holds twice, of this trip and the next. */
const MOST_QUADS_TWICE = 8;

/** Quads of weights, and registers of scales, of a block of 32. */
const QUADS: Readonly<Record<IntegerFormat, number>> = {
  q4: 1,
  q8: 2,
  q4_1: 1,
  q5_1: 1.25,
  q4_k: 2,
  q5_k: 2.25,
  q6_k: 2.5,
};

/** The share of each thread in the rows that a workgroup owns of one run. */
export interface RunPlan extends FormatRows {
  /** First row of the matrix. */
  row0: number;
  /** Rows of a workgroup. The last workgroups may have fewer, or none. */
  own: number;
  /** Blocks of a row. */
  blocks: number;
  /** Blocks of a row that are multiplied with x at a time: the last time may have fewer. */
  chunk: number;
  /** Threads that share a row. */
  lanes: number;
  /** Rows that a thread multiplies at once. */
  groupRows: number;
}

export interface StepPlan {
  launch: StepLaunch;
  /**
   * Workgroups that own anything: those that are dispatched. Any other would wait for words, but no step would wait for
   * it: it might begin when the next epoch has.
   */
  busyGroups: number;
  /** Splits of the keys of a KV head. */
  splits: number;
  /** Values of the residual stream, of a and of h that a workgroup owns of each token. */
  ownHidden: number;
  ownA: number;
  ownH: number;
  /** Threads that share a key. */
  keyLanes: number;
  /** Query heads of which a thread has a quad of o. */
  ownHeads: number;
  products: Readonly<Record<StepProduct, readonly (readonly RunPlan[])[]>>;
  /**
   * True where each product issues the loads of the next. With more than one trip a product registers run out, and the
   * step is slower for it.
   */
  early: boolean;
  /** First words of the regions. */
  words: Readonly<Record<'x' | 'qkv' | 'parts' | 'a' | 'x2' | 'h', number>>;
  nWords: number;
  workgroupBytes: Readonly<Record<StepAttention, number>>;
}

/**
 * Entries from one plane of x in workgroup memory to the next, for rows of `blocks` blocks of 32: pairs of words of one
 * token, quads of several. Neighboring planes begin in different banks.
 */
export function xStride(blocks: number, tokens: number): number {
  return tokens === 1 ? Math.ceil(blocks / 16) * 16 + 2 : Math.ceil(blocks / 8) * 8 + 1;
}

/** The squares of the blocks of x: the pair of words of the first token's, and the pairs from one token to the next. */
export function squaresOf(blocks: number, tokens: number): { first: number; step: number } {
  const stride = xStride(blocks, tokens);
  return tokens === 1
    ? { first: READ_WORDS * stride, step: 0 }
    : { first: 2 * X_QUADS * tokens * stride, step: blocks };
}

/** Pairs of words that `blocks` blocks of 32 of each token take in workgroup memory. */
function xPairs(blocks: number, tokens: number, normed: boolean): number {
  const { first, step } = squaresOf(blocks, tokens);
  return first + (normed ? (tokens === 1 ? xStride(blocks, tokens) : tokens * step) : 0);
}

/** f32 values beside the matrices of a layer: norm weights, and biases of q, k and v. */
export function layerParams(shape: StepShape): number {
  const { hiddenSize, headDim, qkNormEps, qkvBias } = shape;
  return 2 * hiddenSize + (qkNormEps === null ? 0 : 2 * headDim) + (qkvBias ? qkvRows(shape) : 0);
}

export function qkvRows({ nHeads, nKvHeads, headDim }: StepShape): number {
  return (nHeads + 2 * nKvHeads) * headDim;
}

const perGroup = (count: number, groups: number) => Math.ceil(count / groups);

/**
 * Shares the work out. x of one token is in workgroup memory as a whole, that of several as far as it fits.
 * @param subgroup lanes of the smallest subgroup
 * @param mostBytes of workgroup memory
 */
export function planStep(shape: StepShape, launch: StepLaunch, subgroup: number, mostBytes: number): StepPlan {
  const { rows, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = shape;
  const most = Math.max(hiddenSize, intermediateSize, nHeads * headDim);
  const octs = headDim / 8;
  const lanes = powerIn(octs, subgroup);
  if (rows === 1) return planSizes(shape, launch, subgroup, { columns: most, keyLanes: lanes, ownHeads: 1 });
  for (let columns = 2 ** Math.ceil(Math.log2(most)); ; columns /= 2) {
    // Few splits are many keys each: in large tiles, of values that a thread reads for several heads, if they fit.
    for (let keyLanes = powerIn(octs, Math.max(1, octs / MOST_LANE_OCTS)); keyLanes <= lanes; keyLanes *= 2) {
      for (let ownHeads = powerIn(nHeads / nKvHeads, MOST_OWN_HEADS); ownHeads >= 1; ownHeads /= 2) {
        const plan = planSizes(shape, launch, subgroup, { columns, keyLanes, ownHeads });
        const isLast = columns <= LEAST_COLUMNS && keyLanes === lanes && ownHeads === 1;
        if (plan.workgroupBytes.tiles <= mostBytes || isLast) return plan;
      }
    }
  }
}

/** Columns of x that are in workgroup memory at a time, and the shares of threads in attention. */
type StepSizes = { columns: number } & Pick<StepPlan, 'keyLanes' | 'ownHeads'>;

function planSizes(
  shape: StepShape,
  launch: StepLaunch,
  subgroup: number,
  { columns, keyLanes, ownHeads }: StepSizes,
): StepPlan {
  const { rows: tokens, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = shape;
  const { groups, threads } = launch;
  const ownHidden = X_BLOCK * perGroup(hiddenSize / X_BLOCK, groups);
  const ownH = X_BLOCK * perGroup(intermediateSize / X_BLOCK, groups);
  const ownA = X_BLOCK * perGroup((nHeads * headDim) / X_BLOCK, groups);
  const splits = Math.floor(groups / (tokens * nKvHeads));
  const plan = (runs: readonly FormatRows[], cols: number, own: (rows: number) => number) => {
    let row0 = 0;
    return runs.map((run): RunPlan => {
      const blocks = cols / BLOCK;
      const rows = { ...run, row0, own: own(run.rows), blocks, chunk: Math.min(blocks, columns / BLOCK) };
      row0 += run.rows;
      return { ...rows, ...shareRows(rows, threads, runs.length, tokens) };
    });
  };
  const each = (formats: StepFormats[StepProduct], cols: number, own: (rows: number) => number) =>
    formats.map((runs) => plan(runs, cols, own));
  const { formats } = shape;
  const products = {
    qkv: each(formats.qkv, hiddenSize, (rows) => perGroup(rows, groups)),
    o: each(formats.o, nHeads * headDim, () => ownHidden),
    gateUp: each(formats.gateUp, hiddenSize, () => 2 * ownH),
    down: each(formats.down, intermediateSize, () => ownHidden),
  };
  const partWords = (nHeads / nKvHeads) * (headDim + 2);
  let nWords = HEADER_WORDS;
  const region = (words: number) => {
    const first = nWords;
    nWords += Math.ceil(words / REGION_STEP) * REGION_STEP;
    return first;
  };
  const bytes = (values: number) => tokens * (values / X_BLOCK) * BLOCK_WORDS;
  const words = {
    x: region(bytes(hiddenSize)),
    qkv: region(tokens * qkvRows(shape)),
    parts: region(tokens * nKvHeads * splits * partWords),
    a: region(bytes(nHeads * headDim)),
    x2: region(bytes(hiddenSize)),
    h: region(bytes(intermediateSize)),
  };
  const early =
    tokens === 1 && Object.values(products).every((kinds) => kinds.every((runs) => isOneTrip(runs, threads)));
  const owners = [
    tokens * nKvHeads * splits,
    hiddenSize / ownHidden,
    intermediateSize / ownH,
    (nHeads * headDim) / ownA,
    ...products.qkv.flatMap((runs) => runs.map(({ rows, own }) => rows / own)),
  ];
  const busyGroups = Math.ceil(Math.max(...owners));
  const planned = {
    busyGroups,
    early,
    launch,
    splits,
    ownHidden,
    ownA,
    ownH,
    keyLanes,
    ownHeads,
    products,
    words,
    nWords,
  };
  const memory = (attention: StepAttention) => workgroupBytes(shape, planned, subgroup, attention);
  return { ...planned, workgroupBytes: { tiles: memory('tiles'), lanes: memory('lanes') } };
}

/** True if all loads of a product fit the registers at once. */
function isOneTrip(runs: readonly RunPlan[], threads: number): boolean {
  return runs.every((run) => loadsOf(run, threads).trips === 1);
}

/** The largest power of two that divides `count`, at most `most`. */
function powerIn(count: number, most: number): number {
  let power = 1;
  while (count % (2 * power) === 0 && 2 * power <= most) power *= 2;
  return power;
}

type Shared = Pick<RunPlan, 'own' | 'chunk' | 'lanes' | 'groupRows'>;

/** Blocks that a thread loads of a run at a time, padding included, and its trips. */
export function loadsOf({ own, chunk, lanes, groupRows }: Shared, threads: number) {
  const sets = threads / lanes;
  const turns = Math.ceil(own / (sets * groupRows));
  const perLane = Math.ceil(chunk / lanes);
  return { sets, turns, perLane, trips: turns * perLane, loads: turns * perLane * groupRows };
}

/** Fewest loads a thread, then fewest trips, then fewest lanes, whose sums are to be added. */
function shareRows(run: FormatRows & Pick<RunPlan, 'own' | 'chunk'>, threads: number, runs: number, tokens: number) {
  const most = Math.min(MOST_QUADS / QUADS[run.format] / runs, Math.max(1, MOST_SUMS / tokens));
  const mostTwice = Math.max(1, MOST_QUADS_TWICE / QUADS[run.format] / runs);
  let best = { lanes: 1, groupRows: 1, loads: Number.POSITIVE_INFINITY, trips: 0 };
  for (let lanes = 1; lanes <= threads; lanes *= 2) {
    for (let groupRows = 1; groupRows <= most; groupRows++) {
      const { loads, trips } = loadsOf({ ...run, lanes, groupRows }, threads);
      if (trips > 1 && groupRows > mostTwice) continue;
      if (loads < best.loads || (loads === best.loads && trips < best.trips)) best = { lanes, groupRows, loads, trips };
    }
  }
  return { lanes: best.lanes, groupRows: best.groupRows };
}

/** Partial sums of a token in a phase, in workgroup memory. */
export function rowParts(runs: readonly RunPlan[], threads: number, subgroup: number): number {
  return runs.reduce((sum, run) => {
    const { sets, turns } = loadsOf(run, threads);
    return sum + sets * turns * run.groupRows * partsOf(run, subgroup);
  }, 0);
}

/** Partial sums of a row: one a subgroup. */
export function partsOf({ lanes }: Pick<RunPlan, 'lanes'>, subgroup: number): number {
  return lanes / Math.min(subgroup, lanes);
}

export function mostRowParts({ products, launch }: Pick<StepPlan, 'products' | 'launch'>, subgroup: number): number {
  return Math.max(
    ...Object.values(products).flatMap((kinds) => kinds.map((runs) => rowParts(runs, launch.threads, subgroup))),
  );
}

/** Words of a block of x that a product waits for. */
export function wordsOf(normed: boolean): number {
  return normed ? BLOCK_WORDS : READ_WORDS;
}

/** Pairs of words in workgroup memory that hold x, or the values of a tile of keys, or o of every thread. */
export function xWords(
  shape: StepShape,
  plan: Pick<StepPlan, 'launch' | 'keyLanes' | 'ownHeads' | 'products'>,
): number {
  const { rows, headDim, kvType } = shape;
  const { launch, keyLanes, ownHeads, products } = plan;
  const { qkv, o, gateUp, down } = products;
  const x = [qkv, o, gateUp, down].map(([[{ chunk }]], i) => xPairs(chunk, rows, i % 2 === 0));
  const values = ((launch.threads / keyLanes) * headDim * (kvType === 'f32' ? 2 : 1)) / 4;
  return Math.max(...x, values, 2 * ownHeads * launch.threads);
}

/** Bytes of what the pieces of shaders/step declare, as WebGPU counts them: each rounded up to 16. */
function workgroupBytes(
  shape: StepShape,
  plan: Omit<StepPlan, 'workgroupBytes'>,
  subgroup: number,
  attention: StepAttention,
): number {
  const { rows, nHeads, nKvHeads, headDim, kvType } = shape;
  const { launch, splits, keyLanes, ownA, ownHidden, ownH } = plan;
  const group = nHeads / nKvHeads;
  const words = [
    2 * xWords(shape, plan),
    (rows * Math.max(ownHidden, ownH, ownA) * (rows === 1 ? X_BLOCK : SPACED_BLOCK)) / X_BLOCK, // y_own
    rows * ownHidden, // x_own
    rows, // squares
    (group + 2) * headDim, // heads
    group * headDim, // q_heads
    2 * headDim, // fresh, of q8 a quarter with its scales
    group + 1, // head_rstd
    ...(attention === 'tiles'
      ? [
          kvType === 'q8' ? launch.threads / keyLanes : 0, // tile_scales
          (group * launch.threads) / keyLanes, // p_tile
          group, // most_of
        ]
      : [4 * laneVectors(shape, planLanes(shape, subgroup), Math.ceil(group / 4), launch.threads / subgroup)]),
    rows * (ownA / X_BLOCK) * splits * (X_BLOCK + 2), // merged
    rows * mostRowParts(plan, subgroup),
    1, // lost
    1, // is_dead
  ];
  return words.reduce((sum, count) => sum + 16 * Math.ceil(count / 4), 0);
}

/** The limits of a GPU that a fused step must fit. */
export interface StepLimits {
  maxComputeWorkgroupStorageSize: number;
  maxComputeInvocationsPerWorkgroup: number;
}

/** The reason why this shape cannot run so, or null. */
export function refusal(shape: StepShape, launch: StepLaunch, subgroup: number, limits: StepLimits): Reason | null {
  const { rows, headDim, hiddenSize, intermediateSize, nHeads, nKvHeads } = shape;
  const group = nHeads / nKvHeads;
  const { groups, threads } = launch;
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = limits;
  if (subgroup < 2) return why`the adapter has no subgroups`;
  if (headDim % X_BLOCK !== 0) return why`heads of ${headDim} values are no multiple of ${X_BLOCK}`;
  if (hiddenSize % BLOCK !== 0 || intermediateSize % BLOCK !== 0) return why`sizes are no multiples of ${BLOCK}`;
  if (groups < rows * nKvHeads) return why`${groups} workgroups are fewer than the ${rows * nKvHeads} KV heads`;
  if (threads > mostThreads) return why`${threads} threads exceed the ${mostThreads} of a workgroup on this GPU`;
  if (threads % (8 * subgroup) !== 0) return why`${threads} threads are no multiple of ${8 * subgroup}`;
  if ((group * headDim) / 4 > threads) {
    return why`${group} query heads of ${headDim} values share a KV head, more than ${threads} threads hold`;
  }
  const { tiles } = planStep(shape, launch, subgroup, mostBytes).workgroupBytes;
  if (tiles > mostBytes) {
    return why`${tiles} bytes of workgroup memory exceed the ${mostBytes} of this GPU`;
  }
  return null;
}

/**
 * True if a step that runs here may attend by lanes, too. Those of several tokens stay in tiles: together they ask for
 * more registers than there are (bench/RESULTS.md).
 */
export function mayAttendByLanes(shape: StepShape, launch: StepLaunch, subgroup: number, limits: StepLimits): boolean {
  if (shape.rows > 1) return false;
  const { maxComputeWorkgroupStorageSize: most } = limits;
  return planStep(shape, launch, subgroup, most).workgroupBytes.lanes <= most;
}
