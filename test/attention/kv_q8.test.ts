// Keys and values in signed bytes: every sibling against the textbook on the same bytes, at the edges of its tiles, and
// the textbook on bytes against that on floats.

import { describe, expect, test } from 'vitest';
import type { AttentionName, AttentionShape } from '../../src/attention/attention';
import { kvLayerBytes, kvPlanes, kvRowBytes } from '../../src/attention/kv_layout';
import { roundedToBytes } from '../../src/cpu/quantize_activations';
import { PATHS } from '../gpu/test_device';
import { type AttentionCase, passOf, plainScores } from './cases';
import { attentionRef } from './oracle';
import { testParameters } from './suite';

/** Scales of an odd number of rows. Heads and groups that no tile divides; a row is three cells of 16 bytes. */
const SHAPE: AttentionShape = {
  nHeads: 15,
  nKvHeads: 3,
  headDim: 48,
  contextLength: 261,
  maxTokens: 66,
  kvType: 'q8',
  ...plainScores(48),
};
const DECODE = [1, 2, 16, 17, 127, 128, 129, 261];
const PREFILL: [position: number, nTokens: number][] = [
  [0, 2],
  [0, 13],
  [63, 2],
  [195, 66],
];

const decode = DECODE.map((kvLen): AttentionCase => {
  return { title: `kv_len=${kvLen} q8`, shape: SHAPE, position: kvLen - 1, nTokens: 1 };
});
/** Sums are rescaled more than once. All numbers are bytes times their scale. */
decode.push({
  title: 'scores that rise by half a power of two a key, q8',
  shape: SHAPE,
  position: 260,
  nTokens: 1,
  fill: { q: () => 1, k: (key) => 0.05 * key },
});
const prefill = PREFILL.map(([position, nTokens]): AttentionCase => {
  return { title: `position=${position} n_tokens=${nTokens} q8`, shape: SHAPE, position, nTokens };
});

const SIBLINGS: Partial<Record<AttentionName, [AttentionCase[], Record<string, number>]>> = {
  fused_decode: [decode, { WORKGROUP: 16 }],
  split_kv_decode: [decode, { SPLITS: 3, WORKGROUP: 32 }],
  flash_prefill: [prefill, { BLOCK_M: 32, BLOCK_N: 16 }],
};
for (const [name, [cases, parameters]] of Object.entries(SIBLINGS)) {
  for (const without of PATHS) testParameters(name as AttentionName, without, parameters, cases);
}
for (const name of ['eager', 'chunked', 'cpu'] as const) testParameters(name, [], {}, [decode[4], prefill[3]]);

/** Rows that no cells of 16 bytes fill, and rows of eight cells, which two lanes share. */
for (const [headDim, group] of [
  [40, 3],
  [128, 8],
] as const) {
  const shape = { ...SHAPE, nKvHeads: 1, nHeads: group, headDim, ...plainScores(headDim) };
  const title = `head_dim=${headDim} group=${group} q8`;
  testParameters('split_kv_decode', [], { SPLITS: 2 }, [{ title, shape, position: 199, nTokens: 1 }]);
}

describe('the layout', () => {
  test('values of all heads, then their scales, and no binding ends within what is read at once', () => {
    expect(kvPlanes(SHAPE, 261)).toEqual([
      { offset: 0, rowBytes: 48 },
      { offset: 3 * 261 * 48, rowBytes: 4 },
    ]);
    expect(kvLayerBytes(SHAPE, 261)).toBe(3 * 261 * 52 + 4);
    expect(kvLayerBytes(SHAPE, 260)).toBe(3 * 260 * 52);
    expect(kvPlanes({ ...SHAPE, kvType: 'f16' }, 261)).toEqual([{ offset: 0, rowBytes: 96 }]);
  });

  test.each([48, 64, 80, 96, 128, 256])('at head_dim %i a row takes at most 0.55 of the bytes of f16', (headDim) => {
    const share = kvRowBytes({ headDim, kvType: 'q8' }) / kvRowBytes({ headDim, kvType: 'f16' });
    expect(share).toBeLessThanOrEqual(0.55);
  });
});

test('an output on bytes is off by less than 1 % of the largest value', () => {
  const pass = passOf({ shape: SHAPE, position: 195, nTokens: 66 });
  const inBytes = (rows: Float32Array) => roundedToBytes(rows, SHAPE.headDim);
  const want = attentionRef(pass.q, pass.k, pass.v, SHAPE, pass);
  const got = attentionRef(pass.q, inBytes(pass.k), inBytes(pass.v), SHAPE, pass);
  const largest = pass.v.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const worst = got.reduce((most, x, i) => Math.max(most, Math.abs(x - want[i])), 0);
  expect(worst).toBeGreaterThan(0);
  expect(worst / largest).toBeLessThan(0.01);
});
