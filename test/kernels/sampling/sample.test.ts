// The sampling kernel against src/cpu/sample.ts: the same id for the same logits, parameters, position and seed.

import { describe, expect, test } from 'vitest';
import { sample, NO_TOKEN as TEXTBOOK_NO_TOKEN } from '../../../src/cpu/sample';
import { resolveGenerate } from '../../../src/engine/worker/request/generate_options';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { logitsBytes, maximaBytes, seenBytes } from '../../../src/kernels/sampling/logits_size';
import { createMaxima } from '../../../src/kernels/sampling/maxima';
import { createPenalties } from '../../../src/kernels/sampling/penalties';
import { createSample, partsBytes } from '../../../src/kernels/sampling/sample';
import { MAX } from '../../../src/model/config/reader';
import { GAVE_UP, NO_TOKEN, packSampling, SAMPLING_BYTES, type SamplingParams } from '../../../src/sampling/sampling';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { OFF } from '../../sampling/params';
import { normalLogits, seededRandom } from '../../sampling/statistics';

/** The defaults of the engine. */
const STANDARD = { ...OFF, ...resolveGenerate({ seed: OFF.seed }).draw };
const CONTEXT = 2048;
const UNTOUCHED = 0xfffffffd;

interface Draw {
  /** The position of the first id. */
  first: number;
  /** Ids to draw at positions first, first + 1, ... Default 1. */
  count?: number;
  /** Tokens of each step. Default 1. */
  nTokens?: number;
  /** Not 0: a step gave up. Default 0. */
  status?: number;
}

interface Sampler {
  draw(logits: Float32Array<ArrayBuffer>, params: SamplingParams, draw: Draw): Promise<number[]>;
  /** One decode step: the penalty for `context`, the maxima, then the draw of the token that follows. */
  drawPenalized(logits: Float32Array<ArrayBuffer>, params: SamplingParams, context: readonly number[]): Promise<number>;
}

const samplers = new Map<string, Promise<Sampler>>();

/** Compiled once for each vocabulary and path: that is most of a test's time. */
function samplerFor(vocabSize: number, without: (typeof PATHS)[number] = []): Promise<Sampler> {
  const key = `${vocabSize} ${without}`;
  const sampler = samplers.get(key) ?? createSampler(vocabSize, without);
  samplers.set(key, sampler);
  return sampler;
}

async function createSampler(vocabSize: number, without: (typeof PATHS)[number]): Promise<Sampler> {
  const gpu = await testGpu(without);
  const [penalty, maxima, kernel] = await Promise.all([
    createPenalties(gpu, { vocabSize }),
    createMaxima(gpu, { vocabSize }),
    createSample(gpu, { vocabSize }),
  ]);
  // What lies behind the last logit and the last maximum would win if it were read.
  const logitsBuffer = gpu.upload('logits', new Float32Array(logitsBytes(vocabSize) / 4).fill(1e38));
  const maximaBuffer = gpu.upload('maxima', new Uint32Array(maximaBytes(vocabSize) / 4).fill(UNTOUCHED));
  const samplingBuffer = gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  const tokens = gpu.upload('tokens', new Uint32Array(CONTEXT + 1));
  const status = gpu.upload('status', new Uint32Array(1));
  const parts = gpu.createBuffer('parts', partsBytes(vocabSize), GPU_STORAGE);
  const seen = gpu.createBuffer('seen', seenBytes(vocabSize), GPU_STORAGE);
  const list = new CommandList(gpu);
  const penalizedList = new CommandList(gpu);
  penalty.record(penalizedList, penalty.bind(logitsBuffer, seen, samplingBuffer, tokens));
  for (const each of [list, penalizedList]) {
    maxima.record(each, maxima.bind(logitsBuffer, maximaBuffer));
    kernel.record(each, kernel.bind(logitsBuffer, maximaBuffer, samplingBuffer, tokens, status, parts));
  }
  return {
    async draw(logits, params, { first, count = 1, nTokens = 1, status: gaveUp = 0 }) {
      gpu.write(status, Uint32Array.of(gaveUp));
      gpu.write(logitsBuffer, logits);
      gpu.write(samplingBuffer, new Uint8Array(packSampling(params)));
      gpu.write(tokens, new Uint32Array(CONTEXT + 1).fill(UNTOUCHED));
      for (let i = 0; i < count; i++) list.run({ position: first + i - nTokens, nTokens });
      const ids = [...new Uint32Array(await gpu.read(tokens))];
      expect(gpu.failure).toBeNull();
      expect(ids.findIndex((id) => id !== UNTOUCHED)).toBe(first);
      expect(ids.findLastIndex((id) => id !== UNTOUCHED)).toBe(first + count - 1);
      return ids.slice(first, first + count);
    },
    async drawPenalized(logits, params, context) {
      gpu.write(logitsBuffer, logits);
      gpu.write(samplingBuffer, new Uint8Array(packSampling(params)));
      gpu.write(tokens, Uint32Array.from(context));
      penalizedList.run({ position: context.length - 1, nTokens: 1 });
      const ids = new Uint32Array(await gpu.read(tokens));
      expect(gpu.failure).toBeNull();
      return ids[context.length];
    },
  };
}

