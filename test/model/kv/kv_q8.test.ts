// Models whose keys and values are signed bytes: the GPU against the textbook with the same bytes, pass by pass, and
// greedy ids.

import { expect, test } from 'vitest';
import { CpuLlama } from '../../../src/cpu/llama';
import { argmax } from '../../../src/cpu/sample';
import { readConfig } from '../../../src/model/config/read';
import { kvBytesPerToken } from '../../../src/model/kv/kv_cache';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { relativeError } from '../../close';
import { fixtureFolder, loadFiles, readFixture } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { GREEDY } from '../../sampling/params';
import { droppedFolder } from '../fixtures/files';

const CONTEXT = 48;
/**
 * Share of the largest logit. A number between two bytes may become either, by the order of a sum: that moves logits by
 * some thousandths at most in random models. Where none does, only the order of sums differs.
 */
const BOUND = 2e-3;

/** Biases and groups of 3; norms of heads, and windows. */
const MODELS = ['f16_group3_hd32_bias_sharded', 'gemma3'];

async function open(name: string) {
  const files = await openModel(droppedFolder(fixtureFolder(name)));
  const { config, weights: cpuWeights } = await loadFiles(files);
  const gpu = await testGpu();
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const options = { contextLength: CONTEXT, kvType: 'q8', attention: 'fused_decode' } as const;
  const llama = await Llama.create(gpu, config, weights, options);
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  return { gpu, llama, cpu: new CpuLlama(config, cpuWeights, CONTEXT, 'q8') };
}

test.each(MODELS)('%s: logits after a prompt and after each token, and greedy ids', async (name) => {
  const { gpu, llama, cpu } = await open(name);
  const { inputIds, logits: exact } = readFixture(name);
  const prompt = inputIds.slice(0, 31);
  llama.writeTokens(Uint32Array.from(inputIds), 0);
  await llama.pass(31, 'sample', 0).run({ position: 0, nTokens: 31 });
  let want = cpu.prefill(prompt, 0);
  let got = await llama.readLogits();
  expect(relativeError(got, want)).toBeLessThan(BOUND);
  expect(relativeError(got, exact[30])).toBeLessThan(0.1); // in floats
  expect(relativeError(got, exact[30])).toBeGreaterThan(1e-4); // there are bytes in the cache
  for (let position = 31; position < 43; position++) {
    await llama.pass(1, 'sample', position).run({ position, nTokens: 1 }); // of the token that the pass before chose
    const id = argmax(want);
    expect(argmax(got), `position ${position}`).toBe(id);
    want = cpu.forward(id, position);
    got = await llama.readLogits();
    expect(relativeError(got, want), `position ${position}`).toBeLessThan(BOUND);
  }
  expect(gpu.failure).toBeNull();
});

test('the bytes of a token are at most 0.55 of those of f16, where heads are not tiny', async () => {
  const config = readConfig(await openModel(droppedFolder(fixtureFolder('bf16_group4_hd128_llama3'))));
  expect(kvBytesPerToken(config, 'q8') / kvBytesPerToken(config, 'f16')).toBe(132 / 256);
});
