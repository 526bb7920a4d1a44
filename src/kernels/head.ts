import wgsl from '../../shaders/kernels/head.wgsl?raw';
import logitKey from '../../shaders/lib/logit_key.wgsl?raw';
import type { Epilogue } from './linear';

/** `rows` of the product is the vocabulary. Binds logits (logitsBytes) and maxima (maximaBytes), both for `sample`. */
export const HEAD: Epilogue = {
  label: 'kernels/head',
  wgsl: [logitKey, wgsl],
  bindings: ['write', 'write'],
  finishRows: 32,
};
