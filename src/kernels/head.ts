import wgsl from '../../shaders/kernels/head.wgsl?raw';
import type { Epilogue } from './linear';

/** `rows` of the product is the vocabulary. Binds logits: f32 (rows). */
export const HEAD: Epilogue = { label: 'kernels/head', wgsl: [wgsl], bindings: ['write'] };
