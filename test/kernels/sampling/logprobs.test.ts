// The kernels of log probabilities against src/cpu/logprobs.ts. The draw writes the same parts as logprob_parts.

import { describe, expect, test } from 'vitest';
import { logprobs } from '../../../src/cpu/logprobs';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import { logitsBytes, maximaBytes } from '../../../src/kernels/sampling/logits_size';
import { createLogprobParts } from '../../../src/kernels/sampling/logprob_parts';
import { createLogprobs } from '../../../src/kernels/sampling/logprobs';
import { createMaxima } from '../../../src/kernels/sampling/maxima';
import { createSample, partsBytes } from '../../../src/kernels/sampling/sample';
import {
  entryWords,
  LOGPROBS_BYTES,
  LOGPROBS_RING,
  type Logprobs,
  MAX_LOGPROBS,
  readLogprobs,
} from '../../../src/sampling/logprobs';
import { GAVE_UP, NO_TOKEN, packSampling, SAMPLING_BYTES } from '../../../src/sampling/sampling';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { OFF } from '../../sampling/params';
import { normalLogits, seededRandom } from '../../sampling/statistics';

const CONTEXT = 64;
const CLOSE = 1e-5;

type Reported = (logits: Float32Array<ArrayBuffer>, id: number, k: number, position?: number) => Promise<Logprobs>;

const made = new Map<string, Promise<Reported>>();

/** Compiled once for each vocabulary and path. The logits are overwritten between both kernels, as penalties may do. */
function reporterFor(vocabSize: number, without: (typeof PATHS)[number] = []): Promise<Reported> {
  const key = `${vocabSize} ${without}`;
  const reporter = made.get(key) ?? createReporter(vocabSize, without);
  made.set(key, reporter);
  return reporter;
}

async function createReporter(vocabSize: number, without: (typeof PATHS)[number]): Promise<Reported> {
  const gpu = await testGpu(without);
  const [maximum, draw, half, whole] = await Promise.all([
    createMaxima(gpu, { vocabSize }),
    createSample(gpu, { vocabSize }),
    createLogprobParts(gpu, { vocabSize }),
    createLogprobs(gpu, { vocabSize, ring: LOGPROBS_RING, most: MAX_LOGPROBS }),
  ]);
  const scratch = (label: string, bytes: number) =>
    gpu.createBuffer(label, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  // What lies behind the last logit and the last maximum would win if it were read.
  const logitsBuffer = gpu.upload('logits', new Float32Array(logitsBytes(vocabSize) / 4).fill(1e38));
  const maxima = gpu.upload('maxima', new Uint32Array(maximaBytes(vocabSize) / 4).fill(0xfffffffe));
  const rawMaxima = gpu.upload('raw_maxima', new Uint32Array(maximaBytes(vocabSize) / 4).fill(0xfffffffe));
  const rawLogits = scratch('raw_logits', logitsBytes(vocabSize));
  const parts = scratch('parts', partsBytes(vocabSize));
  const sampling = gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST);
  const tokens = scratch('tokens', 4 * (CONTEXT + 1));
  const ring = scratch('ring', LOGPROBS_BYTES);
  const partsOfDraw = scratch('parts_of_draw', partsBytes(vocabSize));
  const drawn = scratch('drawn', 4 * (CONTEXT + 1));
  const status = scratch('status', 4);
  const before = new CommandList(gpu);
  maximum.record(before, maximum.bind(logitsBuffer, maxima));
  draw.record(before, draw.bind(logitsBuffer, maxima, sampling, drawn, status, partsOfDraw), true);
  half.record(before, half.bind(logitsBuffer, maxima, rawLogits, rawMaxima, parts));
  const after = new CommandList(gpu);
  whole.record(after, whole.bind(rawLogits, rawMaxima, sampling, tokens, parts, ring));
  return async (logits, id, k, position = 5) => {
    const untouched = new Uint32Array(LOGPROBS_BYTES / 4).fill(0xabababab);
    gpu.write(ring, untouched);
    gpu.write(logitsBuffer, logits);
    gpu.write(sampling, new Uint8Array(packSampling({ ...OFF, logprobs: k })));
    gpu.write(tokens, Uint32Array.of(id), 4 * position);
    const step = { position: position - 1, nTokens: 1 };
    before.run(step);
    gpu.write(logitsBuffer, new Float32Array(vocabSize).fill(7));
    gpu.write(maxima, new Uint32Array(maximaBytes(vocabSize) / 4).fill(0xf0000000));
    after.run(step);
    const partsRead = await Promise.all([parts, partsOfDraw].map((buffer) => gpu.read(buffer)));
    expect(new Uint32Array(partsRead[1])).toEqual(new Uint32Array(partsRead[0]));
    const words = new Uint32Array(await gpu.read(ring));
    expect(gpu.failure).toBeNull();
    const first = (position % LOGPROBS_RING) * entryWords(k);
    const entry = words.slice(first, first + entryWords(k));
    words.fill(0xabababab, first, first + entryWords(k));
    expect(words).toEqual(untouched);
    return readLogprobs(Uint32Array.of(id, ...entry), 1, k).logprobs[0];
  };
}

