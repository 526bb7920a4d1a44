// Gathers the rows of the tokens from the embedding.

import wgsl from '../../../shaders/elementwise/embed.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type RowTable } from '../../gpu/kernel';
import { type FormatRange, WEIGHT_FORMATS, type WeightMatrix } from '../linear/weight_format';

export interface Embed {
  /** One group for each part of the embedding. */
  bind(embedding: WeightMatrix, tokens: GPUBuffer, x: GPUBuffer): readonly GPUBindGroup[];
  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void;
}

export interface EmbedShape {
  vocabSize: number;
  hiddenSize: number;
  parts: readonly FormatRange[];
  /** Factor of the rows; 1 when left out. */
  scale?: number;
  rows?: RowTable;
}

/**
 * Gathers token rows of an embedding (vocabSize, hiddenSize): a dispatch for each part, which copies the rows it has.
 */
export async function createEmbed(gpu: Gpu, shape: EmbedShape): Promise<Embed> {
  const { vocabSize, hiddenSize, parts, scale = 1, rows: table } = shape;
  const kernels = await Promise.all(
    parts.map(({ row0, rows, format }) =>
      createKernel(gpu, {
        label: 'kernels/embed',
        wgsl: [...WEIGHT_FORMATS[format].wgsl, wgsl],
        constants: {
          VOCAB_SIZE: vocabSize,
          ROW0: row0,
          PART_ROWS: rows,
          COLS: hiddenSize,
          SCALE: { f32: scale },
          ...WEIGHT_FORMATS[format].constants,
        },
        bindings: ['read', 'read', 'read', 'write'],
        rows: table,
      }),
    ),
  );
  return {
    bind: ({ parts }, tokens, x) =>
      kernels.map((kernel, i) => kernel.bind(parts[i].weights, parts[i].scales, tokens, x)),
    record: (list, groups, nTokens) => {
      for (const [i, kernel] of kernels.entries()) list.add(kernel, groups[i], nTokens);
    },
  };
}
