// The gated unit against its formula.

import { expect, test } from 'vitest';
import { gatedUnit, geluTanh, silu } from '../../src/cpu/gated_unit';

const close = (values: readonly number[]) => values.map((v) => expect.closeTo(v, 6));

test('silu is x / 2 near zero, x far above and 0 far below', () => {
  expect(silu(0)).toBe(0);
  expect(silu(1)).toBeCloseTo(0.7310585786, 9);
  expect(silu(100)).toBeCloseTo(100, 9);
  expect(silu(-100)).toBeCloseTo(0, 9);
  expect(silu(-1000)).toBeCloseTo(0, 9);
});

test('gelu_tanh has the values of torch.nn.functional.gelu(x, approximate="tanh")', () => {
  expect(geluTanh(0)).toBe(0);
  expect(geluTanh(1)).toBeCloseTo(0.8411919906, 9);
  expect(geluTanh(-1)).toBeCloseTo(-0.1588080094, 9);
  expect(geluTanh(3)).toBeCloseTo(2.9963627, 6);
  expect(geluTanh(-1000)).toBeCloseTo(0, 9);
  expect(geluTanh(1000)).toBeCloseTo(1000, 9);
});

test('a gated unit multiplies the activated gate with up', () => {
  const gate = Float32Array.of(1, -1, 0);
  const up = Float32Array.of(2, 3, 9);
  expect([...gatedUnit('silu', gate, up)]).toEqual(close([1.4621171573, -0.8068242642, 0]));
  expect([...gatedUnit('gelu_tanh', gate, up)]).toEqual(close([1.6823839812, -0.4764240282, 0]));
});
