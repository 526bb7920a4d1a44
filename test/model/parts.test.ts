// A model whose matrices do not fit a binding: the same logits, bit for bit, as where they do.

import { expect, test } from 'vitest';
import { create } from 'webgpu';
import { Gpu } from '../../src/gpu/device';
import { readConfig } from '../../src/model/config';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/tensors';
import { allocateWeights } from '../../src/model/weights';
import { openModel } from '../../src/storage/model_file';
import { testGpu } from '../gpu/test_device';
import { modelFile } from './tiny_gguf';

// No activation needs more than 256 tokens x 192 values, the limit. The matrices of 192 columns that have more than 256 rows do.
const SHAPE = { vocab: 333, hidden: 192, intermediate: 160, layers: 1, heads: 6, kvHeads: 2, headDim: 32 };
const LIMIT = 256 * 192 * 4;
const IDS = [0, 191, 192, 332, 5, 200, 77];
const dawn = create(['enable-dawn-features=disable_workgroup_init']);

async function run(gpu: Gpu) {
  const files = await openModel(modelFile({ format: 'f32', biased: true }, SHAPE));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, { contextLength: 64, kvType: 'f32', attention: 'auto' });
  await read(files);
  llama.start(weights);
  const last = IDS.length - 1;
  llama.writeTokens(Uint32Array.from(IDS), 0);
  llama.pass(last, 'none', 0).run({ position: 0, nTokens: last });
  llama.pass(1, 'sample', last).run({ position: last, nTokens: 1 });
  const logits = await llama.readLogits();
  expect(gpu.failure).toBeNull();
  const { embedding, head, layers } = weights;
  const parts = [embedding, head.matrix, layers[0].qkv.matrix, layers[0].gateUp.matrix, layers[0].o.matrix].map(
    (matrix) => matrix.parts.length,
  );
  return { logits, parts };
}

test('embedding, head, qkv and gate_up in two parts each', async () => {
  const whole = await run(await testGpu());
  const split = await run(await Gpu.request({ gpu: dawn, bindingLimit: LIMIT }));
  expect(whole.parts).toEqual([1, 1, 1, 1, 1]);
  expect(split.parts).toEqual([2, 2, 2, 2, 1]);
  expect(whole.logits.some((v) => v !== 0)).toBe(true);
  expect(split.logits).toEqual(whole.logits);
});
