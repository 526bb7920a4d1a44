// The linear of a few tokens, such as those of several conversations: each weight is read once for all.

import finishNone from '../../../shaders/linear/finish_none.wgsl?raw';
import matmul from '../../../shaders/linear/matmul_few.wgsl?raw';
import quantizeBlock from '../../../shaders/linear/x/quantize_block.wgsl?raw';
import xBlock from '../../../shaders/linear/x/x_block.wgsl?raw';
import xF32 from '../../../shaders/linear/x/x_few_f32.wgsl?raw';
import xQ8 from '../../../shaders/linear/x/x_few_q8.wgsl?raw';
import xStaged from '../../../shaders/linear/x/x_few_staged.wgsl?raw';
import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Grid, type Linear, type LinearShape, ownRows } from './linear';
import { hasIntegers } from './matmul_q8';
import { START, STARTED } from './started';
import { BLOCK, type IntegerFormat, ZERO_BELOW } from './weight_format';

/** Most tokens of a pass. */
export const FEW_TOKENS = 8;

const MAX_GRID = 65535;
/** Threads that fill a large GPU: as many lanes share a row, or two pairs of rows a thread where rows are many. */
const ENOUGH_THREADS = 65536;
const LEAST_LANES = 16;
const MOST_LANES = 64;
/** Trips of a lane along a row where it is long enough: the weights of one come while those before are multiplied. */
const TRIPS = 2;
/** Threads of a workgroup with a pair of rows each, and with two. */
const WORKGROUPS = { 1: 128, 2: 64 } as const;
/** Lanes where x is staged: with 7 KiB of workgroup memory, six workgroups fit the 48 KiB of a multiprocessor. */
const STAGED_LANES = 8;
/** Lanes of an epilogue that takes many rows together. */
const FINISH_LANES = 8;
/** Where threads run one after another, many of them only cost. */
const SOFTWARE = { PAIRS: 1, WORKGROUP: 16, LANES: 4 };
/** Bytes of workgroup memory that any device has, and of them what an epilogue takes at most. */
const SHARED_BYTES = 16384;
const EPILOGUE_BYTES = 1024;

/** The constants of matmul_few.wgsl. */
interface FewPlan {
  PAIRS: number;
  WORKGROUP: number;
  LANES: number;
  AT_ONCE: number;
  /** True where x is staged: workgroups of FEW_TOKENS * LANES threads. */
  staged: boolean;
}

interface FewShape extends Pick<LinearShape, 'rows' | 'cols' | 'normEps'> {
  input: 'f32' | 'q8';
  /** Rows that the epilogue takes together, if it does. */
  finishRows?: number;
}

/** How a product shares out its rows and columns. Figures: bench/RESULTS.md. */
export function planFew(shape: FewShape, isSoftware: boolean): FewPlan {
  const { rows, cols, input, finishRows } = shape;
  const most = powerOfTwo(cols / BLOCK / TRIPS);
  const normed = input === 'f32' && shape.normEps !== null;
  const whole = (plan: Omit<FewPlan, 'AT_ONCE' | 'staged'>): FewPlan => {
    const sums = ((plan.PAIRS * plan.WORKGROUP) / plan.LANES) * (plan.LANES + 1) * 8;
    const squares = normed ? sums / plan.PAIRS / 2 : 0;
    const all = FEW_TOKENS * (sums + squares) <= SHARED_BYTES - EPILOGUE_BYTES;
    return { ...plan, AT_ONCE: all ? FEW_TOKENS : FEW_TOKENS / 2, staged: false };
  };
  if (finishRows) {
    const LANES = isSoftware ? 1 : Math.min(most, FINISH_LANES);
    return whole({ PAIRS: 2, LANES, WORKGROUP: (finishRows / 4) * LANES });
  }
  if (isSoftware) return whole({ ...SOFTWARE, LANES: Math.min(most, SOFTWARE.LANES) });
  // Two pairs of rows in f32 take more registers than a thread should.
  const PAIRS = input === 'q8' && (rows / 4) * LEAST_LANES >= ENOUGH_THREADS ? 2 : 1;
  const filling = powerOfTwo((ENOUGH_THREADS * 2 * PAIRS) / rows);
  const LANES = Math.min(most, Math.max(LEAST_LANES, Math.min(MOST_LANES, filling)));
  // With many rows a workgroup has enough of them to bring x to workgroup memory, and fewer lanes have less to add up.
  if (PAIRS === 2 && most >= STAGED_LANES) {
    return { PAIRS, LANES: STAGED_LANES, WORKGROUP: FEW_TOKENS * STAGED_LANES, AT_ONCE: FEW_TOKENS / 2, staged: true };
  }
  return whole({ PAIRS, LANES, WORKGROUP: WORKGROUPS[PAIRS] });
}

/** The largest power of two that is not above `most`, and 1 at least. */
function powerOfTwo(most: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, most)));
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
  const { finishRows } = epilogue;
  const { staged, ...plan } = planFew({ ...shape, rows: ownRows(shape), input, finishRows }, gpu.isSoftware);
  const integers = staged ? [START, STARTED[shape.format as IntegerFormat], xStaged] : [xQ8];
  const rowsEach = (2 * plan.PAIRS * plan.WORKGROUP) / plan.LANES;
  const grid = ({ rows }: { rows: number }): Grid => {
    const groups = Math.ceil(rows / rowsEach);
    const x = Math.min(groups, MAX_GRID);
    return [x, Math.ceil(groups / x)];
  };
  return compileLinear(gpu, shape, epilogue, {
    name: `matmul_few_${input}`,
    wgsl: [...(input === 'q8' ? integers : [xBlock, xF32]), matmul, finishRows ? quantizeBlock : finishNone],
    constants: (part) => ({ ...plan, GRID_X: grid(part)[0], ZERO_BELOW: { f32: ZERO_BELOW } }),
    grid,
    tokens: (nTokens) => nTokens,
  });
}
