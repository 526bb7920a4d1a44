// The vector of a text from the vectors of its tokens, in plain loops. Reimers and Gurevych 2019, arXiv:1908.10084.

import { linear } from './linear';

/** The last of the rows, or their mean. All rows have one size. */
export function pool(rows: readonly Float32Array[], pooling: 'last' | 'mean'): Float32Array {
  const last = rows[rows.length - 1];
  if (pooling === 'last') return last.slice();
  return last.map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}

/** The vector behind linear layers without bias, (n_out, n_in) each. */
export function project(x: Float32Array, layers: readonly Float32Array[]): Float32Array {
  return layers.reduce((y, weight) => linear(y, weight, null), x);
}

/** x / |x|. A vector of zeros stays. */
export function normalize(x: Float32Array): Float32Array {
  let sumSquares = 0;
  for (const value of x) sumSquares += value * value;
  return sumSquares === 0 ? x : x.map((value) => value / Math.sqrt(sumSquares));
}
