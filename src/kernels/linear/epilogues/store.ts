// The epilogue that stores the rows unchanged.

import wgsl from '../../../../shaders/linear/epilogues/store.wgsl?raw';
import { type Epilogue, floats } from '../linear';

/** Leaves the product as it is. Binds y: f32 (n_tokens, rows). */
export const STORE: Epilogue = {
  label: 'kernels/store',
  wgsl: [wgsl],
  bindings: ['write'],
  outputs: (rows, nTokens) => [floats(nTokens * rows)],
};
