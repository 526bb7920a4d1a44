// The epilogue of the head: logits, and the largest of every 32.

import wgsl from '../../../../shaders/linear/epilogues/head.wgsl?raw';
import logitPair from '../../../../shaders/linear/epilogues/logit_pair.wgsl?raw';
import logitKey from '../../../../shaders/sampling/logit_key.wgsl?raw';
import { type Epilogue, floats } from '../linear';

/**
 * `rows` of the product is the vocabulary; logits are `scale` times the product, and where there is a softcap
 * cap * tanh(logit / cap). Binds logits (logitsBytes) and maxima (maximaBytes), both for `sample`.
 */
export function headEpilogue(scale: number, softcap: number | null): Epilogue {
  return {
    label: 'kernels/head',
    wgsl: [logitKey, logitPair, wgsl],
    constants: { SCALE: { f32: scale }, SOFTCAP: { f32: softcap ?? 0 } },
    bindings: ['write', 'write'],
    finishRows: 32,
    outputs: (rows) => [floats(rows), { ...floats(Math.ceil(rows / 32), 1), encoding: 'key' }],
  };
}
