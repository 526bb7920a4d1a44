// The formats of weight matrices: their planes of values and scales, the shaders that read them, and their cut into
// parts.

import affine from '../../../shaders/linear/weights/affine.wgsl?raw';
import affineBlock from '../../../shaders/linear/weights/affine_block.wgsl?raw';
import affineK from '../../../shaders/linear/weights/affine_k.wgsl?raw';
import block from '../../../shaders/linear/weights/block.wgsl?raw';
import blockScale from '../../../shaders/linear/weights/block_scale.wgsl?raw';
import f32 from '../../../shaders/linear/weights/f32.wgsl?raw';
import half from '../../../shaders/linear/weights/half.wgsl?raw';
import q2K from '../../../shaders/linear/weights/q2_k.wgsl?raw';
import q4 from '../../../shaders/linear/weights/q4.wgsl?raw';
import q6K from '../../../shaders/linear/weights/q6_k.wgsl?raw';
import q8 from '../../../shaders/linear/weights/q8.wgsl?raw';
import quants from '../../../shaders/linear/weights/quants.wgsl?raw';
import { GpuMemoryError } from '../../errors';
import type { BufferRange } from '../../gpu/buffer_range';
import type { Constant } from '../../gpu/kernel';

/** The layout of a matrix on the GPU. Columns always come in blocks of 32. */
export type WeightFormat = 'f32' | 'f16' | 'bf16' | 'q8' | 'q4' | 'q4_1' | 'q5_1' | 'q2_k' | 'q4_k' | 'q5_k' | 'q6_k';

/**
 * Those that are multiplied with signed bytes. Scales of 16 beside minima, as in q2_k, would take more than it saves.
 */
export type IntegerFormat = Exclude<WeightFormat, 'f32' | 'f16' | 'bf16' | 'q2_k'>;

/** Columns of one block. */
export const BLOCK = 32;

/** Magnitudes of activations below this count as zero, as in the textbook. */
export const ZERO_BELOW = 1e-30;

/** `words` 32-bit words hold `blocks` neighboring blocks. */
interface Plane {
  blocks: number;
  words: number;
}

/**
 * The two planes of a matrix (its values and, where it has them, scales) and the shaders that read them. `wgsl` defines
 * Block, Packed, load_packed and dequantize; for an IntegerFormat also what quants.wgsl lists.
 */
interface FormatPlanes {
  weights: Plane;
  scales: Plane | null;
  wgsl: readonly string[];
  constants?: Readonly<Record<string, Constant>>;
}

/** Two f16 and 12 bytes; 16 bytes and two f16. */
const K_HEADER: Plane = { blocks: 8, words: 4 };
const K_SCALES: Plane = { blocks: 8, words: 5 };
const HALVES: Plane = { blocks: 2, words: 1 };
const each = (words: number): Plane => ({ blocks: 1, words });

/** The integers of affine formats. */
const FOUR_BITS = { weights: each(4), constants: { FIVE_BITS: false } };
const FIVE_BITS = { weights: { blocks: 4, words: 20 }, constants: { FIVE_BITS: true } };

export const WEIGHT_FORMATS: Record<WeightFormat, FormatPlanes> = {
  f32: { weights: each(32), scales: null, wgsl: [block, f32] },
  f16: { weights: each(16), scales: null, wgsl: [block, half], constants: { BFLOAT: false } },
  bf16: { weights: each(16), scales: null, wgsl: [block, half], constants: { BFLOAT: true } },
  q8: { weights: each(8), scales: HALVES, wgsl: [block, quants, blockScale, q8] },
  q4: { weights: each(4), scales: HALVES, wgsl: [block, quants, blockScale, q4] },
  q4_1: { ...FOUR_BITS, scales: each(1), wgsl: [block, quants, affineBlock, affine] },
  q5_1: { ...FIVE_BITS, scales: each(1), wgsl: [block, quants, affineBlock, affine] },
  q2_k: { weights: { blocks: 2, words: 4 }, scales: K_SCALES, wgsl: [block, q2K] },
  q4_k: { ...FOUR_BITS, scales: K_HEADER, wgsl: [block, quants, affineK, affine] },
  q5_k: { ...FIVE_BITS, scales: K_HEADER, wgsl: [block, quants, affineK, affine] },
  q6_k: { weights: { blocks: 2, words: 12 }, scales: K_SCALES, wgsl: [block, quants, q6K] },
};

/** Rows row0 .. row0 + rows of a matrix. */
export interface RowRange {
  row0: number;
  rows: number;
}

/** Rows of one format. */
export interface FormatRange extends RowRange {
  format: WeightFormat;
}

/**
 * Rows of a matrix that one binding holds: their values, and the plane of scales (16 unused bytes where there are
 * none).
 */
export interface WeightPart extends FormatRange {
  weights: BufferRange;
  scales: BufferRange;
}

/**
 * A matrix (rows, cols) on the GPU, its parts in the order of their rows. Tensors that are stacked in it may differ in
 * format.
 */
export interface WeightMatrix {
  rows: number;
  cols: number;
  parts: readonly WeightPart[];
}

/** Neighboring parts of one format: what one kind of kernel multiplies. */
export interface WeightRun {
  format: WeightFormat;
  parts: readonly WeightPart[];
}

/** True if the format's scales are read as vec4<u32>. */
export function readsScaleQuads(format: IntegerFormat): boolean {
  return WEIGHT_FORMATS[format].scales?.words === 4;
}

/** The parts of a matrix, in order. A matrix of one format is one run. */
export function formatRuns({ parts }: WeightMatrix): WeightRun[] {
  const runs: { format: WeightFormat; parts: WeightPart[] }[] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    if (last?.format === part.format) last.parts.push(part);
    else runs.push({ format: part.format, parts: [part] });
  }
  return runs;
}

/** Rows of one format are cut between two tiles of any kernel, and between whole groups of rows of any epilogue. */
const PART_ROWS_STEP = 64;

/** Bytes of the two planes. */
export function planeBytes(format: WeightFormat, rows: number, cols: number): { weights: number; scales: number } {
  const nBlocks = (rows * cols) / BLOCK;
  const bytes = ({ blocks, words }: Plane) => Math.ceil(nBlocks / blocks) * words * 4;
  const { weights, scales } = WEIGHT_FORMATS[format];
  return { weights: bytes(weights), scales: scales ? bytes(scales) : 0 };
}

/**
 * The parts of a matrix, as few as possible and of about the same size, where a binding holds `limit` bytes; `what`
 * names the matrix in a GpuMemoryError where not even PART_ROWS_STEP rows fit.
 */
export function planParts(what: string, format: WeightFormat, rows: number, cols: number, limit: number): RowRange[] {
  if (planeBytes(format, rows, cols).weights <= limit) return [{ row0: 0, rows }];
  const stepBytes = planeBytes(format, PART_ROWS_STEP, cols).weights;
  const mostSteps = Math.floor(limit / stepBytes);
  if (mostSteps === 0)
    throw new GpuMemoryError(`A part of ${what}`, stepBytes, limit, 'Choose a smaller model or format.');
  const steps = Math.ceil(rows / PART_ROWS_STEP);
  return rowParts(rows, Math.ceil(steps / Math.ceil(steps / mostSteps)) * PART_ROWS_STEP);
}

/** Rows 0 .. rows in runs of `partRows`; the last run is what is left. */
export function rowParts(rows: number, partRows: number): RowRange[] {
  return Array.from({ length: Math.ceil(rows / partRows) }, (_, i) => ({
    row0: i * partRows,
    rows: Math.min(partRows, rows - i * partRows),
  }));
}
