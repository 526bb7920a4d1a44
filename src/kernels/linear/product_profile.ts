// The matrix products of a tuning profile: parameters by shape.

import { type LinearShape, ownRows } from './linear';
import type { Tiles } from './matmul_plan';
import type { MatvecInput } from './matvec';
import type { MatvecParameters } from './matvec_plan';

/** The fastest correct parameters by `productKey`; valid for one GPU, one browser and these shaders only. */
export interface ProductProfile {
  /** Products of one token. */
  matvec: Readonly<Record<string, MatvecParameters>>;
  /** Products of many tokens on quantized activations. */
  tiles: Readonly<Record<string, Tiles>>;
}

/** Equal for products that run alike: the same epilogue, shape of the matrix, format and input. */
export function productKey(name: string, shape: LinearShape, input: MatvecInput): string {
  const { cols, format } = shape;
  return `${name.slice(name.lastIndexOf('/') + 1)} ${ownRows(shape)}x${cols} ${format} ${input}`;
}
