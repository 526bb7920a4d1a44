// The linear layer against its formula.

import { expect, test } from 'vitest';
import { linear } from '../../src/cpu/linear';

const close = (values: readonly number[]) => values.map((v) => expect.closeTo(v, 6));

for (const nIn of [1, 3, 4, 5, 8, 33]) {
  test(`linear multiplies each row of the weight with x and adds the bias, n_in=${nIn}`, () => {
    const x = Float32Array.from({ length: nIn }, (_, i) => i + 1);
    const ones = new Array<number>(nIn).fill(1);
    const weight = Float32Array.from([...ones, ...ones.map((_, i) => (i === nIn - 1 ? -2 : 0))]);
    const sum = (nIn * (nIn + 1)) / 2;
    expect([...linear(x, weight, null)]).toEqual(close([sum, -2 * nIn]));
    expect([...linear(x, weight, Float32Array.of(0.5, 7))]).toEqual(close([sum + 0.5, -2 * nIn + 7]));
  });
}

test('linear refuses a weight or a bias that does not fit', () => {
  expect(() => linear(new Float32Array(3), new Float32Array(7), null)).toThrow(/7 numbers.*rows of 3/);
  expect(() => linear(new Float32Array(3), new Float32Array(6), new Float32Array(3))).toThrow(/3 numbers.*2 rows/);
});
