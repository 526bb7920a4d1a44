// The penalties kernel against penalize of src/cpu/sample.ts.

import { expect, test } from 'vitest';
import { penalize } from '../../../src/cpu/sample';
import { GPU_COPY_DST, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { seenBytes } from '../../../src/kernels/sampling/logits_size';
import { createPenalties } from '../../../src/kernels/sampling/penalties';
import { packSampling, SAMPLING_BYTES, type SamplingParams } from '../../../src/sampling/sampling';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { OFF } from '../../sampling/params';
import { normalLogits, seededRandom } from '../../sampling/statistics';

interface Case {
  without: (typeof PATHS)[number];
  vocabSize: number;
  tokens: Uint32Array<ArrayBuffer>;
  params: Partial<SamplingParams>;
}

/** Penalized logits at each step in turn, on one buffer of tokens and one of counts, from fresh logits each time. */
async function penalizeOnGpu(
  c: Case,
  logits: Float32Array<ArrayBuffer>,
  steps: { position: number; nTokens: number }[],
) {
  const gpu = await testGpu(c.without);
  const kernel = await createPenalties(gpu, { vocabSize: c.vocabSize });
  const buffer = gpu.upload('logits', logits);
  const sampling = gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  gpu.write(sampling, new Uint8Array(packSampling({ ...OFF, ...c.params })));
  const seen = gpu.upload('seen', new Uint8Array(seenBytes(c.vocabSize)));
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(buffer, seen, sampling, gpu.upload('tokens', c.tokens)));
  const results: Float32Array[] = [];
  for (const step of steps) {
    gpu.write(buffer, logits);
    list.run(step);
    results.push(new Float32Array(await gpu.read(buffer, logits.byteLength)));
  }
  expect(gpu.failure).toBeNull();
  expect(new Uint32Array(await gpu.read(seen)).every((word) => word === 0)).toBe(true);
  return results;
}

function expectClose(actual: Float32Array, wanted: Float32Array): void {
  const wrong = actual.findIndex((v, i) => !(Math.abs(v - wanted[i]) <= 1e-6 * (1 + Math.abs(wanted[i]))));
  expect(wrong === -1 ? 'equal' : `logit ${wrong} is ${actual[wrong]}, not ${wanted[wrong]}`).toBe('equal');
}

const ALL = { repetitionPenalty: 1.3, presencePenalty: 0.7, frequencyPenalty: -0.4 };
const KINDS: Partial<SamplingParams>[] = [
  { repetitionPenalty: 1.3 },
  { presencePenalty: 1.5 },
  { frequencyPenalty: 0.25 },
  { ...ALL, answerStart: 255 },
  { ...ALL, answerStart: 256 },
  { ...ALL, answerStart: 2000 },
];

for (const without of PATHS) {
  for (const vocabSize of [5, 31, 32, 33, 257, 128256]) {
    test(`penalizes each distinct token once, vocab=${vocabSize}, ${pathName(without)}`, async () => {
      const random = seededRandom(vocabSize);
      const logits = normalLogits(vocabSize, 3, random);
      const tokens = Uint32Array.from({ length: 1000 }, () => Math.floor(random() ** 2 * vocabSize));
      const steps = [1, 2, 255, 256, 257, 999].map((length) => ({ position: length - 1, nTokens: 1 }));
      for (const params of vocabSize === 257 ? KINDS : [KINDS[0], KINDS[3]]) {
        const results = await penalizeOnGpu({ without, vocabSize, tokens, params }, logits, steps);
        for (const [i, step] of steps.entries()) {
          const context = tokens.slice(0, step.position + 1);
          expectClose(results[i], penalize(logits, context, { ...OFF, ...params }));
        }
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
  const [long, short] = await penalizeOnGpu({ ...small, params: { repetitionPenalty: 2 } }, LOGITS, steps);
  expectClose(long, Float32Array.of(2, -8, 0, 0.5, 2, -1e30));
  expectClose(short, Float32Array.of(2, -8, 0, 1, 2, -1e30));
});

test('a rewind into the answer forgets what it takes back, and no step counts for the next', async () => {
  const params = { frequencyPenalty: 1, presencePenalty: 0.5, answerStart: 2 };
  const steps = [5, 3, 5].map((position) => ({ position, nTokens: 1 }));
  const [first, back, again] = await penalizeOnGpu({ ...small, params }, LOGITS, steps);
  expectClose(first, Float32Array.of(1.5, -4, -1.5, -0.5, 2, -1e30)); // 0 twice, 2 and 3 once
  expectClose(back, Float32Array.of(2.5, -4, -1.5, 1, 2, -1e30));
  expectClose(again, first);
});

test('a prompt of 10,000 equal tokens and an answer of as many: the count is exact', async () => {
  const tokens = new Uint32Array(20_000).fill(3);
  const params = { repetitionPenalty: 2, frequencyPenalty: 0.001, answerStart: 10_000 };
  const [result] = await penalizeOnGpu({ ...small, tokens, params }, LOGITS, [{ position: 19_999, nTokens: 1 }]);
  expectClose(result, Float32Array.of(4, -4, 0, 1 / 2 - 10, 2, -1e30));
});

test('logits that are not finite stay', async () => {
  const tokens = Uint32Array.of(0, 1, 2, 3);
  const logits = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1, 0, 0);
  const params = { repetitionPenalty: 2, frequencyPenalty: 1, presencePenalty: -2 };
  const [result] = await penalizeOnGpu({ ...small, tokens, params }, logits, [{ position: 3, nTokens: 1 }]);
  expect([...result]).toEqual([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5, 0, 0]);
});

test('without a repetition penalty the prompt changes no bit, one below 1 favors what was said', async () => {
  const steps = [{ position: 5, nTokens: 1 }];
  const odd = Float32Array.of(1e-45, -0, Number.NaN, 3e38, -3e38, 1);
  const [same] = await penalizeOnGpu({ ...small, params: { presencePenalty: 1, answerStart: 6 } }, odd, steps);
  expect([...new Uint32Array(same.buffer)]).toEqual([...new Uint32Array(odd.buffer)]);
  const [favored] = await penalizeOnGpu({ ...small, params: { repetitionPenalty: 0.5 } }, LOGITS, steps);
  expectClose(favored, Float32Array.of(8, -2, 0, 2, 2, -1e30));
});

test('an id outside the vocabulary is passed over', async () => {
  const tokens = Uint32Array.of(6, 0xffffffff, 0);
  const [result] = await penalizeOnGpu({ ...small, tokens, params: { repetitionPenalty: 2 } }, LOGITS, [
    { position: 2, nTokens: 1 },
  ]);
  expectClose(result, Float32Array.of(2, -4, 0, 1, 2, -1e30));
});
