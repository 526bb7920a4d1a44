// What this adapter can do at most, measured by two kernels that do nothing else.

import type { Roofline, RooflinePoint } from '../../report';
import type { Bench } from '../bench';
import { fma } from './fma';
import { readMemory } from './read_memory';

const best = (points: readonly RooflinePoint[]) => Math.max(...points.map((point) => point.value));

/** It comes first in every suite that compares with it: an idle GPU takes its first milliseconds at low clocks. */
export async function measureRoofline(bench: Bench): Promise<Roofline> {
  const { gpu, request } = bench;
  bench.say({ text: 'roofline: operations' });
  const operations = await fma(gpu, request.quick);
  bench.say({ text: `roofline: ${best(operations).toFixed(2)} TFLOP/s` });
  bench.say({ text: 'roofline: memory' });
  const { bytes, points } = await readMemory(gpu, request.quick);
  bench.say({ text: `roofline: ${best(points).toFixed(1)} GB/s` });
  const clock = gpu.can.timestamps ? 'gpu' : 'cpu';
  return { readGBps: best(points), fmaTflops: best(operations), bytes, clock, read: points, fma: operations };
}
