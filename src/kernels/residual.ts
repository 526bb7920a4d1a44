import wgsl from '../../shaders/kernels/residual.wgsl?raw';
import type { Epilogue } from './linear';

/** Adds the product to what is there. Binds residual: f32 (n_tokens, rows). */
export const RESIDUAL: Epilogue = { label: 'kernels/residual', wgsl: [wgsl], bindings: ['write'] };
