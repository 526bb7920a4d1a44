// Weights of the cpu backend: each byte of the files is read once, in order.

import { expect, test } from 'vitest';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import type { TensorInfo } from '../../../src/storage/formats/tensor';
import { openModel } from '../../../src/storage/model_file';
import type { ModelFiles } from '../../../src/storage/model_files';
import { droppedFolder } from '../../model/fixtures/files';

const FOLDER = new URL('../../fixtures/architectures/', import.meta.url).pathname;

// phi3 keeps q, k and v in one tensor, and gate and up in another: several reads of one name.
for (const name of ['gemma3', 'phi3_longrope_short']) {
  test(`the weights of ${name} are read in the order of the file, each byte once`, async () => {
    const files = await openModel(droppedFolder(FOLDER + name));
    const reads: { tensor: string; offset: number; length: number }[] = [];
    const noted = (tensor: TensorInfo): TensorInfo => ({
      ...tensor,
      read: (offset, length) => {
        reads.push({ tensor: tensor.name, offset, length });
        return tensor.read(offset, length);
      },
    });
    const tensors = new Map([...files.tensors].map(([key, tensor]) => [key, noted(tensor)]));
    const noting: ModelFiles = { ...files, tensors };
    const config = readConfig(noting);
    await loadCpuWeights(resolveTensors(noting, config), undefined, undefined, tensors.keys());
    const wanted = [...files.tensors.values()].filter((tensor) => reads.some((read) => read.tensor === tensor.name));
    let at = 0;
    for (const { name: tensor, byteLength } of wanted) {
      for (let offset = 0; offset < byteLength; at++) {
        expect(reads[at]).toMatchObject({ tensor, offset });
        offset += reads[at].length;
      }
    }
    expect(at).toBe(reads.length);
    expect(wanted.length).toBe(files.tensors.size);
  });
}
