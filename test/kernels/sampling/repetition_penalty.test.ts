// The repetition penalty kernel against penalizeRepetition of src/cpu/sample.ts.

import { expect, test } from 'vitest';
import { penalizeRepetition } from '../../../src/cpu/sample';
import { GPU_COPY_DST, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { createRepetitionPenalty, seenBytes } from '../../../src/kernels/sampling/repetition_penalty';
import { packSampling, SAMPLING_BYTES } from '../../../src/sampling/sampling';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { OFF } from '../../sampling/params';
import { normalLogits, seededRandom } from '../../sampling/statistics';

interface Case {
  without: (typeof PATHS)[number];
  vocabSize: number;
  tokens: Uint32Array<ArrayBuffer>;
  penalty: number;
}

/** Penalized logits at each step in turn, on one buffer of tokens and one bitmap, from fresh logits each time. */
async function penalizeOnGpu(
  c: Case,
  logits: Float32Array<ArrayBuffer>,
  steps: { position: number; nTokens: number }[],
) {
  const gpu = await testGpu(c.without);
  const kernel = await createRepetitionPenalty(gpu, { vocabSize: c.vocabSize });
  const buffer = gpu.upload('logits', logits);
  const sampling = gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(sampling, new Uint8Array(packSampling({ ...OFF, repetitionPenalty: c.penalty })));
  const seen = gpu.upload('seen', new Uint8Array(seenBytes(c.vocabSize)).fill(0xa5));
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(buffer, sampling, gpu.upload('tokens', c.tokens), seen));
  const results: Float32Array[] = [];
  for (const step of steps) {
    gpu.write(buffer, logits);
    list.run(step);
    results.push(new Float32Array(await gpu.read(buffer, logits.byteLength)));
  }
  expect(gpu.failure).toBeNull();
  return results;
}

function expectClose(actual: Float32Array, wanted: Float32Array): void {
  const wrong = actual.findIndex((v, i) => !(Math.abs(v - wanted[i]) <= 1e-6 * Math.abs(wanted[i])));
  expect(wrong === -1 ? 'equal' : `logit ${wrong} is ${actual[wrong]}, not ${wanted[wrong]}`).toBe('equal');
}

for (const without of PATHS) {
  for (const vocabSize of [5, 31, 32, 33, 257, 128256]) {
    test(`penalizes each distinct token once, vocab=${vocabSize}, ${pathName(without)}`, async () => {
      const random = seededRandom(vocabSize);
      const logits = normalLogits(vocabSize, 3, random);
      const tokens = Uint32Array.from({ length: 1000 }, () => Math.floor(random() ** 2 * vocabSize));
      const steps = [1, 2, 255, 256, 257, 999].map((length) => ({ position: length - 1, nTokens: 1 }));
      const results = await penalizeOnGpu({ without, vocabSize, tokens, penalty: 1.3 }, logits, steps);
      for (const [i, step] of steps.entries()) {
        expectClose(results[i], penalizeRepetition(logits, tokens.slice(0, step.position + 1), 1.3));
      }
    });
  }
}

const small = { without: [], vocabSize: 6, tokens: Uint32Array.of(0, 1, 2, 0, 3, 0) };
const LOGITS = Float32Array.of(4, -4, 0, 1, 2, -1e30);

test('a rewind is exact: the tokens after the position are forgotten', async () => {
  const steps = [
    { position: 4, nTokens: 2 },
    { position: 0, nTokens: 2 },
  ];
  const [long, short] = await penalizeOnGpu({ ...small, penalty: 2 }, LOGITS, steps);
  expectClose(long, Float32Array.of(2, -8, 0, 0.5, 2, -1e30));
  expectClose(short, Float32Array.of(2, -8, 0, 1, 2, -1e30));
});

test('a penalty of 1 changes no bit, one below 1 favors what was said', async () => {
  const steps = [{ position: 5, nTokens: 1 }];
  const odd = Float32Array.of(1e-45, -0, Number.NaN, 3e38, -3e38, 1);
  const [same] = await penalizeOnGpu({ ...small, penalty: 1 }, odd, steps);
  expect([...new Uint32Array(same.buffer)]).toEqual([...new Uint32Array(odd.buffer)]);
  const [favored] = await penalizeOnGpu({ ...small, penalty: 0.5 }, LOGITS, steps);
  expectClose(favored, Float32Array.of(8, -2, 0, 2, 2, -1e30));
});

test('an id outside the vocabulary is passed over', async () => {
  const tokens = Uint32Array.of(6, 0xffffffff, 0);
  const [result] = await penalizeOnGpu({ ...small, tokens, penalty: 2 }, LOGITS, [{ position: 2, nTokens: 1 }]);
  expectClose(result, Float32Array.of(2, -4, 0, 1, 2, -1e30));
});
