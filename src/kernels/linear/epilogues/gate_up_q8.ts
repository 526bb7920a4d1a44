// The epilogue of gate and up for one token, with h quantized for the down projection.

import wgsl from '../../../../shaders/linear/epilogues/gate_up_q8.wgsl?raw';
import quadsQ8 from '../../../../shaders/linear/epilogues/quads_q8.wgsl?raw';
import type { Epilogue } from '../linear';
import { BLOCK } from '../weight_format';
import { ACTIVATION, type Activation, activationConstants } from './gate_up';

/** h of all tokens in the layout of quantize_activations. */
export const quantizedH: Epilogue['outputs'] = (rows, nTokens) => [
  { buffer: 0, encoding: 'q8', bytes: nTokens * (rows / 2) * (1 + 4 / BLOCK) },
];

/** gate_up for one token, quantized: binds h in the layout of quantize_activations. Rows: a multiple of 64. */
export function gateUpQ8Epilogue(activation: Activation): Epilogue {
  return {
    label: 'kernels/gate_up_q8',
    wgsl: [ACTIVATION, quadsQ8, wgsl],
    constants: activationConstants(activation),
    bindings: ['write'],
    finishRows: 64,
    outputs: (rows) => quantizedH(rows, 1),
  };
}
