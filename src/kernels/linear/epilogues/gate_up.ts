import geluTanh from '../../../../shaders/linear/epilogues/activation_gelu_tanh.wgsl?raw';
import silu from '../../../../shaders/linear/epilogues/activation_silu.wgsl?raw';
import wgsl from '../../../../shaders/linear/epilogues/gate_up.wgsl?raw';
import type { Epilogue } from '../linear';

/** Of the gate of an MLP. */
export type Activation = 'silu' | 'gelu_tanh';

/** Each defines `activation`. */
export const ACTIVATIONS: Record<Activation, string> = { silu, gelu_tanh: geluTanh };

/** `rows` of the product is twice the intermediate size. Binds h: f32 (n_tokens, rows / 2). */
export function gateUpEpilogue(activation: Activation): Epilogue {
  return {
    label: 'kernels/gate_up',
    wgsl: [ACTIVATIONS[activation], wgsl],
    bindings: ['write'],
    outputs: (rows, nTokens) => [{ buffer: 0, encoding: 'f32', bytes: nTokens * (rows / 2) * 4 }],
  };
}

export const GATE_UP = gateUpEpilogue('silu');
