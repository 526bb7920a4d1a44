import { expect, test } from 'vitest';
import { silu, swiglu } from '../../src/cpu/swiglu';

const close = (values: readonly number[]) => values.map((v) => expect.closeTo(v, 6));

test('silu is x / 2 near zero, x far above and 0 far below', () => {
  expect(silu(0)).toBe(0);
  expect(silu(1)).toBeCloseTo(0.7310585786, 9);
  expect(silu(100)).toBeCloseTo(100, 9);
  expect(silu(-100)).toBeCloseTo(0, 9);
  expect(silu(-1000)).toBeCloseTo(0, 9);
});

test('swiglu multiplies silu of the gate with up', () => {
  expect([...swiglu(Float32Array.of(1, -1, 0), Float32Array.of(2, 3, 9))]).toEqual(
    close([1.4621171573, -0.8068242642, 0]),
  );
});
