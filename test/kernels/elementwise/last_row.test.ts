// last_row, with fewer quads than threads and more, and rows of x shorter or longer than those of q.

import { expect, test } from 'vitest';
import { CommandList } from '../../../src/gpu/kernel';
import { createLastRow } from '../../../src/kernels/elementwise/last_row';
import { testGpu } from '../../gpu/test_device';
import { randomArray } from '../../random';
import { readFloats } from '../matrix';

for (const [xSize, qSize, nTokens] of [
  [32, 320, 3],
  [288, 64, 5],
  [64, 64, 1],
]) {
  test(`${nTokens} tokens, rows of ${xSize} and ${qSize}`, async () => {
    const gpu = await testGpu();
    const [x, q] = [randomArray(nTokens * xSize, 1, 4), randomArray(nTokens * qSize, 1, 5)];
    const [xs, qs] = [gpu.upload('x', x), gpu.upload('q', q)];
    const kernel = await createLastRow(gpu, { xSize, qSize });
    const list = new CommandList(gpu);
    kernel.record(list, kernel.bind(xs, qs));
    list.run({ position: 5, nTokens });
    const moved = (rows: Float32Array, size: number) => [...rows.slice(-size), ...rows.slice(size)];
    expect([...(await readFloats(gpu, xs, x.length))]).toEqual(moved(x, xSize));
    expect([...(await readFloats(gpu, qs, q.length))]).toEqual(moved(q, qSize));
    expect(gpu.failure).toBeNull();
  });
}
