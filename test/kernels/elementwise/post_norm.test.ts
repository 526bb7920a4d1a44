// post_norm against the textbook, with fewer quads than threads and more.

import { describe, expect, test } from 'vitest';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import { CommandList } from '../../../src/gpu/kernel';
import { createPostNorm } from '../../../src/kernels/elementwise/post_norm';
import { assertClose } from '../../close';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

const EPS = 1e-3;

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const [cols, nTokens, scale] of [
      [32, 1, 1],
      [96, 3, 0.5],
      [1056, 2, 1],
    ]) {
      test(`x += ${scale} n(y), ${nTokens} tokens of ${cols}`, async () => {
        const gpu = await testGpu(without);
        const y = randomArray(nTokens * cols, 1, 3);
        const weight = randomArray(cols, 2);
        const before = randomArray(nTokens * cols + 4, 3);
        const kernel = await createPostNorm(gpu, { cols, normEps: EPS, scale });
        const x = gpu.upload('x', before);
        const list = new CommandList(gpu);
        kernel.record(list, kernel.bind(gpu.upload('y', y), gpu.upload('weight', weight), x), nTokens);
        list.run({ position: 5, nTokens });
        const expected = before.slice();
        for (let t = 0; t < nTokens; t++) {
          const normed = rmsNorm(y.subarray(t * cols, (t + 1) * cols), weight, EPS);
          for (let i = 0; i < cols; i++) expected[t * cols + i] += scale * normed[i];
        }
        assertClose(await readFloats(gpu, x, expected.length), expected, 1e-5); // and nothing past the end
        expect(gpu.failure).toBeNull();
      });
    }
  });
}
