// How a matvec shares out its rows and columns. Pure: no GPU is asked.

import { GpuProgramError } from '../../errors';
import { type Reason, why } from '../../shared/why';
import type { LinearShape } from './linear';
import { BLOCK } from './weight_format';

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
  /** With x in f32 alone (matvec_f32.ts): a workgroup reads x once for all its rows, into its memory. */
  STAGED_X?: 1;
  /** Likewise, and for some formats: integers become floats in the mantissa of 2^23, by and, or and a subtraction. */
  PLACED_WEIGHTS?: 1;
}

export interface MatvecShape extends LinearShape {
  input: 'f32' | 'to_q8' | 'parts' | 'parts_to_q8' | 'q8';
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
const ENOUGH_WORKGROUPS = 96;
const ENOUGH_OF_Q8 = 192;
/**
 * Below this a dispatch leaves most of a large GPU idle. Merging parts takes long in each workgroup: fewer, larger
 * ones.
 */
const FEW_WORKGROUPS = 96;
const FEW_MERGING_WORKGROUPS = 48;
const FEW_STAGING_WORKGROUPS = 128;
const MAX_LANES = 32;
/** Lanes that share a row while there are enough rows for the GPU, and x is quantized. */
const QUANTIZING_LANES = 16;
/** Threads that share a row where there are no subgroups: their sums wait in workgroup memory. */
const PLAIN_LANES = 8;
/** A subgroup smaller than this is a software GPU's: its threads run one after another. */
const HARDWARE_SUBGROUP = 8;
const MIN_WORKGROUP = 64;
/**
 * Quantizing or staging x takes many threads; everything else starts sooner in a small workgroup, and so does what
 * reads each part of x for all its rows.
 */
const MOST_THREADS: Record<MatvecShape['input'], number> = {
  to_q8: 512,
  parts: 256,
  parts_to_q8: 1024,
  q8: 256,
  f32: 512,
};
const UNSTAGED_THREADS = 128;
const MOST_SLOTS = 4;
/** Of f32, f16 and bf16, whose blocks are many words, and of a software GPU. */
const FEW_SLOTS = 2;

/**
 * Slots hide the latency of memory, of which a software GPU has little; each one makes it compile longer. Its barriers
 * cost a switch for each subgroup: few of them with more turns are faster than sixteen, two where x is ready, eight
 * where they quantize x for all their rows (2.4 times as fast as sixteen with four slots, compiled in half the time).
 */
const SOFTWARE_SUBGROUPS = 2;
const SOFTWARE_QUANTIZING_SUBGROUPS = 8;
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

const quantizes = (input: MatvecShape['input']) => input.endsWith('to_q8');

const floorPower = (n: number) => 2 ** Math.floor(Math.log2(Math.max(1, n)));

function defaults(
  shape: MatvecShape,
  limits: MatvecLimits,
  subgroupMinSize: number,
  staged = shape.input === 'f32' && subgroupMinSize >= HARDWARE_SUBGROUP,
): MatvecParameters {
  const { rows, cols, input, finishRows } = shape;
  const blocks = cols / BLOCK;
  const mostLanes = Math.min(subgroupMinSize || PLAIN_LANES, MAX_LANES);
  const hardware = subgroupMinSize >= HARDWARE_SUBGROUP;
  const software = !hardware && subgroupMinSize > 0;
  const SLOTS = software || shape.format.includes('f') ? FEW_SLOTS : MOST_SLOTS;
  const threads = staged || input !== 'f32' ? MOST_THREADS[input] : UNSTAGED_THREADS;
  const most = Math.min(hardware ? threads : MIN_WORKGROUP, limits.maxComputeInvocationsPerWorkgroup);
  let LANES = Math.min(
    mostLanes,
    input === 'to_q8' ? QUANTIZING_LANES : MAX_LANES,
    Math.max(4, floorPower(blocks / SLOTS)),
  );
  let WORKGROUP = floorPower(most);
  const fewUnstaged = input === 'parts_to_q8' ? FEW_MERGING_WORKGROUPS : FEW_WORKGROUPS;
  const few = staged || input === 'parts' ? FEW_STAGING_WORKGROUPS : fewUnstaged;
  const workgroups = (growth: number) => rows / ((WORKGROUP / LANES) * growth);
  if (input === 'parts_to_q8') while (WORKGROUP > MIN_WORKGROUP && workgroups(1) < few) WORKGROUP /= 2;
  while (LANES < mostLanes && LANES * SLOTS <= blocks && workgroups(1) < few) LANES *= 2;
  while (WORKGROUP > MIN_WORKGROUP && workgroups(1) < few) WORKGROUP /= 2;
  const fits = ([groupRows, turns]: readonly [number, number]) =>
    groupRows <= SLOTS &&
    groupRows * turns <= 2 * LANES && // no more pairs of rows than threads
    (turns === 1 || (hardware && (input !== 'f32' || (staged && groupRows === SLOTS)))) &&
    workgroups(groupRows * turns) >= (input === 'q8' ? ENOUGH_OF_Q8 : ENOUGH_WORKGROUPS);
  let [GROUP_ROWS, TURNS] = GROWTH.filter(fits).at(-1) ?? GROWTH[0];
  if (!hardware) GROUP_ROWS = SLOTS; // threads in turn: fewer of them, with more rows each
  if (software) {
    const subgroups = quantizes(input) || input === 'parts' ? SOFTWARE_QUANTIZING_SUBGROUPS : SOFTWARE_SUBGROUPS;
    WORKGROUP = Math.min(most, Math.max(subgroups * subgroupMinSize, LANES));
    TURNS = SOFTWARE_TURNS;
  }
  while (((WORKGROUP / LANES) * GROUP_ROWS * TURNS) % finishRows !== 0) {
    if (WORKGROUP < most) WORKGROUP *= 2;
    else if (GROUP_ROWS < SLOTS) GROUP_ROWS *= 2;
    else TURNS *= 2;
  }
  const p = { WORKGROUP, LANES, GROUP_ROWS, SLOTS, TURNS };
  if (!staged) return p;
  // In q8, placed weights are no faster.
  const plan: MatvecParameters = { ...p, STAGED_X: 1, ...(shape.format === 'q4' && { PLACED_WEIGHTS: 1 }) };
  return bytesOf(shape, plan, subgroupMinSize) > limits.maxComputeWorkgroupStorageSize
    ? defaults(shape, limits, subgroupMinSize, false)
    : plan;
}

/** Rows of a workgroup. */
const rowsOf = ({ WORKGROUP, LANES, GROUP_ROWS, TURNS }: MatvecParameters) => (WORKGROUP / LANES) * GROUP_ROWS * TURNS;

/** Bytes of workgroup memory of matvec.wgsl with its libraries; an epilogue may take 4 bytes a row more. */
function bytesOf({ cols, input }: MatvecShape, p: MatvecParameters, subgroupMinSize: number): number {
  const quantized = quantizes(input) ? BLOCK + 8 : 0;
  const block = p.STAGED_X || input === 'parts' ? 4 * BLOCK + 4 : quantized;
  const lanesInMemory = subgroupMinSize > 0 ? 1 : p.LANES;
  return (cols / BLOCK) * block + 4 * ((rowsOf(p) + 1) * lanesInMemory + rowsOf(p));
}

function check(shape: MatvecShape, limits: MatvecLimits, subgroupMinSize: number, p: MatvecParameters): void {
  const { WORKGROUP, LANES, GROUP_ROWS, SLOTS, TURNS } = p;
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = limits;
  const refuse = (fault: Reason): never => {
    throw new GpuProgramError('kernels/matvec', why`${fault}. Use activations "f32", or other parameters.`);
  };
  for (const [name, value] of Object.entries(p)) {
    if (!Number.isInteger(Math.log2(value)) || value > 2 ** 16)
      refuse(why`${name} ${value} is no power of two, or too large`);
  }
  if (SLOTS > MOST_SLOTS || GROUP_ROWS > SLOTS)
    refuse(why`${GROUP_ROWS} rows do not share ${SLOTS} slots, of which there are 4 at most`);
  if (LANES > WORKGROUP) refuse(why`${LANES} lanes are more than the ${WORKGROUP} threads of the workgroup`);
  if (WORKGROUP > mostThreads) refuse(why`${WORKGROUP} threads exceed the ${mostThreads} of a workgroup on this GPU`);
  if (subgroupMinSize > 0 && LANES > subgroupMinSize) {
    refuse(why`${LANES} lanes exceed the subgroups of ${subgroupMinSize} of this GPU`);
  }
  const rows = rowsOf(p);
  if (GROUP_ROWS * TURNS > 2 * LANES) refuse(why`${rows} rows a workgroup are more than two for each thread`);
  if (rows % shape.finishRows !== 0) refuse(why`${rows} rows a workgroup are no multiple of ${shape.finishRows}`);
  const bytes = bytesOf(shape, p, subgroupMinSize);
  if (bytes > mostBytes) refuse(why`${bytes} bytes of workgroup memory exceed the ${mostBytes} of this GPU`);
}
