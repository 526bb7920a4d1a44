// The linear of one token: the pieces of its shader by weight format and input.

import mergeParts from '../../../shaders/attention/decode/merge_parts.wgsl?raw';
import onlineSoftmax from '../../../shaders/attention/online_softmax.wgsl?raw';
import emitPairs from '../../../shaders/linear/emit_pairs.wgsl?raw';
import matvec from '../../../shaders/linear/matvec.wgsl?raw';
import rowSumsPlain from '../../../shaders/linear/row_sums_plain.wgsl?raw';
import rowSumsSubgroups from '../../../shaders/linear/row_sums_subgroups.wgsl?raw';
import productF32 from '../../../shaders/linear/x/product_f32.wgsl?raw';
import quantizeBlock from '../../../shaders/linear/x/quantize_block.wgsl?raw';
import xBlock from '../../../shaders/linear/x/x_block.wgsl?raw';
import xF32 from '../../../shaders/linear/x/x_f32.wgsl?raw';
import xParts from '../../../shaders/linear/x/x_parts.wgsl?raw';
import xQ8 from '../../../shaders/linear/x/x_q8.wgsl?raw';
import xQuantized from '../../../shaders/linear/x/x_quantized.wgsl?raw';
import xRow from '../../../shaders/linear/x/x_row.wgsl?raw';
import xToQ8 from '../../../shaders/linear/x/x_to_q8.wgsl?raw';
import xToQ8Plain from '../../../shaders/linear/x/x_to_q8_plain.wgsl?raw';
import xToQ8Subgroups from '../../../shaders/linear/x/x_to_q8_subgroups.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { arrived } from '../../shared/part';
import { compileLinear, type Epilogue, type Grid, type Linear, type LinearShape, ownRows } from './linear';
import { type MatvecParameters, planMatvec } from './matvec_plan';
import { ZERO_BELOW } from './weight_format';

/**
 * The form of the activations.
 * - `f32`: read and multiplied in f32.
 * - `to_q8`: read in f32, quantized in the kernel.
 * - `parts`: attention splits, merged in the kernel, which binds (m, l) and a uniform with the number of splits behind
 * the epilogue's one buffer. Multiplied in f32.
 * - `parts_to_q8`: the same, and then quantized.
 * - `q8`: already quantized, in the layout of quantize_activations for one token.
 */
export type MatvecInput = 'f32' | 'to_q8' | 'parts' | 'parts_to_q8' | 'q8';

/** True if x is multiplied in f32. */
export const isF32 = (input: MatvecInput): boolean => !input.endsWith('q8');

const MAX_GRID = 65535;

/** Lanes that quantize a block together where subgroups have as many. */
const MOST_BLOCK_LANES = 8;
const LEAST_BLOCK_LANES = 4;

/**
 * The product of the last token of a pass.
 * @throws GpuProgramError with the number that does not fit this GPU
 */
export async function createMatvec(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  input: MatvecInput,
  given?: MatvecParameters,
): Promise<Linear> {
  const { subgroupMinSize } = gpu.can;
  const subgroups = subgroupMinSize > 0;
  const finishRows = epilogue.finishRows ?? 2;
  const planned = { ...shape, rows: ownRows(shape), input, finishRows };
  const parameters = planMatvec(planned, gpu.limits, subgroupMinSize, given);
  const { WORKGROUP, LANES, GROUP_ROWS, TURNS, STAGED_X, PLACED_WEIGHTS } = parameters;
  const rowsPerWorkgroup = (WORKGROUP / LANES) * GROUP_ROWS * TURNS;
  const grid = ({ rows }: { rows: number }): Grid => {
    const groups = Math.ceil(rows / rowsPerWorkgroup);
    const x = Math.min(groups, MAX_GRID);
    return [x, Math.ceil(groups / x)];
  };
  const prepare = subgroupMinSize >= LEAST_BLOCK_LANES ? xToQ8Subgroups : xToQ8Plain;
  let f32: readonly string[] = [xBlock, productF32, xF32];
  if (STAGED_X || PLACED_WEIGHTS || input === 'parts') {
    const { piecesOf } = await arrived(import('./matvec_f32'));
    f32 = piecesOf(planned, parameters);
  }
  const x = {
    f32,
    parts: f32,
    to_q8: [xQuantized, xToQ8, xRow, prepare],
    parts_to_q8: [xQuantized, xToQ8, onlineSoftmax, mergeParts, xParts, prepare],
    q8: [xQuantized, xQ8],
  }[input];
  return compileLinear(gpu, shape, epilogue, {
    name: `matvec_${input}`,
    wgsl: [
      quantizeBlock,
      ...x,
      subgroups ? rowSumsSubgroups : rowSumsPlain,
      matvec,
      ...(epilogue.finishRows ? [] : [emitPairs]),
    ],
    constants: (part) => ({
      ...parameters,
      GRID_X: grid(part)[0],
      ZERO_BELOW: { f32: ZERO_BELOW },
      BLOCK_LANES: Math.min(MOST_BLOCK_LANES, subgroupMinSize),
    }),
    bindings: input.startsWith('parts') ? ['read', 'uniform'] : [],
    grid,
    tokens: () => 1,
    subgroups,
  });
}
