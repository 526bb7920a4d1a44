// The output of split_kv_decode in signed bytes, for an output projection that takes them.

import merged from '../../../shaders/attention/decode/merged_q8.wgsl?raw';
import quadsQ8 from '../../../shaders/linear/epilogues/quads_q8.wgsl?raw';
import quantizeBlock from '../../../shaders/linear/x/quantize_block.wgsl?raw';
import type { MergedOutput } from './split_kv_decode';

/**
 * `out` in the layout of quantize_activations. headDim: a multiple of 32.
 * @param zeroBelow blocks without a larger magnitude are zero
 */
export function mergedQ8(zeroBelow: number): MergedOutput {
  return { wgsl: [quantizeBlock, quadsQ8, merged], constants: { ZERO_BELOW: { f32: zeroBelow } } };
}
