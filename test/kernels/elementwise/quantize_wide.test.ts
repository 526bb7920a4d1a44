// Activations in 16 bits against plain arithmetic: with and without a norm, a token of zeros, one that is no number.

import { expect, test } from 'vitest';
import { CommandList } from '../../../src/gpu/kernel';
import { wideBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { createQuantizeWide } from '../../../src/kernels/elementwise/quantize_wide';
import { hardwareGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';

const EPS = 1e-5;

/** v of every column and d, of one token as the kernel leaves it. */
function readToken(bytes: ArrayBuffer, nTokens: number, cols: number, token: number) {
  const [high, low] = [0, nTokens * cols].map((from) => new Int8Array(bytes, from + token * cols, cols));
  const d = new Float32Array(bytes, 2 * nTokens * cols, nTokens)[token];
  return { v: Array.from(high, (byte, k) => 256 * byte + low[k]), d };
}

for (const cols of [64, 1088]) {
  for (const normEps of [null, EPS]) {
    test(`v d is x, ${cols} columns, ${normEps === null ? 'as it is' : 'normed'}`, async () => {
      const gpu = await hardwareGpu();
      const nTokens = 4;
      const x = randomArray(nTokens * cols, 3, 2);
      x.fill(0, cols, 2 * cols);
      x[3 * cols + 5] = Number.NaN;
      const weight = randomArray(cols, 4).map((value) => value + 1.5);
      const [from, params] = [gpu.upload('x', x), gpu.upload('params', weight)];
      const xq = gpu.upload('xq', new Uint8Array(wideBytes(nTokens, cols)));
      const kernel = await createQuantizeWide(gpu, { cols, normEps });
      const list = new CommandList(gpu);
      kernel.record(list, kernel.bind(from, params, xq), nTokens);
      list.run({ position: 0, nTokens });
      const bytes = await gpu.read(xq);
      for (const token of [0, 2]) {
        const row = x.subarray(token * cols, (token + 1) * cols);
        const rms = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / cols + EPS);
        const expected = Array.from(row, (value, k) => (normEps === null ? value : (value * weight[k]) / rms));
        const { v, d } = readToken(bytes, nTokens, cols, token);
        const largest = Math.max(...expected.map(Math.abs));
        expect(Math.abs(d / (largest / 32512) - 1)).toBeLessThan(1e-5);
        for (const [k, value] of expected.entries())
          expect(Math.abs(v[k] * d - value)).toBeLessThan(0.51 * d + 1e-5 * Math.abs(value));
      }
      const zero = readToken(bytes, nTokens, cols, 1);
      expect(zero.d).toBe(0);
      expect(zero.v.every((value) => value === 0)).toBe(true);
      expect(readToken(bytes, nTokens, cols, 3).d).toBeNaN();
      expect(gpu.failure).toBeNull();
    });
  }
}
