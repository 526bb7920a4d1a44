// The maxima kernel against plain loops: the key of the largest logit of every 32, NaN and +Infinity above all.

import { expect, test } from 'vitest';
import { CommandList } from '../../../src/gpu/kernel';
import { logitsBytes, maximaBytes } from '../../../src/kernels/sampling/logits_size';
import { createMaxima } from '../../../src/kernels/sampling/maxima';
import { PATHS, pathName, testGpu } from '../../gpu/test_device';

import { normalLogits, seededRandom } from '../../sampling/statistics';

const UNTOUCHED = 0xabababab;

const NOT_FINITE = 0xffffffff;

/** Keys order as logits do; 0 where there is none. */
function key(logit: number): number {
  if (logit === Number.NEGATIVE_INFINITY) return 0;
  if (!Number.isFinite(logit)) return NOT_FINITE;
  const bits = new Uint32Array(Float32Array.of(logit === 0 ? 0 : logit).buffer)[0];
  return (bits < 0x80000000 ? bits + 0x80000000 : ~bits) >>> 0;
}

/** All words of the buffer, those past the last group included. */
async function maximaOnGpu(logits: Float32Array, without: (typeof PATHS)[number]): Promise<number[]> {
  const gpu = await testGpu(without);
  const vocabSize = logits.length;
  const kernel = await createMaxima(gpu, { vocabSize });
  const padded = new Float32Array(logitsBytes(vocabSize) / 4).fill(3e38);
  padded.set(logits);
  const maxima = gpu.upload('maxima', new Uint32Array(maximaBytes(vocabSize) / 4).fill(UNTOUCHED));
  const list = new CommandList(gpu);
  kernel.record(list, kernel.bind(gpu.upload('logits', padded), maxima));
  list.run({ position: 0, nTokens: 1 });
  const found = [...new Uint32Array(await gpu.read(maxima))];
  expect(gpu.failure).toBeNull();
  return found;
}

function expected(logits: Float32Array): number[] {
  const maxima = new Array<number>(maximaBytes(logits.length) / 4).fill(UNTOUCHED);
  for (let g = 0; 32 * g < logits.length; g++) {
    maxima[g] = Math.max(...[...logits.subarray(32 * g, 32 * g + 32)].map(key));
  }
  return maxima;
}

for (const without of PATHS) {
  for (const vocabSize of without.length === 0 ? [1, 31, 32, 33, 2049, 128256] : [33]) {
    test(`the largest key of every 32 logits, vocab=${vocabSize}, ${pathName(without)}`, async () => {
      const logits = normalLogits(vocabSize, 3, seededRandom(vocabSize));
      expect(await maximaOnGpu(logits, without)).toEqual(expected(logits));
    });
  }
}

test('NaN, infinities, zeros, the largest and the smallest f32; the last group is not full', async () => {
  const logits = new Float32Array(2049).fill(-3.4e38);
  const bits = new Uint32Array(logits.buffer);
  bits[5] = 0xffffffff; // a negative NaN with every bit set
  bits[31] = 0x7f800001; // a signalling one
  logits.fill(Number.NEGATIVE_INFINITY, 32, 64);
  logits.fill(-0, 64, 96);
  logits.set([-0, 0, -1e-45], 96);
  logits.set([1e-45, 3.4e38, 2e38], 128);
  logits[160] = Number.POSITIVE_INFINITY;
  logits[2048] = Number.NaN;
  const wanted = expected(logits);
  expect(wanted.slice(0, 6)).toEqual([NOT_FINITE, 0, 0x80000000, 0x80000000, key(3.4e38), NOT_FINITE]);
  expect(wanted[64]).toBe(NOT_FINITE);
  expect(await maximaOnGpu(logits, [])).toEqual(wanted);
});
