// The epilogue of gate and up: h = activation(gate) * up.

import activationWgsl from '../../../../shaders/linear/epilogues/activation.wgsl?raw';
import wgsl from '../../../../shaders/linear/epilogues/gate_up.wgsl?raw';
import type { Constant } from '../../../gpu/kernel';
import { type Epilogue, floats } from '../linear';

/** The activation of the gate of an MLP. */
export type Activation = 'silu' | 'gelu_tanh';

/** The library that defines `activation`, which its constants choose. */
export const ACTIVATION = activationWgsl;

export function activationConstants(activation: Activation): Readonly<Record<string, Constant>> {
  return { GELU_TANH: activation === 'gelu_tanh' };
}

/** `rows` of the product is twice the intermediate size. Binds h: f32 (n_tokens, rows / 2). */
export function gateUpEpilogue(activation: Activation): Epilogue {
  return {
    label: 'kernels/gate_up',
    wgsl: [ACTIVATION, wgsl],
    constants: activationConstants(activation),
    bindings: ['write'],
    outputs: (rows, nTokens) => [floats((nTokens * rows) / 2)],
  };
}
