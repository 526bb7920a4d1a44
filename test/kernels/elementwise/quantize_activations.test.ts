// Activations in signed bytes against the textbook, with and without the norm in front.

import { describe, expect, test } from 'vitest';
import { quantizeActivations } from '../../../src/cpu/quantize_activations';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import { CommandList } from '../../../src/gpu/kernel';
import { createQuantizeActivations, xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { assertClose } from '../../close';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';

const EPS = 1e-5;

async function onGpu(
  without: (typeof PATHS)[number],
  x: Float32Array<ArrayBuffer>,
  nTokens: number,
  norm: Float32Array<ArrayBuffer> | null,
) {
  const gpu = await testGpu(without);
  const cols = x.length / nTokens;
  const kernel = await createQuantizeActivations(gpu, { cols, normEps: norm ? EPS : null });
  const words = xqBytes(nTokens, cols) / 4;
  const xq = gpu.upload('xq', new Uint32Array(words + 4).fill(7));
  const list = new CommandList(gpu);
  const group = kernel.bind(gpu.upload('x', x), gpu.upload('params', norm ?? new Float32Array(4)), xq);
  kernel.record(list, group, nTokens);
  list.run({ position: 0, nTokens });
  const bytes = await gpu.read(xq);
  expect([...new Uint32Array(bytes, words * 4)]).toEqual([7, 7, 7, 7]); // nothing past the end
  expect(gpu.failure).toBeNull();
  return { q: new Int8Array(bytes, 0, x.length), d: new Float32Array(bytes, x.length, x.length / 32) };
}

/** Each q is the integer nearest to n / d, where d is the textbook's; a tie may fall either way by a rounding error. */
function expectQuantized(actual: { q: Int8Array; d: Float32Array }, n: Float32Array): void {
  const { d } = quantizeActivations(n);
  assertClose(actual.d, d, 1e-5);
  let worst = 0;
  for (let i = 0; i < n.length; i++) {
    const step = d[Math.floor(i / 32)];
    const exact = step === 0 ? 0 : n[i] / step;
    worst = Math.max(worst, Math.abs(actual.q[i] - exact));
  }
  expect(worst).toBeLessThanOrEqual(0.5001);
}

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const [nTokens, cols] of [
      [1, 32],
      [3, 96],
      [2, 1024],
      [3, 1056], // past a quad of each thread
      [2, 4128], // past four
    ]) {
      test(`rows in signed bytes, ${nTokens} tokens, ${cols} columns`, async () => {
        const x = randomArray(nTokens * cols, 21, 3);
        expectQuantized(await onGpu(without, x, nTokens, null), x);
      });

      test(`normed rows in signed bytes, ${nTokens} tokens, ${cols} columns`, async () => {
        const x = randomArray(nTokens * cols, 22, 3).map((v, i) => v * (1 + Math.floor(i / cols)));
        const norm = randomArray(cols, 23).map((v) => v + 1);
        const n = Array.from({ length: nTokens }, (_, t) =>
          rmsNorm(x.subarray(t * cols, (t + 1) * cols), norm, EPS),
        ).flatMap((row) => [...row]);
        expectQuantized(await onGpu(without, x, nTokens, norm), Float32Array.from(n));
      });
    }

    test('halves go to the even neighbor; a block of zeros, or of almost zeros, is zero', async () => {
      const x = new Float32Array(96);
      x.set([127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5]);
      x[40] = 1e-35;
      x.set([-254, 1, 3], 64);
      const { q, d } = await onGpu(without, x, 1, null);
      expect([...q.slice(0, 9)]).toEqual([127, 0, 2, 2, 0, -2, -2, 126, 0]);
      expect([...q.slice(32, 64)]).toEqual(Array(32).fill(0));
      expect([...q.slice(64, 68)]).toEqual([-127, 0, 2, 0]);
      expect([...d]).toEqual([1, 0, 2]);
    });
  });
}
