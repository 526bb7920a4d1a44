// The epilogue of o and down: adds to the residual stream.

import wgsl from '../../../../shaders/linear/epilogues/residual.wgsl?raw';
import { type Epilogue, floats } from '../linear';

/** Adds `scale` times the product to what is there. Binds residual: f32 (n_tokens, rows). */
export function residualEpilogue(scale: number): Epilogue {
  return {
    label: 'kernels/residual',
    wgsl: [wgsl],
    constants: { SCALE: { f32: scale } },
    bindings: ['write'],
    outputs: (rows, nTokens) => [{ ...floats(nTokens * rows), adds: true }],
  };
}
