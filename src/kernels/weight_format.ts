// The kernels room: one wrapper per file of shaders/kernels, with its constants, bindings and grid.
// It records dispatches; it neither owns weights nor knows the order of a layer.

import block from '../../shaders/lib/block.wgsl?raw';
import blockScale from '../../shaders/lib/block_scale.wgsl?raw';
import bf16 from '../../shaders/lib/weights_bf16.wgsl?raw';
import f16 from '../../shaders/lib/weights_f16.wgsl?raw';
import f32 from '../../shaders/lib/weights_f32.wgsl?raw';
import q4 from '../../shaders/lib/weights_q4.wgsl?raw';
import q8 from '../../shaders/lib/weights_q8.wgsl?raw';
import { GpuMemoryError } from '../errors';

/** How a matrix lies on the GPU. Columns always come in blocks of 32. */
export type WeightFormat = 'f32' | 'f16' | 'bf16' | 'q8' | 'q4';

/** Columns of one block. */
export const BLOCK = 32;

/** 32-bit words of one block without its scale, and whether it has an f16 scale in the scale plane. `wgsl` defines Block and weight_block. */
export const WEIGHT_FORMATS: Record<WeightFormat, { payloadWords: number; scaled: boolean; wgsl: readonly string[] }> =
  {
    f32: { payloadWords: 32, scaled: false, wgsl: [block, f32] },
    f16: { payloadWords: 16, scaled: false, wgsl: [block, f16] },
    bf16: { payloadWords: 16, scaled: false, wgsl: [block, bf16] },
    q8: { payloadWords: 8, scaled: true, wgsl: [block, blockScale, q8] },
    q4: { payloadWords: 4, scaled: true, wgsl: [block, blockScale, q4] },
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

/** Rows of a matrix that one binding holds: their values, and the plane of f16 scales (16 unused bytes where there are none). */
export interface WeightPart extends FormatRange {
  weights: GPUBuffer;
  scales: GPUBuffer;
}

/** A matrix (rows, cols) on the GPU, its parts in the order of their rows. Tensors that are stacked in it may differ in format. */
export interface WeightMatrix {
  rows: number;
  cols: number;
  parts: readonly WeightPart[];
}

/** Neighbouring parts of one format: what one kind of kernel multiplies. */
export interface WeightRun {
  format: WeightFormat;
  parts: readonly WeightPart[];
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
export const PART_ROWS_STEP = 64;

/** Bytes of the two planes. */
export function planeBytes(format: WeightFormat, rows: number, cols: number): { weights: number; scales: number } {
  const blocks = (rows * cols) / BLOCK;
  const { payloadWords, scaled } = WEIGHT_FORMATS[format];
  return { weights: blocks * payloadWords * 4, scales: scaled ? Math.ceil(blocks / 2) * 4 : 0 };
}

/**
 * The parts of a matrix, as few as possible and of about the same size, where a binding holds `limit` bytes; `what` names the
 * matrix in a GpuMemoryError where not even PART_ROWS_STEP rows fit.
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
