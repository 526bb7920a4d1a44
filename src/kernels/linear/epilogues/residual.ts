// The epilogue of o and down: adds to the residual stream.

import wgsl from '../../../../shaders/linear/epilogues/residual.wgsl?raw';
import type { Epilogue } from '../linear';

/** Adds `scale` times the product to what is there. Binds residual: f32 (n_tokens, rows). */
export function residualEpilogue(scale: number): Epilogue {
  return {
    label: 'kernels/residual',
    wgsl: [wgsl],
    constants: { SCALE: { f32: scale } },
    bindings: ['write'],
    outputs: (rows, nTokens) => [{ buffer: 0, encoding: 'f32', bytes: nTokens * rows * 4, adds: true }],
  };
}
