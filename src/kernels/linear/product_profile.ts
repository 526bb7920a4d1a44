// What a tuner found for the products of a model, and how it is used: by shape, and only where it fits this GPU.

import { type LinearShape, ownRows } from './linear';
import type { Tiles } from './matmul_q8';
import type { MatvecInput } from './matvec';
import type { MatvecParameters } from './matvec_plan';
import type { WeightFormat } from './weight_format';

/** The fastest correct parameters by `productKey`; good for one GPU, one browser and these shaders only. */
export interface ProductProfile {
  /** Of one token. */
  products: Readonly<Record<string, MatvecParameters>>;
  /** Of many tokens. */
  tiles: Readonly<Record<string, Tiles>>;
  /** When it was measured, ISO 8601. */
  tunedAt: string;
}

/** One candidate of a tuner for a product: measured, or refused with the reason. */
export interface ProductResult {
  pass: 'product';
  name: 'qkv' | 'o' | 'gate_up' | 'down' | 'head';
  rows: number;
  cols: number;
  format: WeightFormat;
  /** How activations come (MatvecInput). */
  input: MatvecInput;
  /** Tokens of the pass: 1 in decode, where parameters are MatvecParameters; more in prefill, where they are Tiles. */
  nTokens: number;
  parameters: Record<string, number>;
  /** What runs untuned. */
  isDefault: boolean;
  /** Milliseconds of one product with cold weights; null when refused. */
  ms: number | null;
  refused: string | null;
  /** Whether it is the one that is kept. */
  fastest: boolean;
}

/** Equal for products that run alike: by the epilogue's label, the matrix, and how activations come. */
export function productKey(name: string, shape: LinearShape, input: MatvecInput): string {
  const { cols, format } = shape;
  return `${name.slice(name.lastIndexOf('/') + 1)} ${ownRows(shape)}x${cols} ${format} ${input}`;
}
