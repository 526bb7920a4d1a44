// Models with one wrong number in one tensor, whatever the format of the tensor.

import { toHalf } from '../../src/cpu/half';
import { DTYPE, type TensorDtype, type TensorInfo } from '../../src/storage/formats/tensor';
import type { ModelFiles } from '../../src/storage/model_files';

/** Bytes of a block in front of its scale in f16. */
const SCALE_AT: Partial<Record<TensorDtype, number>> = {
  Q8_0: 0,
  Q4_0: 0,
  Q4_1: 0,
  Q5_0: 0,
  Q5_1: 0,
  IQ4_NL: 0,
  Q2_K: 80,
  Q3_K: 108,
  Q4_K: 0,
  Q5_K: 0,
  Q6_K: 208,
};

/** The files with `value` as element `element` of a tensor, or as the scale of the block that has this element. */
export function damaged(files: ModelFiles, name: string, value: number, element = 5): ModelFiles {
  const tensor = files.tensors.get(name);
  if (!tensor) throw new Error(`no tensor ${name} among ${[...files.tensors.keys()].join(', ')}`);
  const tensors = new Map(files.tensors).set(name, damagedTensor(tensor, value, element));
  return { ...files, tensors };
}

function damagedTensor(tensor: TensorInfo, value: number, element: number): TensorInfo {
  const { blockElements, blockBytes } = DTYPE[tensor.dtype];
  const at = Math.floor(element / blockElements) * blockBytes + (SCALE_AT[tensor.dtype] ?? 0);
  const wrong = bytesOf(tensor.dtype, value);
  return {
    ...tensor,
    async read(offset, length) {
      const bytes = (await tensor.read(offset, length)).slice();
      for (const [i, byte] of wrong.entries()) {
        if (at + i >= offset && at + i < offset + length) bytes[at + i - offset] = byte;
      }
      return bytes;
    },
  };
}

function bytesOf(dtype: TensorDtype, value: number): Uint8Array {
  const f32 = new Uint8Array(Float32Array.of(value).buffer);
  if (dtype === 'F32') return f32;
  if (dtype === 'BF16') return f32.slice(2);
  return new Uint8Array(Uint16Array.of(toHalf(value)).buffer);
}
