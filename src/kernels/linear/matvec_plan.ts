// How a matvec shares out its rows and columns. Pure: no GPU is asked.

import { GpuProgramError } from '../../errors';
import { type Reason, why } from '../../shared/why';
import type { LinearShape } from './linear';
import { BLOCK, type WeightFormat } from './weight_format';

/** The constants of matvec.wgsl that a tuner may set; all are powers of two. */
export interface MatvecParameters {
  /** Threads of a workgroup. */
  WORKGROUP: number;
  /** Threads that share a row. */
  LANES: number;
  /** Rows that a group of lanes takes at once. */
  GROUP_ROWS: number;
  /** Blocks that a lane has in flight, over all its rows. */
  SLOTS: number;
  /** Times that a workgroup takes rows. */
  TURNS: number;
}

export interface MatvecShape extends LinearShape {
  input: 'f32' | 'to_q8' | 'parts_to_q8' | 'q8';
  /** A workgroup has this many rows, or a multiple. */
  finishRows: number;
}

export type MatvecLimits = Pick<
  GPUSupportedLimits,
  'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupStorageSize'
>;

/**
 * Workgroups that keep a large GPU busy to the end of a dispatch. Each one that quantizes x does so anew: fewer of
 * those.
 */
const ENOUGH_WORKGROUPS: Record<MatvecShape['input'], number> = { to_q8: 96, parts_to_q8: 96, q8: 192, f32: 96 };
/**
 * Below this a dispatch leaves most of a large GPU idle. Merging parts takes long in each workgroup: fewer, larger
 * ones.
 */
const FEW_WORKGROUPS = 96;
const FEW_MERGING_WORKGROUPS = 48;
const MAX_LANES = 32;
/** Lanes that share a row while there are enough rows for the GPU. */
const MOST_LANES: Record<MatvecShape['input'], number> = { to_q8: 16, parts_to_q8: 32, q8: 32, f32: 32 };
/** Threads that share a row where there are no subgroups: their sums wait in workgroup memory. */
const PLAIN_LANES = 8;
/** A subgroup smaller than this is a software GPU's: its threads run one after another. */
const HARDWARE_SUBGROUP = 8;
const MIN_WORKGROUP = 64;
/** Quantizing x takes many threads; everything else starts sooner in a small workgroup. */
const MOST_THREADS: Record<MatvecShape['input'], number> = { to_q8: 512, parts_to_q8: 1024, q8: 256, f32: 128 };
const MOST_SLOTS: Record<WeightFormat, number> = {
  f32: 2,
  f16: 2,
  bf16: 2,
  q8: 4,
  q4: 4,
  q4_1: 4,
  q5_1: 4,
  q2_k: 4,
  q4_k: 4,
  q5_k: 4,
  q6_k: 4,
};

/**
 * Slots hide the latency of memory, of which a software GPU has little; each one makes it compile longer. Its barriers
 * cost a switch for each subgroup: few of them with more turns are faster than sixteen, two where x is ready, eight
 * where they quantize x for all their rows (2.4 times as fast as sixteen with four slots, compiled in half the time).
 */
const SOFTWARE_SLOTS = 2;
const SOFTWARE_SUBGROUPS: Record<MatvecShape['input'], number> = { to_q8: 8, parts_to_q8: 8, q8: 2, f32: 2 };
const SOFTWARE_TURNS = 4;

/** Rows of a group and turns of a workgroup, from few to many. */
const GROWTH: readonly (readonly [groupRows: number, turns: number])[] = [
  [1, 1],
  [2, 1],
  [4, 1],
  [2, 2],
  [4, 4],
];

/**
 * The parameters given, where they fit, else defaults measured on large GPUs (`npm run bench -- tune`).
 * @throws GpuProgramError with the number that does not fit
 */
export function planMatvec(
  shape: MatvecShape,
  limits: MatvecLimits,
  subgroupMinSize: number,
  given?: MatvecParameters,
): MatvecParameters {
  const parameters = given ?? defaults(shape, limits, subgroupMinSize);
  check(shape, limits, subgroupMinSize, parameters);
  return parameters;
}

/**
 * True when the defaults fit this GPU. Quantized activations lie in workgroup memory, which very wide matrices exceed.
 */
export function fitsMatvec(shape: MatvecShape, limits: MatvecLimits, subgroupMinSize: number): boolean {
  try {
    planMatvec(shape, limits, subgroupMinSize);
    return true;
  } catch (error) {
    if (error instanceof GpuProgramError) return false;
    throw error;
  }
}

const floorPower = (n: number) => 2 ** Math.floor(Math.log2(Math.max(1, n)));

