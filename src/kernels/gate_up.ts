import wgsl from '../../shaders/kernels/gate_up.wgsl?raw';
import wgslQ8 from '../../shaders/kernels/gate_up_q8.wgsl?raw';
import type { Epilogue } from './linear';

/** `rows` of the product is twice the intermediate size. Binds h: f32 (n_tokens, rows / 2). */
export const GATE_UP: Epilogue = { label: 'kernels/gate_up', wgsl: [wgsl], bindings: ['write'] };

/** The same for one token, quantised: binds h in the layout of kernels/quantise_activations. Rows: a multiple of 64. */
export const GATE_UP_Q8: Epilogue = {
  label: 'kernels/gate_up_q8',
  wgsl: [wgslQ8],
  bindings: ['write'],
  finishRows: 64,
};
