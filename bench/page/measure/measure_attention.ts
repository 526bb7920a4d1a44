// One sibling on one station: compiled, checked against the textbook, timed, freed.

import type { AttentionKernel, AttentionName } from '../../../src/attention/attention';
import { checkAttention } from '../../../src/attention/check';
import { createAttention } from '../../../src/attention/create';
import { VivaceError } from '../../../src/errors';
import { CommandList } from '../../../src/gpu/kernel';
import { timePass } from '../../../src/gpu/time_pass';
import type { Bench } from '../bench';
import type { Station } from './station';

export interface MeasuredAttention {
  parameters: Record<string, number>;
  /** The figures of one layer. */
  ms: number;
  repeats: number;
  clock: 'gpu' | 'cpu';
  dispatches: number;
  scratchBytes: number;
}

/** A row of the table may take about two seconds, two runs of a pass that is slower. */
const BUDGET_MS = 1200;
const ROUNDS = 5;
/** After the seconds in which buffers were filled, and between two siblings. */
const WARM_MS = { first: 800, next: 60 };
/** The duration of a round on each clock; the CPU sees completions up to 3 ms late. */
const MIN_MS = { gpu: 8, cpu: 60 };
const QUICK = { minMs: 1, rounds: 1, budgetMs: 100 };

/** Parameters left out take the sibling's defaults. @throws VivaceError when it cannot run here, or is wrong here */
export async function measureAttention(
  bench: Bench,
  station: Station,
  name: AttentionName,
  given?: Record<string, number>,
): Promise<MeasuredAttention> {
  const kernel = await createAttention(bench.gpu, name, station.shape, given);
  try {
    await refuseWrong(bench, station, kernel);
    const timed = await time(bench, station, kernel);
    return { ...timed, parameters: kernel.parameters, scratchBytes: kernel.scratchBytes };
  } finally {
    kernel.destroy();
  }
}

/** No wrong kernel is timed: a small pass of this very kernel must agree with the textbook. */
async function refuseWrong(bench: Bench, station: Station, kernel: AttentionKernel): Promise<void> {
  const { q, out, pairs, shape, nTokens } = station;
  const wrong = await checkAttention(bench.gpu, kernel, shape, { q, out, ...pairs[0] }, nTokens);
  if (wrong !== null) throw new VivaceError('attention-wrong', `Attention "${kernel.name}" is wrong here: ${wrong}.`);
}

async function time(bench: Bench, station: Station, kernel: AttentionKernel) {
  const { gpu, request } = bench;
  const { nTokens, kvLen, q, out, pairs } = station;
  const bound = pairs.map(({ k, v }) => kernel.bind(q, k, v, out, null));
  const probe = new CommandList(gpu);
  bound[0].record(probe, nTokens);
  const minMs = gpu.can.timestamps && !probe.needsHost ? MIN_MS.gpu : MIN_MS.cpu;
  const warmMs = station.isWarm ? WARM_MS.next : WARM_MS.first;
  station.isWarm = true;
  // A pass through the CPU finds nothing in a cache of the GPU.
  const minRepeats = probe.needsHost ? 1 : pairs.length;
  const timed = await timePass(
    gpu,
    { position: kvLen - nTokens, nTokens },
    (list, repeat) => bound[repeat % bound.length].record(list, nTokens),
    request.quick ? QUICK : { minMs, minRepeats, rounds: ROUNDS, budgetMs: BUDGET_MS, warmMs },
  );
  return { ...timed, dispatches: probe.commands.length };
}
