// The linear of all tokens of a pass on subgroup matrices, where the browser grants them: a part of the engine that is
// loaded there alone.

import matmul from '../../../shaders/linear/matmul_matrices.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Linear, type LinearShape, ownRows } from './linear';
import { MANY_TOKENS } from './matmul_plan';

/** Rows of a workgroup: as many subgroups as this along the rows, 32 rows each; and four along the tokens. */
export type RowGroups = 2 | 4;

const TILE_TOKENS = 128;
const tileRows = (groups: RowGroups) => 32 * groups;

/** Larger tiles read less, and an H200 runs 132 of them at once (bench/RESULTS.md). */
const ENOUGH_TILES = 96;
/** Sums of 2 x 127 x 128 fit 32 bits. */
const MOST_COLS = 65536;
/** Of a workgroup of 128 rows: w and x in 16 bits, 20 words a row and a plane, and a scale a row. */
const bytesOf = (groups: RowGroups) => (tileRows(groups) + TILE_TOKENS) * 2 * 80 + 4 * tileRows(groups);

type Limits = Pick<GPUSupportedLimits, 'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupStorageSize'>;

const runs = (limits: Limits, groups: RowGroups) =>
  128 * groups <= limits.maxComputeInvocationsPerWorkgroup && bytesOf(groups) <= limits.maxComputeWorkgroupStorageSize;

/** The rows of a workgroup, or null where this matrix or this GPU has to do without. */
export function planMatrices(limits: Limits, shape: LinearShape): RowGroups | null {
  const { cols, format } = shape;
  if (format !== 'q4' || cols % 64 !== 0 || cols > MOST_COLS) return null;
  const tiles = Math.ceil(ownRows(shape) / tileRows(4)) * (MANY_TOKENS / TILE_TOKENS);
  if (tiles >= ENOUGH_TILES && runs(limits, 4)) return 4;
  return runs(limits, 2) ? 2 : null;
}

/**
 * Compiles the product for `groups` of `planMatrices`. x is what quantize_wide writes.
 * @throws GpuProgramError where the browser refuses the shader
 */
export function createMatmulMatrices(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  groups: RowGroups,
): Promise<Linear> {
  return compileLinear(gpu, shape, epilogue, {
    name: 'matmul_matrices',
    wgsl: [matmul],
    constants: () => ({ ROW_GROUPS: groups }),
    grid: ({ rows }, nTokens) => [Math.ceil(nTokens / TILE_TOKENS), Math.ceil(rows / tileRows(groups))],
    tokens: (nTokens) => nTokens,
    subgroups: true,
    matrices: true,
  });
}
