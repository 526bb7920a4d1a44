// Reference attention against its formula.

import { expect, test } from 'vitest';
import { attention } from '../../src/cpu/attention';

const random = (n: number, seed: number) =>
  Float32Array.from({ length: n }, (_, i) => Math.sin((i + 1) * 12.9898 + seed * 78.233) * 1.5);

/** One output vector by the formula. */
function naive(q: number[], keys: number[][], values: number[][], scale: number): number[] {
  const weights = keys.map((key) => Math.exp(scale * key.reduce((sum, k, d) => sum + k * q[d], 0)));
  const total = weights.reduce((a, b) => a + b);
  return q.map((_, d) => values.reduce((sum, v, s) => sum + (weights[s] / total) * v[d], 0));
}

test('one key: the output is its value, whatever the query', () => {
  const o = attention(Float32Array.of(3, 4), Float32Array.of(5, 6), Float32Array.of(7, 8), {
    nHeads: 1,
    nKvHeads: 1,
    headDim: 2,
    position: 0,
  });
  expect([...o]).toEqual([7, 8]);
});

test('equal scores average the values, a large score picks one without overflow', () => {
  const shape = { nHeads: 1, nKvHeads: 1, headDim: 1, position: 1 };
  const v = Float32Array.of(2, 4);
  expect(attention(Float32Array.of(1), Float32Array.of(1, 1), v, shape)[0]).toBe(3);
  expect(attention(Float32Array.of(1000), Float32Array.of(1, 2), v, shape)[0]).toBe(4);
  expect(attention(Float32Array.of(0), Float32Array.of(1, 2), v, { ...shape, scale: 5 })[0]).toBe(3);
});

test('keys past the position are not seen: kv rows 3, position 0', () => {
  const v = Float32Array.of(2, 40, 900);
  const k = Float32Array.of(0, 99, 99);
  const o = attention(Float32Array.of(1, 1), k, v, { nHeads: 1, nKvHeads: 1, headDim: 1, position: 0, nTokens: 2 });
  expect(o[0]).toBe(2);
  expect(o[1]).toBe(40);
});

for (const [nHeads, nKvHeads] of [
  [1, 1],
  [4, 1],
  [6, 2],
  [8, 8],
]) {
  test(`each group of query heads reads its own key head: n_heads=${nHeads}, n_kv_heads=${nKvHeads}`, () => {
    const [headDim, position, nTokens] = [8, 5, 3];
    const q = random(nTokens * nHeads * headDim, 1);
    const k = random((position + nTokens) * nKvHeads * headDim, 2);
    const v = random((position + nTokens) * nKvHeads * headDim, 3);
    const o = attention(q, k, v, { nHeads, nKvHeads, headDim, position, nTokens });
    for (let t = 0; t < nTokens; t++) {
      for (let h = 0; h < nHeads; h++) {
        const g = Math.floor((h * nKvHeads) / nHeads);
        const rows = (cache: Float32Array) =>
          Array.from({ length: position + t + 1 }, (_, s) => [
            ...cache.slice((s * nKvHeads + g) * headDim, (s * nKvHeads + g + 1) * headDim),
          ]);
        const at = (t * nHeads + h) * headDim;
        const wanted = naive([...q.slice(at, at + headDim)], rows(k), rows(v), 1 / Math.sqrt(headDim));
        for (const [d, w] of wanted.entries()) expect(o[at + d]).toBeCloseTo(w, 6);
      }
    }
  });
}

for (const window of [1, 2, 5, 6, 7]) {
  test(`a row sees the last keys alone: window=${window}, 6 keys before the second row`, () => {
    const [headDim, position, nTokens] = [4, 5, 2];
    const shape = { nHeads: 2, nKvHeads: 1, headDim, position, nTokens };
    const q = random(nTokens * 2 * headDim, 1);
    const k = random((position + nTokens) * headDim, 2);
    const v = random((position + nTokens) * headDim, 3);
    const o = attention(q, k, v, { ...shape, window });
    for (let t = 0; t < nTokens; t++) {
      const kvLen = position + t + 1;
      const seen = (cache: Float32Array) => cache.slice(Math.max(0, kvLen - window) * headDim, kvLen * headDim);
      const row = q.slice(t * 2 * headDim, (t + 1) * 2 * headDim);
      const alone = { ...shape, nTokens: 1, position: Math.min(kvLen, window) - 1 };
      const wanted = attention(row, seen(k), seen(v), alone);
      expect([...o.slice(t * 2 * headDim, (t + 1) * 2 * headDim)]).toEqual([...wanted]);
    }
  });
}

test('a soft cap bends scores after scaling: 3 tanh(score / 3)', () => {
  const shape = { nHeads: 1, nKvHeads: 1, headDim: 1, position: 1, scale: 2, softcap: 3 };
  const o = attention(Float32Array.of(1), Float32Array.of(1, 50), Float32Array.of(2, 4), shape)[0];
  const p = 1 / (1 + Math.exp(3 * Math.tanh(2 / 3) - 3));
  expect(o).toBeCloseTo(4 * p + 2 * (1 - p), 6);
});