async function expectSame(
  sampler: Sampler,
  logits: Float32Array<ArrayBuffer>,
  params: SamplingParams,
  draw: Draw,
): Promise<void> {
  const wanted = Array.from({ length: draw.count ?? 1 }, (_, i) => sample(logits, params, [], draw.first + i));
  expect(await sampler.draw(logits, params, draw), JSON.stringify(params)).toEqual(wanted);
}

const SETTINGS: Partial<SamplingParams>[] = [
  { temperature: 0 },
  {},
  { temperature: 0.01 },
  { temperature: 3, minP: 0.02 },
  { topK: 1 },
  { topK: 2 },
  { topK: 40 },
  { topK: 160 },
  { topK: 161, topP: 0.7 },
  { topK: 1000 },
  { topP: 0 },
  { topP: 0.5 },
  { topP: 0.95 },
  { topP: 0.999, temperature: 4 },
  { minP: 0.1 },
  { minP: 1 },
  { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 },
];

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const vocabSize of without.length === 0 ? [1, 31, 32, 33, 257, 4096, 128256] : [4096]) {
      test(`draws what the textbook draws, vocab=${vocabSize}`, async () => {
        const sampler = await samplerFor(vocabSize, without);
        const random = seededRandom(vocabSize);
        for (const [i, settings] of SETTINGS.entries()) {
          if (vocabSize > 10_000 && i % 2 === 1) continue; // every setting draws from as many below, in one thread
          const logits = normalLogits(vocabSize, 2.5, random);
          const params = { ...OFF, ...settings, seed: 1000 + i };
          await expectSame(sampler, logits, params, { first: 1 + i * 17, count: vocabSize > 10_000 ? 1 : 3 });
        }
      });
    }
  });
}

// 131,072 ids have as many maxima as the workgroup reads at once.
test('draws what the textbook draws, greedy, with the defaults and without filters, vocab=131073', async () => {
  const vocabSize = 131073;
  const sampler = await samplerFor(vocabSize);
  const logits = normalLogits(vocabSize, 2.5, seededRandom(vocabSize));
  for (const settings of [{ temperature: 0 }, STANDARD, {}]) {
    await expectSame(sampler, logits, { ...OFF, ...settings }, { first: 9, count: 3 });
  }
  logits[vocabSize - 1] = 30; // the last group is not full
  await expectSame(sampler, logits, { ...OFF, temperature: 0 }, { first: 1 });
  await expectSame(sampler, logits, { ...OFF, ...STANDARD }, { first: 1 });
});

