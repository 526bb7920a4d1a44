// The linear of all tokens of a pass on quantized activations.

import finishTokensNone from '../../../shaders/linear/finish_tokens_none.wgsl?raw';
import lowered from '../../../shaders/linear/lowered.wgsl?raw';
import matmul from '../../../shaders/linear/matmul_q8.wgsl?raw';
import scalesAffine from '../../../shaders/linear/matmul_q8_scales_affine.wgsl?raw';
import scalesHalves from '../../../shaders/linear/matmul_q8_scales_halves.wgsl?raw';
import scalesOne from '../../../shaders/linear/matmul_q8_scales_one.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { bySize, compileLinear, type Epilogue, type Linear, type LinearShape, ownRows } from './linear';
import { fitsTiles, PASS_TOKENS, planMatmulQ8, SOFTWARE_TILES, type Tiles, tileRows, tileTokens } from './matmul_plan';
import { roundsOnce } from './rounding';
import type { IntegerFormat, WeightFormat } from './weight_format';

/**
 * A matrix of a format that has integers: `normEps` only says that a norm weight stands in front of the bias in params.
 */
export interface MatmulQ8Shape extends LinearShape {
  format: IntegerFormat;
}

/** The shader piece for the scales of each format. */
const SCALES: Record<IntegerFormat, string> = {
  q4: scalesOne,
  q8: scalesOne,
  q4_1: scalesAffine,
  q5_1: scalesAffine,
  q4_k: scalesAffine,
  q5_k: scalesAffine,
  q6_k: scalesHalves,
};

/** True for formats that are multiplied in integers. */
export const hasIntegers = (format: WeightFormat): format is IntegerFormat => format in SCALES;

/**
 * The product of all tokens of a pass on quantized activations, with a kernel for each size of passes; `given` are the
 * tiles of the largest. x is what quantize_activations writes.
 * @throws GpuProgramError with the number that does not fit
 */
export async function createMatmulQ8(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  given?: Tiles,
): Promise<Linear> {
  if (gpu.isSoftware) return createTiledMatmul(gpu, shape, epilogue, given ?? SOFTWARE_TILES);
  const planned = { ...shape, rows: ownRows(shape) };
  const sizes = PASS_TOKENS.map(async (most, i) => {
    const isLargest = i === PASS_TOKENS.length - 1;
    const tiles = planMatmulQ8(gpu.limits, planned, most, isLargest ? given : undefined);
    const { quantizing } = epilogue;
    const leavesBytes = quantizing !== undefined && fitsTiles(gpu.limits, shape, tiles, quantizing);
    const linear = await createTiledMatmul(gpu, shape, leavesBytes ? quantizing : epilogue, tiles);
    return { most: isLargest ? Number.POSITIVE_INFINITY : most, linear, leavesBytes };
  });
  return bySize(await Promise.all(sizes));
}

/**
 * The same with these tiles for passes of all sizes. Workgroups that share rows are neighbors: weights come from memory
 * once.
 * @throws GpuProgramError with the number that does not fit
 */
export async function createTiledMatmul(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  given: Tiles,
): Promise<Linear> {
  const tiles = planMatmulQ8(gpu.limits, shape, PASS_TOKENS[0], given);
  const { rowThreads, tokenThreads, tokensEach, stages, kShares } = tiles;
  const ROUNDS_ONCE = await roundsOnce(gpu);
  return compileLinear(gpu, shape, epilogue, {
    name: 'matmul_q8',
    wgsl: [lowered, SCALES[shape.format], ...(epilogue.finishRows ? [] : [finishTokensNone]), matmul],
    constants: () => ({
      ROW_THREADS: rowThreads,
      TOKEN_THREADS: tokenThreads,
      TOKENS_EACH: tokensEach,
      STAGES: stages,
      K_SHARES: kShares,
      ROUNDS_ONCE,
    }),
    grid: ({ rows }, nTokens) => [Math.ceil(nTokens / tileTokens(tiles)), Math.ceil(rows / tileRows(tiles))],
    tokens: (nTokens) => nTokens,
  });
}
