// Reference sampling: each filter by hand, draws by their statistics.

import { describe, expect, test } from 'vitest';
import {
  addBiases,
  argmax,
  gumbel,
  NO_TOKEN,
  pcg3d,
  penalize,
  type SampleParameters,
  sample,
  survivors,
} from '../../src/cpu/sample';
import { OFF } from '../sampling/params';
import { chiSquareZ, normalLogits, seededRandom } from '../sampling/statistics';

/** Logits with these probabilities, except for rounding. */
const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log);
const ids = (logits: Float32Array, parameters: Partial<SampleParameters>) =>
  survivors(logits, { ...OFF, ...parameters }).map((c) => c.id);

describe('greedy', () => {
  test('the largest logit wins, the lowest id of equals', () => {
    expect(argmax(Float32Array.of(1, 3, 2, 3))).toBe(1);
    expect(argmax(Float32Array.of(-0, 0))).toBe(0);
    expect(argmax(Float32Array.of(-1e30, -2e30))).toBe(0);
  });

  test('-Infinity never wins', () => {
    expect(argmax(Float32Array.of(Number.NEGATIVE_INFINITY, -5, -6))).toBe(1);
    expect(sample(Float32Array.of(Number.NEGATIVE_INFINITY, -5, Number.NEGATIVE_INFINITY), OFF, [])).toBe(1);
  });

  test('a NaN or +Infinity anywhere, or nothing but -Infinity, leaves no token', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const at of [0, 1, 2]) {
        const logits = Float32Array.of(3, -1, 2).fill(bad, at, at + 1);
        for (const parameters of [OFF, { ...OFF, temperature: 0 }, { ...OFF, repetitionPenalty: 2 }]) {
          expect(sample(logits, parameters, [at])).toBe(NO_TOKEN);
        }
      }
    }
    expect(sample(new Float32Array(3).fill(Number.NEGATIVE_INFINITY), OFF, [])).toBe(NO_TOKEN);
    expect(sample(new Float32Array(3), OFF, [])).toBe(NO_TOKEN);
    expect(sample(new Float32Array(1), OFF, [])).toBe(0);
  });
});

describe('biases', () => {
  const LOGITS = Float32Array.of(4, -4, 0, 6);

  test('are added, each to its token', () => {
    const biases = [
      { id: 0, bias: -100, forbiddenUntil: 0 },
      { id: 2, bias: 7, forbiddenUntil: 0 },
    ];
    expect([...addBiases(LOGITS, biases, 0)]).toEqual([-96, -4, 7, 6]);
    expect([...LOGITS]).toEqual([4, -4, 0, 6]);
  });

  test('forbid a token below a position, and leave a NaN or +Infinity to be told', () => {
    const biases = [{ id: 3, bias: 1, forbiddenUntil: 5 }];
    expect([...addBiases(LOGITS, biases, 4)]).toEqual([4, -4, 0, Number.NEGATIVE_INFINITY]);
    expect([...addBiases(LOGITS, biases, 5)]).toEqual([4, -4, 0, 7]);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(sample(Float32Array.of(4, -4, 0, bad), { ...OFF, biases }, [], 4)).toBe(NO_TOKEN);
    }
    const all = [0, 1, 2, 3].map((id) => ({ id, bias: 0, forbiddenUntil: 5 }));
    expect(sample(LOGITS, { ...OFF, biases: all }, [], 4)).toBe(NO_TOKEN);
  });

  test('come before the penalties', () => {
    const biases = [{ id: 1, bias: 10, forbiddenUntil: 0 }];
    // (-4 + 10) / 2 = 3; the other way round, -4 * 2 + 10 = 2.
    const greedy = { ...OFF, temperature: 0, repetitionPenalty: 2, biases };
    expect(sample(Float32Array.of(2.5, -4), greedy, [1])).toBe(1);
  });
});

