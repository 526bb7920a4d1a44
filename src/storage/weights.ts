// The weights of a model as a whole.

import { arrived } from '../shared/part';
import { parseGguf } from './formats/gguf';
import { countParts, type Gguf } from './formats/gguf_parts';
import type { TensorInfo } from './formats/tensor';
import type { Weights } from './model_files';
import type { ByteSource, ModelFolder } from './source/byte_source';

export async function openGgufWeights(source: ByteSource, folder: ModelFolder): Promise<Weights> {
  const asked = await parseGguf(source);
  const count = countParts(asked);
  const { metadata, tensors } = count > 1 ? await openSplit(source, folder, asked, count) : asked;
  return { format: 'gguf', tensors: byName(tensors), gguf: metadata };
}

async function openSplit(source: ByteSource, folder: ModelFolder, asked: Gguf, count: number): Promise<Gguf> {
  const { openGgufParts } = await arrived(import('./formats/split_gguf'));
  return openGgufParts(source, folder, asked, count);
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