describe('edges', () => {
  const vocabSize = 700;
  const all = (value: number) => new Float32Array(vocabSize).fill(value);

  async function expectSameAtAll(logits: Float32Array<ArrayBuffer>): Promise<void> {
    const sampler = await samplerFor(logits.length);
    for (const settings of SETTINGS) await expectSame(sampler, logits, { ...OFF, ...settings }, { first: 3 });
  }

  test('the id goes to position + n_tokens, drawn with that position', async () => {
    const logits = normalLogits(vocabSize, 1, seededRandom(5));
    await expectSame(await samplerFor(vocabSize), logits, OFF, { first: 53, nTokens: 33 });
  });

  test('no token where all logits are equal: 0, -1e30, huge; one that differs, wherever, is enough for one', async () => {
    const sampler = await samplerFor(vocabSize);
    for (const value of [0, -1e30, 3.4e38, -3.4e38]) {
      await expectSameAtAll(all(value));
      expect(await sampler.draw(all(value), OFF, { first: 1 })).toEqual([NO_TOKEN]);
    }
    for (const at of [0, 31, 300, vocabSize - 1]) {
      const logits = all(2);
      logits[at] = 1;
      await expectSame(sampler, logits, { ...OFF, temperature: 0 }, { first: 1 });
      expect(await sampler.draw(logits, { ...OFF, temperature: 0 }, { first: 1 })).toEqual([at === 0 ? 1 : 0]);
    }
  });

  test('ties at the k-th and at the last of top-p live together', async () => {
    await expectSameAtAll(Float32Array.from({ length: vocabSize }, (_, i) => -Math.floor(i / 3)));
    await expectSameAtAll(Float32Array.from({ length: vocabSize }, (_, i) => (i * 7) % 5));
    await expectSameAtAll(Float32Array.from({ length: vocabSize }, (_, i) => (i === 650 ? 1 : 0)));
  });

  test('-0 and +0 tie: the lowest id is greedy', async () => {
    const logits = all(-1);
    logits.set([-0, 0, -0], 300);
    expect(await (await samplerFor(vocabSize)).draw(logits, { ...OFF, temperature: 0 }, { first: 1 })).toEqual([300]);
    await expectSameAtAll(logits);
  });

  test('masked logits: all but one, all but three, -Infinity and -1e30', async () => {
    for (const masked of [Number.NEGATIVE_INFINITY, -1e30]) {
      const logits = all(masked);
      logits[699] = -4;
      await expectSameAtAll(logits);
      logits[0] = -5;
      logits[257] = -4.5;
      await expectSameAtAll(logits);
    }
  });

  test('masked logits: as many are left as top-k keeps, one less, one more, and around the length of the list', async () => {
    const sampler = await samplerFor(4096);
    for (const left of [39, 40, 41, 511, 512, 513]) {
      const random = normalLogits(4096, 2.5, seededRandom(left));
      const logits = random.map((logit, i) => ((i * 1001) % 4096 < left ? logit : Number.NEGATIVE_INFINITY));
      for (const settings of [{ topK: 40 }, { topP: 0.9 }, { topK: 600, topP: 0.7 }, STANDARD]) {
        await expectSame(sampler, logits, { ...OFF, ...settings }, { first: 5, count: 2 });
      }
    }
  });

  test('-Infinity is never drawn', async () => {
    const logits = normalLogits(vocabSize, 1, seededRandom(8));
    for (let i = 0; i < vocabSize; i += 2) logits[i] = Number.NEGATIVE_INFINITY;
    await expectSameAtAll(logits);
  });

  test('no token where one logit is NaN or +Infinity, wherever it stands, or where all are -Infinity', async () => {
    expect(TEXTBOOK_NO_TOKEN).toBe(NO_TOKEN);
    const sampler = await samplerFor(vocabSize);
    const few: Partial<SamplingParams>[] = [{ temperature: 0 }, {}, { topK: 40 }, { topP: 0.5 }, STANDARD];
    // +Infinity; NaN, quiet and signalling, positive and negative: by their bits, which no arithmetic has seen.
    for (const bits of [0x7f800000, 0x7fc00000, 0x7f800001, 0xffc00000, 0xff800001, 0xffffffff]) {
      for (const at of [0, 33, vocabSize - 1]) {
        const logits = normalLogits(vocabSize, 1, seededRandom(8));
        new Uint32Array(logits.buffer)[at] = bits;
        const settings = few[(at + bits) % few.length];
        expect(sample(logits, { ...OFF, ...settings }, [], 1)).toBe(NO_TOKEN);
        expect(await sampler.draw(logits, { ...OFF, ...settings }, { first: 1 })).toEqual([NO_TOKEN]);
      }
    }
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const settings of few) {
        expect(await sampler.draw(all(value), { ...OFF, ...settings }, { first: 1 })).toEqual([NO_TOKEN]);
      }
    }
  });

  test('no token where the penalty meets a NaN or +Infinity', async () => {
    const sampler = await samplerFor(vocabSize);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const logits = normalLogits(vocabSize, 1, seededRandom(8));
      logits[300] = value;
      for (const context of [[5], [300, 5]]) {
        expect(await sampler.drawPenalized(logits, { ...OFF, repetitionPenalty: 1.8 }, context)).toBe(NO_TOKEN);
      }
    }
  });

  test('a step that gave up, whatever its logits; none once the status is cleared', async () => {
    const sampler = await samplerFor(vocabSize);
    const logits = normalLogits(vocabSize, 1, seededRandom(8));
    const broken = logits.map((logit, i) => (i === 33 ? Number.NaN : logit));
    for (const settings of [{ temperature: 0 }, STANDARD, {}]) {
      const params = { ...OFF, ...settings };
      for (const status of [1, 0x80000000]) {
        for (const each of [logits, broken]) {
          expect(await sampler.draw(each, params, { first: 3, count: 2, status })).toEqual([GAVE_UP, GAVE_UP]);
        }
      }
      await expectSame(sampler, logits, params, { first: 3 });
    }
    expect([NO_TOKEN, GAVE_UP].every((id) => id > 2 ** 31)).toBe(true); // no id of a vocabulary
    expect(GAVE_UP).not.toBe(NO_TOKEN);
  });

  test('logits across the whole range of f32', async () => {
    const logits = Float32Array.from({ length: vocabSize }, (_, i) => (i % 2 ? -1 : 1) * 2 ** ((i % 250) - 125));
    await expectSameAtAll(logits);
  });

  test('more ties than the list holds: vocab=4096', async () => {
    const logits = Float32Array.from({ length: 4096 }, (_, i) => (i % 4 === 0 ? 2 : Math.sin(i)));
    await expectSameAtAll(logits);
  });

  test('every large logit in one group', async () => {
    const logits = normalLogits(4096, 1, seededRandom(10));
    for (let i = 0; i < 32; i++) logits[64 + i] = 12 + (i % 7) / 10;
    await expectSameAtAll(logits);
  });

  test('one large logit in each group, equal or not: a bound for the draw that is too high at first, too low at last', async () => {
    for (const step of [0, 1e-4]) {
      const logits = Float32Array.from({ length: 4096 }, (_, i) => (i % 32 === 9 ? 5 - i * step : -20));
      const sampler = await samplerFor(4096);
      await expectSame(sampler, logits, OFF, { first: 1, count: 60 });
      await expectSame(sampler, logits, { ...OFF, minP: 0.3 }, { first: 1, count: 3 });
    }
  });

  test('a long flat tail: thousands of equal logits at the threshold, vocab=128256', async () => {
    const sampler = await samplerFor(128256);
    const logits = Float32Array.from({ length: 128256 }, (_, i) =>
      i % 5000 === 7 ? 6 + i / 1e5 : i % 9 === 0 ? -1 : -1.5,
    );
    for (const settings of [{ topK: 40 }, { topP: 0.9 }, { topK: 20, topP: 0.5 }, { minP: 0.1 }, STANDARD]) {
      await expectSame(sampler, logits, { ...OFF, ...settings }, { first: 1, count: 2 });
    }
  });

  test('every large logit in one thread: ids that are equal modulo 256, vocab=128256', async () => {
    const logits = normalLogits(128256, 1, seededRandom(9));
    for (let i = 0; i < 100; i++) logits[256 * i + 3] = 10 + i / 50;
    await expectSameAtAll(logits);
  });

  for (const [vocab, count] of [
    [128256, 3],
    [MAX.vocab, 1],
  ]) {
    test(`a flat distribution over a large vocabulary keeps the mass that top-p asks for, vocab=${vocab}`, async () => {
      const wide = await samplerFor(vocab);
      const logits = Float32Array.from({ length: vocab }, (_, i) => -i / (vocab / 2));
      await expectSame(wide, logits, { ...OFF, topP: 0.9 }, { first: 1, count });
      await expectSame(wide, logits, { ...OFF, topP: 0.3, topK: vocab - 28_000 }, { first: 1, count });
    });
  }
});

test('a penalty changes the maxima, too: penalty, maxima and draw are the textbook in one', async () => {
  const sampler = await samplerFor(700);
  const logits = normalLogits(700, 2, seededRandom(21));
  const context = [...logits.keys()].sort((a, b) => logits[b] - logits[a]).slice(0, 40);
  for (const settings of SETTINGS) {
    const params = { ...OFF, ...settings, repetitionPenalty: 1.8 };
    expect(await sampler.drawPenalized(logits, params, context)).toBe(sample(logits, params, context));
  }
});

describe('many draws from one distribution', () => {
  for (const [name, settings] of [
    ['all off', {}],
    ['temperature=0.7, top_k=10, top_p=0.9, min_p=0.05', { temperature: 0.7, topK: 10, topP: 0.9, minP: 0.05 }],
  ] as const) {
    // test/cpu/sample.test.ts holds the textbook's draws to the probabilities.
    test(`150 of them are the textbook's: ${name}`, async () => {
      const logits = normalLogits(257, 1.5, seededRandom(3));
      await expectSame(await samplerFor(257), logits, { ...OFF, ...settings }, { first: 1, count: 150 });
    });
  }
});
