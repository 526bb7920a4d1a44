import wgsl from '../../shaders/kernels/embed.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { type CommandList, createKernel } from '../gpu/kernel';
import { WEIGHT_FORMATS, type WeightFormat } from './weight_format';

export interface Embed {
  /** embedding weights and scales, tokens, x. */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup, nTokens: number): void;
}

/** Gathers token rows of an embedding (vocabSize, hiddenSize). */
export async function createEmbed(
  gpu: Gpu,
  shape: { vocabSize: number; hiddenSize: number; format: WeightFormat },
): Promise<Embed> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/embed',
    wgsl: [...WEIGHT_FORMATS[shape.format].wgsl, wgsl],
    constants: { VOCAB_SIZE: shape.vocabSize, COLS: shape.hiddenSize },
    bindings: ['read', 'read', 'read', 'write'],
  });
  return {
    bind: (...buffers) => kernel.bind(...buffers),
    record: (list, group, nTokens) => list.add(kernel, group, nTokens),
  };
}
