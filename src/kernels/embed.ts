import wgsl from '../../shaders/kernels/embed.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { type CommandList, createKernel } from '../gpu/kernel';
import { rowParts, WEIGHT_FORMATS, type WeightFormat, type WeightMatrix } from './weight_format';

export interface Embed {
  /** One group for each part of the embedding. */
  bind(embedding: WeightMatrix, tokens: GPUBuffer, x: GPUBuffer): readonly GPUBindGroup[];
  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void;
}

export interface EmbedShape {
  vocabSize: number;
  hiddenSize: number;
  format: WeightFormat;
  /** Rows of each part of the embedding but the last; all of them when left out. */
  partRows?: number;
}

/** Gathers token rows of an embedding (vocabSize, hiddenSize): a dispatch for each part, which copies the rows it has. */
export async function createEmbed(gpu: Gpu, shape: EmbedShape): Promise<Embed> {
  const { vocabSize, hiddenSize, format, partRows = vocabSize } = shape;
  const kernels = await Promise.all(
    rowParts(vocabSize, partRows).map(({ row0, rows }) =>
      createKernel(gpu, {
        label: 'kernels/embed',
        wgsl: [...WEIGHT_FORMATS[format].wgsl, wgsl],
        constants: { VOCAB_SIZE: vocabSize, ROW0: row0, PART_ROWS: rows, COLS: hiddenSize },
        bindings: ['read', 'read', 'read', 'write'],
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
