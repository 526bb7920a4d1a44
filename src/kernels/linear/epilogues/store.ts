// The epilogue that stores the rows unchanged.

import wgsl from '../../../../shaders/linear/epilogues/store.wgsl?raw';
import type { Epilogue } from '../linear';

/** Leaves the product as it is. Binds y: f32 (n_tokens, rows). */
export const STORE: Epilogue = {
  label: 'kernels/store',
  wgsl: [wgsl],
  bindings: ['write'],
  outputs: (rows, nTokens) => [{ buffer: 0, encoding: 'f32', bytes: nTokens * rows * 4 }],
};
