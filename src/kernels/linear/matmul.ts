// The linear of all tokens of a pass, in f32.

import matmul from '../../../shaders/linear/matmul.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Linear, type LinearShape } from './linear';

const TILE_TOKENS = 32;
const TILE_ROWS = 64;

/** The product of all tokens of a pass, in f32. x: (n_tokens, cols). */
export function createMatmul(gpu: Gpu, shape: LinearShape, epilogue: Epilogue): Promise<Linear> {
  return compileLinear(gpu, shape, epilogue, {
    name: 'matmul',
    wgsl: [matmul],
    constants: () => ({}),
    grid: ({ rows }, nTokens) => [Math.ceil(rows / TILE_ROWS), Math.ceil(nTokens / TILE_TOKENS)],
    tokens: (nTokens) => nTokens,
  });
}
