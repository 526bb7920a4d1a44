import wgsl from '../../shaders/kernels/gate_up.wgsl?raw';
import type { Epilogue } from './linear';

/** `rows` of the product is twice the intermediate size. Binds h: f32 (n_tokens, rows / 2). */
export const GATE_UP: Epilogue = { label: 'kernels/gate_up', wgsl: [wgsl], bindings: ['write'] };
