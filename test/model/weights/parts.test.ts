// A model whose matrices do not fit a binding, against the CPU reference.

import { expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { relativeError } from '../../close';
import { testGpu, twinOf } from '../../gpu/test_device';
import { modelFile } from '../fixtures/tiny_gguf';

// The limit is 512 x 288 values, enough for every activation. Matrices of 288 columns exceed the limit if they have more
// rows than 512. The second part of the embedding begins at row 320.
const SHAPE = { vocab: 600, hidden: 288, intermediate: 288, layers: 1, heads: 6, kvHeads: 1, headDim: 32 };
const LIMIT = 512 * 288 * 4;
const IDS = [0, 319, 320, 599, 5, 200, 77];

test('embedding, head and gate_up in two parts each', async () => {
  const gpu = twinOf(await testGpu(), LIMIT);
  const files = await openModel(modelFile({ format: 'f32', biased: true }, SHAPE));
  const config = readConfig(files);
  const tensors = resolveTensors(files, config);
  const { weights, read } = await allocateWeights(gpu, tensors, config);
  const { embedding, head, layers } = weights;
  const [{ qkv, o, gateUp, down }] = layers;
  const parts = [embedding, head.matrix, qkv.matrix, gateUp.matrix, o.matrix, down.matrix].map((m) => m.parts.length);
  expect(parts).toEqual([2, 2, 1, 2, 1, 1]);

  const options = { contextLength: 64, kvType: 'f32', attention: 'fused_decode' } as const;
  const llama = await Llama.create(gpu, config, weights, options);
  await read(files);
  llama.start(weights);
  const last = IDS.length - 1;
  llama.writeTokens(Uint32Array.from(IDS), 0);
  llama.pass(last, 'none', 0).run({ position: 0, nTokens: last });
  llama.pass(1, 'sample', last).run({ position: last, nTokens: 1 });
  const cpu = new CpuLlama(config, await loadCpuWeights(tensors), 64);
  expect(relativeError(await llama.readLogits(), cpu.prefill(IDS, 0))).toBeLessThan(2e-5);
  expect(gpu.failure).toBeNull();
});
