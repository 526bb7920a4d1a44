// What products with matrices of integers multiply. Each kind of pass has its own: both read the same weights.

import type { LinearPass } from '../../kernels/linear/create_linear';

/** `q8`: activations in signed bytes, wherever a matrix has integers. `f32`: exact. */
export type ActivationType = 'f32' | 'q8';

export type Arithmetic = Readonly<Record<LinearPass, ActivationType>>;

/** One type stands for both kinds of pass; `auto` is q8. */
export function arithmeticOf(asked: 'auto' | ActivationType | Arithmetic): Arithmetic {
  if (typeof asked === 'object') return asked;
  const type = asked === 'f32' ? 'f32' : 'q8';
  return { decode: type, prefill: type };
}

/** What long passes multiply on. */
export interface MatrixChoice {
  /** True where matrices of q4 are multiplied on subgroup matrices. */
  used: boolean;
  reason: string;
}
