// The shader pieces of a matvec in f32 that stage x, merge it from parts of attention, or place weights in the mantissa
// (see MatvecParameters): a part that comes with the first product of such a plan.

import mergeParts from '../../../shaders/attention/decode/merge_parts.wgsl?raw';
import onlineSoftmax from '../../../shaders/attention/online_softmax.wgsl?raw';
import q4Placed from '../../../shaders/linear/weights/q4_placed.wgsl?raw';
import q8Placed from '../../../shaders/linear/weights/q8_placed.wgsl?raw';
import inOrder from '../../../shaders/linear/x/in_order.wgsl?raw';
import productF32 from '../../../shaders/linear/x/product_f32.wgsl?raw';
import stageBlocks from '../../../shaders/linear/x/stage_blocks.wgsl?raw';
import stageParts from '../../../shaders/linear/x/stage_parts.wgsl?raw';
import xBlock from '../../../shaders/linear/x/x_block.wgsl?raw';
import xParts from '../../../shaders/linear/x/x_parts.wgsl?raw';
import xPlaced from '../../../shaders/linear/x/x_placed.wgsl?raw';
import xStaged from '../../../shaders/linear/x/x_staged.wgsl?raw';
import { GpuProgramError } from '../../errors';
import { type Reason, why } from '../../shared/why';
import type { MatvecParameters, MatvecShape } from './matvec_plan';
import { isPlaceable, type PlacedFormat } from './placed_formats';

const PLACED_PRODUCTS: Record<PlacedFormat, string> = { q4: q4Placed, q8: q8Placed };

/**
 * The product and the activations, with x merged from parts, x staged, weights placed, or both.
 * @throws GpuProgramError for activations that are not in f32, or weights that cannot be placed
 */
export function piecesOf(
  { format, input }: MatvecShape,
  { STAGED_X, PLACED_WEIGHTS }: MatvecParameters,
): readonly string[] {
  if (input === 'parts') return [onlineSoftmax, mergeParts, xParts, productF32, stageParts, xStaged];
  if (input !== 'f32') throw refusal(why`the activations are not in f32`);
  if (!PLACED_WEIGHTS) return [xBlock, inOrder, productF32, stageBlocks, xStaged];
  if (!isPlaceable(format)) throw refusal(why`weights in ${format} do not fit into a mantissa`);
  return [xBlock, PLACED_PRODUCTS[format], ...(STAGED_X ? [stageBlocks, xStaged] : [xPlaced])];
}

const refusal = (fault: Reason) =>
  new GpuProgramError('kernels/matvec', why`${fault}. Use activations "f32", or other parameters.`);
