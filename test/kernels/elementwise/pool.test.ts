// pool against the textbook, with fewer quads than threads and more, in one pass and over several.

import { describe, expect, test } from 'vitest';
import { pool } from '../../../src/cpu/embedding';
import { rmsNorm } from '../../../src/cpu/rms_norm';
import { CommandList } from '../../../src/gpu/kernel';
import { createPool } from '../../../src/kernels/elementwise/pool';
import { assertClose } from '../../close';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

const EPS = 1e-3;

for (const without of PATHS) {
  describe(pathName(without), () => {
    for (const pooling of ['last', 'mean'] as const) {
      for (const [cols, passes] of [
        [32, [1]],
        [96, [3, 2]],
        [1056, [65]],
        [2304, [2, 1, 4]],
      ] as const) {
        test(`${pooling} of passes of ${passes.join(' and ')} tokens of ${cols}`, async () => {
          const gpu = await testGpu(without);
          const weight = randomArray(cols, 2);
          const kernel = await createPool(gpu, { cols, normEps: EPS, pooling });
          const out = gpu.upload('out', randomArray(cols + 4, 9)); // what a text before has left
          const rows: Float32Array[] = [];
          for (const [i, nTokens] of passes.entries()) {
            const x = randomArray(nTokens * cols, 3 + i, 3);
            const list = new CommandList(gpu);
            kernel.record(list, kernel.bind(gpu.upload('x', x), gpu.upload('weight', weight), out), nTokens);
            await list.run({ position: rows.length, nTokens });
            for (let t = 0; t < nTokens; t++) rows.push(rmsNorm(x.subarray(t * cols, (t + 1) * cols), weight, EPS));
          }
          const times = pooling === 'mean' ? rows.length : 1;
          const expected = [
            ...pool(rows, pooling).map((value) => times * value),
            ...randomArray(cols + 4, 9).slice(cols),
          ];
          assertClose(await readFloats(gpu, out, cols + 4), new Float32Array(expected), 1e-5); // and nothing past the end
          expect(gpu.failure).toBeNull();
        });
      }
    }
  });
}