describe('penalties', () => {
  const LOGITS = Float32Array.of(4, -4, 0, 6);

  test('repetition divides positive logits, multiplies the others, once for each distinct token', () => {
    const twice = { ...OFF, repetitionPenalty: 2 };
    expect([...penalize(LOGITS, [0, 1, 1, 0, 2], twice)]).toEqual([2, -8, 0, 6]);
    expect([...LOGITS]).toEqual([4, -4, 0, 6]);
    expect([...penalize(LOGITS, [0, 1], OFF)]).toEqual([4, -4, 0, 6]);
  });

  test('frequency counts the tokens of the answer, presence knows whether there is one, the prompt has no part', () => {
    const context = [0, 0, 3, 0, 1, 0, 1];
    const answer = { ...OFF, answerStart: 3 };
    expect([...penalize(LOGITS, context, { ...answer, frequencyPenalty: 0.5 })]).toEqual([3, -5, 0, 6]);
    expect([...penalize(LOGITS, context, { ...answer, presencePenalty: 0.5 })]).toEqual([3.5, -4.5, 0, 6]);
    expect([...penalize(LOGITS, context, { ...answer, presencePenalty: -1, frequencyPenalty: 2 })]).toEqual([
      1, -7, 0, 6,
    ]);
    expect([...penalize(LOGITS, [0, 0, 3], { ...answer, frequencyPenalty: 2 })]).toEqual([4, -4, 0, 6]);
  });

  test('repetition comes first, and counts the prompt', () => {
    const all = { ...OFF, repetitionPenalty: 2, presencePenalty: 1, frequencyPenalty: 0.25, answerStart: 2 };
    expect([...penalize(LOGITS, [0, 3, 0, 1, 0], all)]).toEqual([0.5, -9.25, 0, 3]);
  });

  test('come before the draw: they change the greedy token', () => {
    const greedy = { ...OFF, temperature: 0 };
    expect(sample(Float32Array.of(4, 3), { ...greedy, repetitionPenalty: 2 }, [0])).toBe(1);
    expect(sample(Float32Array.of(4, 3), { ...greedy, frequencyPenalty: 2 }, [0])).toBe(1);
  });
});

describe('survivors', () => {
  const logits = logitsOf(0.1, 0.4, 0.2, 0.3);

  test('all off: every token, most probable first', () => {
    const kept = survivors(logits, OFF);
    expect(kept.map((c) => c.id)).toEqual([1, 3, 2, 0]);
    expect(kept.map((c) => c.probability)).toEqual([0.4, 0.3, 0.2, 0.1].map((p) => expect.closeTo(p, 6)));
  });

  for (const [topK, wanted] of [
    [1, [1]],
    [2, [1, 3]],
    [4, [1, 3, 2, 0]],
    [9, [1, 3, 2, 0]],
  ] as const) {
    test(`top_k=${topK}`, () => expect(ids(logits, { topK })).toEqual(wanted));
  }

  for (const [topP, wanted] of [
    [0, [1]],
    [0.39, [1]],
    [0.41, [1, 3]],
    [0.69, [1, 3]],
    [0.71, [1, 3, 2]],
    [0.95, [1, 3, 2, 0]],
  ] as const) {
    test(`top_p=${topP}`, () => expect(ids(logits, { topP })).toEqual(wanted));
  }

  for (const [minP, wanted] of [
    [0.24, [1, 3, 2, 0]],
    [0.26, [1, 3, 2]],
    [0.74, [1, 3]],
    [1, [1]],
  ] as const) {
    test(`min_p=${minP}`, () => expect(ids(logits, { minP })).toEqual(wanted));
  }

  test('ties with the last kept are kept', () => {
    const tied = Float32Array.of(1, 2, 1, 1, 0);
    expect(ids(tied, { topK: 2 })).toEqual([1, 0, 2, 3]);
    expect(ids(tied, { topP: 0.5 })).toEqual([1, 0, 2, 3]);
    expect(ids(new Float32Array(5), { topK: 1 })).toEqual([0, 1, 2, 3, 4]);
    expect(ids(new Float32Array(5), { topP: 0.1, minP: 1 })).toEqual([0, 1, 2, 3, 4]);
  });

  test('top-p counts mass among the survivors of top-k', () => {
    // After top_k=2 the probabilities are 4/7 and 3/7.
    expect(ids(logits, { topK: 2, topP: 0.55 })).toEqual([1]);
    expect(ids(logits, { topK: 2, topP: 0.6 })).toEqual([1, 3]);
  });

  test('temperature comes before top-p', () => {
    expect(ids(logits, { temperature: 0.1, topP: 0.9 })).toEqual([1]);
    expect(ids(logits, { temperature: 100, topP: 0.9 })).toEqual([1, 3, 2, 0]);
  });
});

