// The linear of all tokens of a pass, in f32.

import matmul from '../../../shaders/linear/matmul.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Linear, type LinearShape } from './linear';

const TILE = 64;

/** The product of all tokens of a pass, in f32. x: (n_tokens, cols). */
export function createMatmul(gpu: Gpu, shape: LinearShape, epilogue: Epilogue): Promise<Linear> {
  return compileLinear(gpu, shape, epilogue, {
    name: 'matmul',
    wgsl: [matmul],
    constants: () => ({ SKIP_EMPTY: gpu.isSoftware }),
    grid: ({ rows }, nTokens) => [Math.ceil(rows / TILE), Math.ceil(nTokens / TILE)],
    tokens: (nTokens) => nTokens,
  });
}
