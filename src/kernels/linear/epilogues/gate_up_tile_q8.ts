// The epilogue of gate and up for the tokens of a matmul_q8, with h quantized for the down projection.

import wgsl from '../../../../shaders/linear/epilogues/gate_up_tile_q8.wgsl?raw';
import quantizeBlock from '../../../../shaders/linear/x/quantize_block.wgsl?raw';
import type { QuantizingEpilogue } from '../linear';
import { ZERO_BELOW } from '../weight_format';
import { ACTIVATION, type Activation, activationConstants } from './gate_up';
import { quantizedH } from './gate_up_q8';

/** gate_up of many tokens, quantized: binds h, all tokens of a block side by side. Tiles of a multiple of 64 rows. */
export function gateUpTileQ8Epilogue(activation: Activation): QuantizingEpilogue {
  return {
    label: 'kernels/gate_up_tile_q8',
    wgsl: [ACTIVATION, quantizeBlock, wgsl],
    constants: { ...activationConstants(activation), ZERO_BELOW: { f32: ZERO_BELOW } },
    bindings: ['write'],
    finishRows: 64,
    finishBytes: 2, // a float of h for two rows
    outputs: quantizedH,
  };
}
