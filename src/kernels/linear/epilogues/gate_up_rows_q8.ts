// The epilogue of gate and up for the tokens of a matmul_few, with h quantized for the down projection.

import wgsl from '../../../../shaders/linear/epilogues/gate_up_rows_q8.wgsl?raw';
import quadsQ8 from '../../../../shaders/linear/epilogues/quads_q8.wgsl?raw';
import type { Epilogue } from '../linear';
import { ACTIVATION, type Activation, activationConstants } from './gate_up';
import { quantizedH } from './gate_up_q8';

/** gate_up of a few tokens, quantized: binds h in the layout of quantize_activations. Rows: a multiple of 64. */
export function gateUpRowsQ8Epilogue(activation: Activation): Epilogue {
  return {
    label: 'kernels/gate_up_rows_q8',
    wgsl: [ACTIVATION, quadsQ8, wgsl],
    constants: activationConstants(activation),
    bindings: ['write'],
    finishRows: 64,
    outputs: quantizedH,
  };
}