function defaults(shape: MatvecShape, limits: MatvecLimits, subgroupMinSize: number): MatvecParameters {
  const { rows, cols, input, finishRows } = shape;
  const blocks = cols / BLOCK;
  const mostLanes = Math.min(subgroupMinSize || PLAIN_LANES, MAX_LANES);
  const hardware = subgroupMinSize >= HARDWARE_SUBGROUP;
  const software = !hardware && subgroupMinSize > 0;
  const SLOTS = software ? SOFTWARE_SLOTS : MOST_SLOTS[shape.format];
  const most = Math.min(hardware ? MOST_THREADS[input] : MIN_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup);
  let LANES = Math.min(mostLanes, MOST_LANES[input], Math.max(4, floorPower(blocks / SLOTS)));
  let WORKGROUP = floorPower(most);
  const few = input === 'parts_to_q8' ? FEW_MERGING_WORKGROUPS : FEW_WORKGROUPS;
  const workgroups = (growth: number) => rows / ((WORKGROUP / LANES) * growth);
  if (input === 'parts_to_q8') while (WORKGROUP > MIN_WORKGROUP && workgroups(1) < few) WORKGROUP /= 2;
  while (LANES < mostLanes && LANES * SLOTS <= blocks && workgroups(1) < few) LANES *= 2;
  while (WORKGROUP > MIN_WORKGROUP && workgroups(1) < few) WORKGROUP /= 2;
  const rowsOf = ([groupRows, turns]: readonly [number, number]) => (WORKGROUP / LANES) * groupRows * turns;
  const fits = ([groupRows, turns]: readonly [number, number]) =>
    groupRows <= SLOTS &&
    (turns === 1 || (hardware && input !== 'f32')) &&
    workgroups(groupRows * turns) >= ENOUGH_WORKGROUPS[input];
  const growth = GROWTH.filter(fits).at(-1) ?? GROWTH[0];
  let [GROUP_ROWS, TURNS] = growth;
  if (!hardware) GROUP_ROWS = SLOTS; // threads in turn: fewer of them, with more rows each
  if (software) {
    WORKGROUP = Math.min(most, Math.max(SOFTWARE_SUBGROUPS[input] * subgroupMinSize, LANES));
    TURNS = SOFTWARE_TURNS;
  }
  while (rowsOf([GROUP_ROWS, TURNS]) % finishRows !== 0) {
    if (WORKGROUP < most) WORKGROUP *= 2;
    else if (GROUP_ROWS < SLOTS) GROUP_ROWS *= 2;
    else TURNS *= 2;
  }
  return { WORKGROUP, LANES, GROUP_ROWS, SLOTS, TURNS };
}

/** Bytes of workgroup memory of matvec.wgsl with its libraries; an epilogue may take 4 bytes a row more. */
function workgroupBytes({ cols, input }: MatvecShape, rows: number, lanesInMemory: number): number {
  const x = input === 'to_q8' || input === 'parts_to_q8' ? cols + (cols / BLOCK) * 8 : 0;
  return x + (rows + 1) * 4 * lanesInMemory + rows * 4;
}

function check(shape: MatvecShape, limits: MatvecLimits, subgroupMinSize: number, p: MatvecParameters): void {
  const { WORKGROUP, LANES, GROUP_ROWS, SLOTS, TURNS } = p;
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = limits;
  const refuse = (fault: Reason): never => {
    throw new GpuProgramError('kernels/matvec', why`${fault}. Use activations "f32", or other parameters.`);
  };
  const powers = Object.entries(p).find(([, value]) => !Number.isInteger(Math.log2(value)) || value > 2 ** 16);
  if (powers) refuse(why`${powers[0]} ${powers[1]} is no power of two, or too large`);
  if (SLOTS > 4 || GROUP_ROWS > SLOTS)
    refuse(why`${GROUP_ROWS} rows do not share ${SLOTS} slots, of which there are 4 at most`);
  if (LANES > WORKGROUP) refuse(why`${LANES} lanes are more than the ${WORKGROUP} threads of the workgroup`);
  if (WORKGROUP > mostThreads) refuse(why`${WORKGROUP} threads exceed the ${mostThreads} of a workgroup on this GPU`);
  if (subgroupMinSize > 0 && LANES > subgroupMinSize) {
    refuse(why`${LANES} lanes exceed the subgroups of ${subgroupMinSize} of this GPU`);
  }
  const rows = (WORKGROUP / LANES) * GROUP_ROWS * TURNS;
  if (GROUP_ROWS * TURNS > 2 * LANES) refuse(why`${rows} rows a workgroup are more than two for each thread`);
  if (rows % shape.finishRows !== 0) refuse(why`${rows} rows a workgroup are no multiple of ${shape.finishRows}`);
  const bytes = workgroupBytes(shape, rows, subgroupMinSize > 0 ? 1 : LANES);
  if (bytes > mostBytes) refuse(why`${bytes} bytes of workgroup memory exceed the ${mostBytes} of this GPU`);
}