describe('random numbers', () => {
  test('pcg3d hashes a grid of 10 x 10 x 10 to distinct u32 words', () => {
    const seen = new Set<string>();
    for (let a = 0; a < 10; a++) {
      for (let b = 0; b < 10; b++) for (let c = 0; c < 10; c++) seen.add(pcg3d(a, b, c).join());
    }
    expect(seen.size).toBe(1000);
    for (const word of pcg3d(0xffffffff, 0xffffffff, 0xffffffff)) expect(word).toBe(word >>> 0);
  });

  test('pcg3d gives the words of a big-integer transcription of the paper', () => {
    const grid = [0, 1, 7, 128255, 131071, 0xffffffff];
    for (const a of grid) {
      for (const b of grid) for (const c of grid) expect(pcg3d(a, b, c)).toEqual(pcg3dBig(a, b, c));
    }
  });

  test('gumbel numbers have the mean and variance of the Gumbel distribution', () => {
    const n = 200_000;
    let sum = 0;
    let sumSquares = 0;
    for (let id = 0; id < n; id++) {
      const g = gumbel(id, 3, 9);
      sum += g;
      sumSquares += g * g;
    }
    const mean = sum / n;
    expect(mean).toBeCloseTo(0.5772, 1.5);
    expect(sumSquares / n - mean * mean).toBeCloseTo(Math.PI ** 2 / 6, 1.5);
  });
});

/** Jarzynski and Olano 2020, listing of pcg3d, modulo 2^32. */
function pcg3dBig(...v: readonly number[]): number[] {
  const u32 = (n: bigint) => n & 0xffffffffn;
  let [x, y, z] = v.map((n) => u32(BigInt(n) * 1664525n + 1013904223n));
  const mix = () => {
    x = u32(x + y * z);
    y = u32(y + z * x);
    z = u32(z + x * y);
  };
  mix();
  [x, y, z] = [x, y, z].map((n) => n ^ (n >> 16n));
  mix();
  return [x, y, z].map(Number);
}

describe('the draw', () => {
  test('depends on seed and position alone, and changes with both', () => {
    const logits = normalLogits(100, 1, seededRandom(1));
    const at = (seed: number, position: number) => sample(logits, { ...OFF, seed }, [], position);
    expect(at(1, 5)).toBe(at(1, 5));
    expect(new Set(Array.from({ length: 50 }, (_, i) => at(i, 5))).size).toBeGreaterThan(20);
    expect(new Set(Array.from({ length: 50 }, (_, i) => at(1, i))).size).toBeGreaterThan(20);
  });

  for (const [name, parameters] of [
    ['all off', {}],
    ['temperature=0.5', { temperature: 0.5 }],
    ['top_k=5', { topK: 5 }],
    ['top_p=0.8', { topP: 0.8 }],
    ['min_p=0.1, temperature=1.5', { minP: 0.1, temperature: 1.5 }],
  ] as const) {
    test(`follows the probabilities over positions and over seeds: ${name}`, () => {
      const logits = normalLogits(20, 1.5, seededRandom(2));
      const settings = { ...OFF, ...parameters };
      const probabilities = new Array<number>(20).fill(0);
      for (const c of survivors(logits, settings)) probabilities[c.id] = c.probability;
      const overPositions = new Array<number>(20).fill(0);
      const overSeeds = new Array<number>(20).fill(0);
      for (let i = 0; i < 20_000; i++) {
        overPositions[sample(logits, settings, [], i)]++;
        overSeeds[sample(logits, { ...settings, seed: i }, [], 11)]++;
      }
      expect(chiSquareZ(overPositions, probabilities)).toBeLessThan(4);
      expect(chiSquareZ(overSeeds, probabilities)).toBeLessThan(4);
    });
  }

  test('neighboring positions are independent: pairs follow the product of the probabilities', () => {
    const logits = logitsOf(0.5, 0.3, 0.2);
    const p = [0.5, 0.3, 0.2];
    const pairs = new Array<number>(9).fill(0);
    let before = sample(logits, OFF, [], 0);
    for (let i = 1; i < 20_000; i++) {
      const next = sample(logits, OFF, [], i);
      pairs[3 * before + next]++;
      before = next;
    }
    expect(
      chiSquareZ(
        pairs,
        p.flatMap((a) => p.map((b) => a * b)),
      ),
    ).toBeLessThan(4);
  });
});
