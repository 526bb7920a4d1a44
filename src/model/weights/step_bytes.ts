// Bytes that a decode step reads of the weights.

import { planeBytes, type RowRange, type WeightFormat } from '../../kernels/linear/weight_format';
import type { LinearWeights, ModelWeights } from './weights';

/** A matrix of a decode step, and the vectors that are read with it. */
export interface StepMatrix {
  format: WeightFormat;
  rows: number;
  cols: number;
  /** True with an RMSNorm in front. */
  normed: boolean;
  biased: boolean;
}

/** Bytes that one token reads of a matrix and of its vectors, which are f32. */
export function matrixBytes(matrix: StepMatrix): number {
  return planesOf(matrix, matrix.cols) + vectorBytes(matrix);
}

function planesOf({ format, rows }: { format: WeightFormat } & Pick<RowRange, 'rows'>, cols: number): number {
  const { weights, scales } = planeBytes(format, rows, cols);
  return weights + scales;
}

const vectorBytes = ({ rows, cols, normed, biased }: Omit<StepMatrix, 'format'>): number =>
  4 * ((normed ? cols : 0) + (biased ? rows : 0));

/** Bytes of weights that a decode step reads: every matrix once, in its GPU format, and a row of the embedding. */
export function stepWeightBytes({ embedding, layers, head }: ModelWeights): number {
  const bytes = ({ matrix: { parts, rows, cols }, outputNorm, ...vectors }: LinearWeights) =>
    parts.reduce(
      (sum, part) => sum + planesOf(part, cols),
      vectorBytes({ rows, cols, ...vectors }) + (outputNorm?.size ?? 0),
    );
  const row = planesOf({ ...embedding.parts[0], rows: 1 }, embedding.cols);
  return layers.reduce(
    (sum, { qkv, o, gateUp, down }) => sum + bytes(qkv) + bytes(o) + bytes(gateUp) + bytes(down),
    row + bytes(head),
  );
}
