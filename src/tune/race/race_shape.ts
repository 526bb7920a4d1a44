// The matrix that a race runs over: of the format that most bytes of a model have, and of the shape of its gate and up,
// which are the largest of a layer. Pure.

import { hasIntegers } from '../../kernels/linear/matmul_q8';
import { type FormatRange, type IntegerFormat, planeBytes } from '../../kernels/linear/weight_format';
import type { LayerWeights } from '../../model/weights/weights';

export interface RaceShape {
  format: IntegerFormat;
  rows: number;
  cols: number;
  /** Matrices that runs rotate over, as a step rotates over layers: caches hold no more of them than in a model. */
  copies: number;
}

/** Weights of a matrix, of which a large GPU reads for long enough. More rows would take memory alone. */
const MOST_WEIGHTS = 2 ** 25;
/** Bytes of all copies: more than the last cache of most GPUs. */
const COLD_BYTES = 2 ** 26;

/** The matrices of a layer by their shapes. */
type Layer = {
  readonly [K in keyof LayerWeights]: { matrix: { rows: number; cols: number; parts: readonly FormatRange[] } };
};

/** Null for a model without integers. */
export function raceShape(layers: readonly Layer[]): RaceShape | null {
  const bytes = new Map<IntegerFormat, number>();
  for (const { qkv, o, gateUp, down } of layers) {
    for (const { matrix } of [qkv, o, gateUp, down]) {
      for (const { format, rows } of matrix.parts) {
        if (!hasIntegers(format)) continue;
        bytes.set(format, (bytes.get(format) ?? 0) + planeBytes(format, rows, matrix.cols).weights);
      }
    }
  }
  const [main] = [...bytes].sort(([, a], [, b]) => b - a);
  if (!main) return null;
  const [format] = main;
  const { rows: all, cols } = layers[0].gateUp.matrix;
  const rows = Math.min(all, Math.max(64, 64 * Math.floor(MOST_WEIGHTS / cols / 64)));
  const copies = Math.ceil(COLD_BYTES / planeBytes(format, rows, cols).weights);
  return { format, rows, cols, copies: Math.max(1, Math.min(layers.length, copies)) };
}