/** Finite numbers within CLOSE of one another, and more where they are large; infinities equal. */
function expectSame(found: Logprobs, wanted: Logprobs): void {
  const close = (value: number) => expect.closeTo(value, -Math.log10(2 * CLOSE * Math.max(1, Math.abs(value))));
  expect(found).toEqual({
    chosen: Number.isFinite(wanted.chosen) ? close(wanted.chosen) : wanted.chosen,
    top: wanted.top.map(({ id, logprob }) => ({ id, logprob: close(logprob) })),
  });
}

for (const without of PATHS) {
  describe(pathName(without), () => {
    const sizes = without.length === 0 ? [1, 19, 20, 31, 32, 33, 1023, 1024, 1025, 4096, 128256, 262145] : [4096];
    for (const vocabSize of sizes) {
      test(`log softmax and the likeliest, vocab=${vocabSize}`, async () => {
        const reported = await reporterFor(vocabSize, without);
        const random = seededRandom(vocabSize);
        for (const k of [0, 1, 5, 20]) {
          const logits = normalLogits(vocabSize, 3, random);
          const id = Math.floor(random() * vocabSize);
          expectSame(await reported(logits, id, k), logprobs(logits, id, k));
        }
      });
    }
  });
}

describe('edges', () => {
  const check = async (logits: Float32Array<ArrayBuffer>, id = 0, ks = [1, 5, 20]) => {
    const reported = await reporterFor(logits.length);
    for (const k of ks) expectSame(await reported(logits, id, k), logprobs(logits, id, k));
  };
  const all = (value: number, vocabSize = 4096) => new Float32Array(vocabSize).fill(value);

  test('ties go to the lower id: all equal, in a few groups, in the last ones', async () => {
    await check(all(0));
    await check(all(0, 128256), 128255);
    const logits = all(-3, 128256);
    for (const id of [128255, 128224, 128223, 70_000, 69_999, 1024, 1023, 40, 8]) logits[id] = 2;
    await check(logits, 69_999);
  });

  test('the best in one group, in one part, in one of each group', async () => {
    const random = seededRandom(4);
    for (const stride of [1, 3, 32, 33, 1024]) {
      const logits = normalLogits(128256, 1, random);
      for (let i = 0; i < 25; i++) logits[2050 + i * stride] = 9 + ((i * 7) % 25) / 10;
      await check(logits, 2050 + stride);
    }
  });

  test('-Infinity is never among the likeliest, and its log probability is -Infinity', async () => {
    const logits = all(Number.NEGATIVE_INFINITY);
    logits.set([1, 2, 0.5], 1500);
    logits[3000] = -3.4e38;
    await check(logits, 1500);
    await check(logits, 2);
    expect(await (await reporterFor(4096))(logits, 2, 5)).toMatchObject({
      chosen: Number.NEGATIVE_INFINITY,
      top: [{ id: 1501 }, { id: 1500 }, { id: 1502 }, { id: 3000 }],
    });
  });

  test('logits across the whole range of f32, and far from 0', async () => {
    await check(Float32Array.from({ length: 4096 }, (_, i) => (i % 2 ? -1 : 1) * 2 ** ((i % 250) - 125)));
    await check(Float32Array.from(normalLogits(4096, 3, seededRandom(5)), (logit) => logit - 90));
    await check(Float32Array.of(-0, 0, -1e-45, 1e-45), 1, [5]);
  });

  test('steps without a token leave an entry, whatever it says', async () => {
    const reported = await reporterFor(4096);
    const logits = normalLogits(4096, 3, seededRandom(6));
    for (const id of [NO_TOKEN, GAVE_UP]) {
      expect((await reported(logits, id, 5)).chosen).toBe(Number.NEGATIVE_INFINITY);
    }
    const wanted = logprobs(logits, 9, 5);
    logits[33] = Number.NaN;
    await reported(logits, NO_TOKEN, 5);
    logits.fill(Number.NEGATIVE_INFINITY);
    expect((await reported(logits, NO_TOKEN, 5)).top).toEqual([]);
    const healthy = normalLogits(4096, 3, seededRandom(6));
    expectSame(await reported(healthy, 9, 5), wanted);
  });

  test('each position has its entry of the ring', async () => {
    const reported = await reporterFor(4096);
    const logits = normalLogits(4096, 3, seededRandom(7));
    for (const position of [1, LOGPROBS_RING - 1, LOGPROBS_RING, LOGPROBS_RING + 1, CONTEXT]) {
      for (const k of [0, 3, 20]) expectSame(await reported(logits, 17, k, position), logprobs(logits, 17, k));
    }
  });
});
