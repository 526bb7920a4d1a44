// Tensors of a quantized file as F32.

import { dequantize } from '../../../src/cpu/dequantize';
import type { ModelTensors } from '../../../src/model/weights/tensors';
import type { TensorInfo } from '../../../src/storage/formats/tensor';

/** The tensors of a model as if its file held F32. */
export function modelAsF32({ embedding, layers, finalNorm, head, dense, ropeFactors }: ModelTensors): ModelTensors {
  const optional = (tensor: TensorInfo | null) => tensor && asF32(tensor);
  return {
    embedding: asF32(embedding),
    layers: layers.map((layer) => {
      const parts = Object.entries(layer).map(([name, tensor]) => [name, optional(tensor)]);
      return Object.fromEntries(parts) as typeof layer;
    }),
    finalNorm: asF32(finalNorm),
    head: optional(head),
    dense,
    ropeFactors,
  };
}

/**
 * The same values as if the file held them in F32, so that the load may quantize them again. They stay in memory until
 * the last one is read.
 */
export function asF32(tensor: TensorInfo): TensorInfo {
  let bytes: Promise<Uint8Array> | null = null;
  const load = async () => {
    const values = dequantize(tensor.dtype, await tensor.read(0, tensor.byteLength));
    return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  };
  return {
    name: tensor.name,
    dtype: 'F32',
    shape: tensor.shape,
    byteLength: 4 * tensor.shape.reduce((product, size) => product * size, 1),
    async read(offset, length) {
      bytes ??= load();
      const part = (await bytes).slice(offset, offset + length);
      if (offset + length === this.byteLength) bytes = null;
      return part;
    },
  };
}
