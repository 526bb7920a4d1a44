// gated_unit against the textbook, with fewer quads than threads and more.

import { expect, test } from 'vitest';
import { type Activation, gatedUnit } from '../../../src/cpu/gated_unit';
import { CommandList } from '../../../src/gpu/kernel';
import { createGatedUnit } from '../../../src/kernels/elementwise/gated_unit';
import { assertClose } from '../../close';
import { testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

for (const [activation, intermediate, nTokens] of [
  ['silu', 32, 1],
  ['gelu_tanh', 288, 3],
] as [Activation, number, number][]) {
  test(`h of ${nTokens} tokens with ${intermediate} columns, ${activation}`, async () => {
    const gpu = await testGpu();
    const y = randomArray(2 * nTokens * intermediate, 1, 4);
    const expected = new Float32Array(nTokens * intermediate + 4).fill(7); // nothing past the end
    for (let t = 0; t < nTokens; t++) {
      const rows = [0, 1].map((i) => y.subarray((2 * t + i) * intermediate, (2 * t + i + 1) * intermediate));
      expected.set(gatedUnit(activation, rows[0], rows[1]), t * intermediate);
    }
    const h = gpu.upload('h', new Float32Array(expected.length).fill(7));
    const kernel = await createGatedUnit(gpu, { intermediate, activation });
    const list = new CommandList(gpu);
    kernel.record(list, kernel.bind(gpu.upload('y', y), h), nTokens);
    list.run({ position: 5, nTokens });
    assertClose(await readFloats(gpu, h, expected.length), expected, 1e-5);
    expect(gpu.failure).toBeNull();
  });
}
