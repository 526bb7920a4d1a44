// The forward pass on the GPU against the logits and greedy ids of transformers (test/fixtures/llama).

import { describe, expect, test } from 'vitest';
import { WebGpuBackend } from '../../src/engine/backend/webgpu_backend';
import { readConfig } from '../../src/model/config/read';
import { Llama } from '../../src/model/llama';
import { resolveTensors } from '../../src/model/weights/tensors';
import { allocateWeights } from '../../src/model/weights/weights';
import { openModel } from '../../src/storage/model_file';
import { relativeError } from '../close';
import { fixtureNames, readFixture } from '../cpu/fixtures';
import { PATHS, pathName, testGpu } from '../gpu/test_device';
import { GREEDY } from '../sampling/params';
import { droppedFolder } from './fixtures/files';

const ROOT = new URL('../fixtures/llama/', import.meta.url).pathname;
const CONTEXT = 64;

const llamas = new Map<string, ReturnType<typeof load>>();

/** One model per fixture, KV type and path, shared by its tests: each run starts at position 0 anyway. */
function createLlama(name: string, kvType: 'f16' | 'f32', without: (typeof PATHS)[number]): ReturnType<typeof load> {
  const key = `${name} ${kvType} ${without.join()}`;
  const llama = llamas.get(key) ?? load(name, kvType, without);
  llamas.set(key, llama);
  return llama;
}

async function load(name: string, kvType: 'f16' | 'f32', without: (typeof PATHS)[number]) {
  const gpu = await testGpu(without);
  const files = await openModel(droppedFolder(ROOT + name));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const llama = await Llama.create(gpu, config, weights, { contextLength: CONTEXT, kvType, attention: 'auto' });
  await read(files);
  llama.start(weights);
  llama.setSampling(GREEDY);
  return { gpu, llama };
}

/**
 * Models for the plain path, and for keys and values in f16: two that share no format and no bias. Each kernel has its
 * own tests on both paths, and attention with f16 caches at every head_dim.
 */
const PLAIN = ['bf16_group4_hd128_llama3', 'f16_group3_hd32_bias_sharded'];

test('the models of the plain path are there', () => {
  expect(fixtureNames).toEqual(expect.arrayContaining(PLAIN));
});

for (const name of fixtureNames) {
  for (const without of PATHS) {
    const isPlain = without.length > 0;
    if (isPlain && !PLAIN.includes(name)) continue;
    describe(`${name}, ${pathName(without)}`, () => {
      // Bounds are shares of the largest logit. With f32 keys and values only the order of sums differs. The 11 bits of
      // f16 keys move logits by up to 0.5 %, because softmax is sharp in these random models.
      for (const [kvType, bound] of [
        ['f32', 2e-5],
        ['f16', 1e-2],
      ] as const) {
        if (kvType === 'f16' && (isPlain || !PLAIN.includes(name))) continue;
        test(`logits at every position, one token a pass and in one pass, ${kvType} KV`, async () => {
          const { gpu, llama } = await createLlama(name, kvType, without);
          const { inputIds: ids, logits } = readFixture(name);
          llama.writeTokens(Uint32Array.from(ids), 0);
          for (let position = 0; position < ids.length; position++) {
            llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
            // The sampler has overwritten the next prompt token.
            llama.writeTokens(Uint32Array.from(ids), 0);
            const error = relativeError(await llama.readLogits(), logits[position]);
            expect(error, `position ${position}`).toBeLessThan(bound);
          }
          // 31 tokens, then 17 more: both chunks end inside a tile.
          llama.pass(31, 'none', 0).run({ position: 0, nTokens: 31 });
          llama.pass(17, 'sample', 31).run({ position: 31, nTokens: 17 });
          expect(relativeError(await llama.readLogits(), logits[47])).toBeLessThan(bound);
          expect(gpu.failure).toBeNull();
        });
      }

      test('greedy ids, four steps in flight', async () => {
        const { gpu, llama } = await createLlama(name, 'f32', without);
        const { promptIds: prompt, ids: expected } = readFixture(name).greedy;
        const backend = new WebGpuBackend(gpu, llama);
        await backend.begin(GREEDY, true);
        const { token } = await backend.prefill(
          Uint32Array.from(prompt),
          0,
          () => {},
          () => false,
        );
        const ids: unknown[] = [await token];
        const inFlight: Promise<unknown>[] = [];
        for (let position = prompt.length; ids.length < expected.length; position++) {
          inFlight.push(backend.decode(position));
          if (inFlight.length === 4) ids.push(await inFlight.shift());
        }
        expect(ids).toEqual(expected);
        await Promise.all(inFlight);
        const times = await backend.stepTimes();
        expect(times).toHaveLength(expected.length - 1 + inFlight.length);
        expect(times?.every((ms) => ms >= 0 && ms < 10_000)).toBe(true);
      });
    });
  }
}
