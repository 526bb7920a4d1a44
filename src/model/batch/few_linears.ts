// The linears of a layer for the few tokens of a batch. Where weights are integers, what comes before a product leaves
// its input in signed bytes, so that no dispatch quantizes it.

import { gateUpRowsQ8Epilogue } from '../../kernels/linear/epilogues/gate_up_rows_q8';
import type { LinearBuilder, LinearSources, Linears } from '../layers/linears';
import { isInterleaved } from '../weights/weights';

/** @param quantizesAttn attention leaves its output in signed bytes */
export async function fewLinears(
  linears: LinearBuilder,
  { config, weights, buffers }: LinearSources,
  index: number,
  quantizesAttn: boolean,
): Promise<Linears> {
  const { x, h, attn } = buffers;
  const layer = weights.layers[index];
  const epilogue = gateUpRowsQ8Epilogue(config.activation);
  const quantizesH =
    isInterleaved(layer.gateUp) &&
    linears.takesIntegers(layer.down) &&
    linears.takesIntegers(layer.gateUp, epilogue.finishRows);
  const [qkv, o, gateUp, down] = await Promise.all([
    linears.qkv('prefill', layer.qkv, index),
    linears.add('prefill', layer.o, { from: attn, as: quantizesAttn ? 'q8' : undefined }),
    quantizesH
      ? linears.linear('prefill', layer.gateUp, epilogue, { from: x }, h)
      : linears.gateUp('prefill', layer.gateUp),
    linears.add('prefill', layer.down, { from: h, as: quantizesH ? 'q8' : undefined }),
  ]);
  return { qkv, o, gateUp, down };
}
