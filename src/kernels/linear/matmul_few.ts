// The linear of a few tokens, such as those of several conversations: each weight is read once for all.

import matmul from '../../../shaders/linear/matmul_few.wgsl?raw';
import xBlock from '../../../shaders/linear/x/x_block.wgsl?raw';
import xF32 from '../../../shaders/linear/x/x_few_f32.wgsl?raw';
import xQ8 from '../../../shaders/linear/x/x_few_q8.wgsl?raw';
import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Grid, type Linear, type LinearShape } from './linear';
import { hasIntegers } from './matmul_q8';
import { BLOCK } from './weight_format';

/** Most tokens of a pass. */
export const FEW_TOKENS = 8;

const MAX_GRID = 65535;
const WORKGROUP = 128;
/** Trips of a lane along a row where it is long enough: the weights of one come while those before are multiplied. */
const TRIPS = 2;
/** Where threads run one after another, many of them only cost. */
const SOFTWARE = { WORKGROUP: 16, LANES: 4 };

/** WORKGROUP threads, LANES of which share two rows: powers of two. */
function planFew({ cols }: Pick<LinearShape, 'cols'>, isSoftware: boolean) {
  const most = Math.min(WORKGROUP, 2 ** Math.floor(Math.log2(Math.max(1, cols / BLOCK / TRIPS))));
  return isSoftware ? { ...SOFTWARE, LANES: Math.min(most, SOFTWARE.LANES) } : { WORKGROUP, LANES: most };
}

/**
 * The product of up to FEW_TOKENS tokens. x: (n_tokens, cols) in f32, normed here, or what quantize_activations writes.
 * The sums of a token are the same whatever the other tokens are, and however many.
 * @throws GpuProgramError for `q8` with a format without integers
 */
export function createMatmulFew(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  input: 'f32' | 'q8',
): Promise<Linear> {
  if (input === 'q8' && !hasIntegers(shape.format)) {
    throw new GpuProgramError(
      'kernels/matmul_few',
      `Weights in ${shape.format} have no integers. Use f32 activations.`,
    );
  }
  const plan = planFew(shape, gpu.isSoftware);
  const rowsEach = (2 * plan.WORKGROUP) / plan.LANES;
  const grid = ({ rows }: { rows: number }): Grid => {
    const groups = Math.ceil(rows / rowsEach);
    const x = Math.min(groups, MAX_GRID);
    return [x, Math.ceil(groups / x)];
  };
  return compileLinear(gpu, shape, epilogue, {
    name: `matmul_few_${input}`,
    wgsl: [...(input === 'q8' ? [xQ8] : [xBlock, xF32]), matmul],
    constants: (part) => ({ ...plan, GRID_X: grid(part)[0] }),
    grid,
    tokens: (nTokens) => nTokens,
  });
}
