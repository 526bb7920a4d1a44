// The epilogue of the head for the tokens of a batch: a row of logits for each.

import wgsl from '../../../../shaders/linear/epilogues/head_rows.wgsl?raw';
import logitPair from '../../../../shaders/linear/epilogues/logit_pair.wgsl?raw';
import type { Epilogue } from '../linear';

/** The same logits as headEpilogue's, `stride` floats from token to token. Binds logits. */
export function headRowsEpilogue(scale: number, softcap: number | null, stride: number): Epilogue {
  return {
    label: 'kernels/head_rows',
    wgsl: [logitPair, wgsl],
    constants: { SCALE: { f32: scale }, SOFTCAP: { f32: softcap ?? 0 }, STRIDE: stride },
    bindings: ['write'],
    outputs: (rows, nTokens) => [{ buffer: 0, encoding: 'f32', bytes: 4 * rows, runs: nTokens, stride: 4 * stride }],
  };
}
