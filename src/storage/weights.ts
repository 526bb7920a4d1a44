// The weights of a model as a whole.

import { openGgufParts } from './formats/split_gguf';
import type { TensorInfo } from './formats/tensor';
import type { Weights } from './model_files';
import type { ByteSource, ModelFolder } from './source/byte_source';

export async function openGgufWeights(source: ByteSource, folder: ModelFolder): Promise<Weights> {
  const { metadata, tensors } = await openGgufParts(source, folder);
  return { format: 'gguf', tensors: byName(tensors), gguf: metadata };
}

export function isGguf(path: string): boolean {
  return path.toLowerCase().endsWith('.gguf');
}

export function byName(tensors: TensorInfo[]): Map<string, TensorInfo> {
  return new Map(tensors.map((tensor) => [tensor.name, tensor]));
}

export function sum({ tensors }: Weights): number {
  return [...tensors.values()].reduce((total, { byteLength }) => total + byteLength, 0);
}
