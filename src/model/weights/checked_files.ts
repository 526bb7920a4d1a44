// The files of a load with `debug`: every number of a tensor is checked as it is read.

import { dequantize } from '../../cpu/dequantize';
import { ModelFileError } from '../../errors';
import { DTYPE, type TensorInfo } from '../../storage/formats/tensor';
import type { ModelFiles } from '../../storage/model_files';

/** About as many numbers are unpacked at a time. */
const CHUNK = 2 ** 18;

/**
 * The same files, whose tensors refuse to be read where a number is NaN or infinite. Reads begin and end between
 * blocks.
 * @throws ModelFileError from the reads, with the tensor, the element and the value
 */
export function checkedFiles(files: ModelFiles): ModelFiles {
  const tensors = new Map([...files.tensors].map(([name, tensor]) => [name, checkedTensor(files.name, tensor)]));
  return { ...files, tensors };
}

function checkedTensor(file: string, tensor: TensorInfo): TensorInfo {
  const { name, dtype } = tensor;
  const { blockElements, blockBytes } = DTYPE[dtype];
  const chunkBytes = (CHUNK / blockElements) * blockBytes;
  return {
    ...tensor,
    async read(offset, length, into) {
      const bytes = await tensor.read(offset, length, into);
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        const values = dequantize(dtype, bytes.subarray(at, at + chunkBytes));
        const bad = values.findIndex((value) => !Number.isFinite(value));
        if (bad < 0) continue;
        const element = ((offset + at) / blockBytes) * blockElements + bad;
        const what = `element ${element} of tensor ${name} (${dtype}) is ${values[bad]}. Load another file.`;
        throw new ModelFileError(file, what, name);
      }
      return bytes;
    },
  };
}
