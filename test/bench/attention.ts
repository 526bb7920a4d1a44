// `bench -- attention`: every sibling, prefill by prompt length and decode by cache length, at the head shapes of known models.

import type { AttentionKernel, AttentionShape } from '../../src/attention/attention';
import { checkAttention } from '../../src/attention/check';
import { createAttention } from '../../src/attention/create';
import { selectAttention } from '../../src/attention/select';
import { VivaceError } from '../../src/errors';
import { CommandList } from '../../src/gpu/kernel';
import { timePass } from '../../src/gpu/time_pass';
import { SHAPES } from '../../tools/lib/bench_shapes.mjs';
import type { Bench } from './bench';
import type { AttentionFigures, AttentionRow, BenchRequest, BenchResult, Roofline, ShapeName } from './report';
import { measureRoofline } from './roofline';
import { kvBytes, openStation, type Station } from './station';

const PROMPTS = [128, 512, 2048, 8192];
const CACHES = [128, 512, 2048, 8192, 32768];
const QUICK_PROMPTS = [32, 96];
const QUICK_CACHES = [64, 256];
/** The cpu sibling beyond these takes seconds a pass. */
const CPU_MOST = { prefill: 128, decode: 2048 };

/** One length of one shape: what is measured on the same buffers. */
interface Stop {
  shapeName: ShapeName;
  pass: 'prefill' | 'decode';
  length: number;
}

export async function attentionSuite(bench: Bench): Promise<BenchResult> {
  const { request } = bench;
  const roofline = await measureRoofline(bench);
  const stops = itinerary(request);
  const rows: AttentionRow[] = [];
  const total = stops.length * request.attention.length;
  for (const stop of stops) {
    if (bench.stopped) break;
    await measureStop(bench, stop, roofline, (row) => {
      rows.push(row);
      bench.say({ text: describe(row), done: rows.length, total });
    });
  }
  return { suite: 'attention', kv: request.kv, roofline, rows };
}

function itinerary({ shapes, lengths, quick }: BenchRequest): Stop[] {
  const prompts = lengths ?? (quick ? QUICK_PROMPTS : PROMPTS);
  const caches = lengths ?? (quick ? QUICK_CACHES : CACHES);
  return shapes.flatMap((shapeName) => [
    ...prompts.map((length): Stop => ({ shapeName, pass: 'prefill', length })),
    ...caches.map((length): Stop => ({ shapeName, pass: 'decode', length })),
  ]);
}

type Name = BenchRequest['attention'][number];

async function measureStop(
  bench: Bench,
  stop: Stop,
  roofline: Roofline,
  tell: (row: AttentionRow) => void,
): Promise<void> {
  const { kv, quick, attention } = bench.request;
  const nTokens = stop.pass === 'prefill' ? stop.length : 1;
  const shape: AttentionShape = {
    ...SHAPES[stop.shapeName],
    contextLength: stop.length,
    maxTokens: nTokens,
    kvType: kv,
  };
  let station: Station | null = null;
  for (const name of attention) {
    if (bench.stopped) break;
    const row = emptyRow(stop, name, nTokens);
    try {
      choose(bench, row, name, shape);
      station ??= await openStation(bench.gpu, shape, nTokens, quick);
      row.measured = await measureRow(bench, row, station, roofline);
    } catch (error) {
      if (!(error instanceof VivaceError)) throw error;
      row.refused = error.message;
    }
    tell(row);
    if (bench.gpu.failure) {
      station = null;
      await bench.renew();
    }
  }
  station?.destroy();
}

function emptyRow({ shapeName, pass, length }: Stop, name: Name, nTokens: number): AttentionRow {
  return {
    shape: shapeName,
    pass,
    nTokens,
    kvLen: length,
    name: name === 'auto' ? 'cpu' : name,
    auto: name === 'auto',
    parameters: {},
    measured: null,
    refused: null,
  };
}

/** For `auto`, the selector's choice; for the rest, the name alone: each sibling runs with its own defaults. */
function choose(bench: Bench, row: AttentionRow, name: Name, shape: AttentionShape): void {
  if (name !== 'auto') return;
  const { nTokens, kvLen } = row;
  const chosen = selectAttention({ nTokens, kvLen, shape, limits: bench.gpu.limits });
  row.name = chosen.name;
  row.parameters = chosen.parameters;
}

/** A reason not to measure what would only keep everyone waiting. */
function tooSlow({ name, pass, kvLen }: AttentionRow): VivaceError | null {
  if (name !== 'cpu' || kvLen <= CPU_MOST[pass]) return null;
  const most = `${CPU_MOST.prefill} prompt tokens and ${CPU_MOST.decode} keys of cache`;
  return new VivaceError('not-measured', `Not measured: the cpu sibling takes too long beyond ${most}.`);
}

async function measureRow(
  bench: Bench,
  row: AttentionRow,
  station: Station,
  roofline: Roofline,
): Promise<AttentionFigures> {
  const slow = tooSlow(row);
  if (slow) throw slow;
  const { gpu } = bench;
  const given = row.auto ? row.parameters : undefined;
  const kernel = await createAttention(gpu, row.name, station.shape, given);
  try {
    row.parameters = kernel.parameters;
    await refuseWrong(bench, row, station, kernel);
    return figures(row, station, kernel, await time(bench, station, kernel), roofline);
  } finally {
    kernel.destroy();
  }
}

/** No wrong kernel is timed: a small pass of this very kernel must agree with the textbook. */
async function refuseWrong(bench: Bench, row: AttentionRow, station: Station, kernel: AttentionKernel): Promise<void> {
  const { q, out, pairs, shape, nTokens } = station;
  const wrong = await checkAttention(bench.gpu, kernel, shape, { q, out, ...pairs[0] }, nTokens);
  if (wrong !== null) throw new VivaceError('attention-wrong', `Attention "${row.name}" is wrong here: ${wrong}.`);
}

interface Timed {
  ms: number;
  repeats: number;
  clock: 'gpu' | 'cpu';
  dispatches: number;
}

async function time(bench: Bench, station: Station, kernel: AttentionKernel): Promise<Timed> {
  const { gpu, request } = bench;
  const { nTokens, kvLen, q, out, pairs } = station;
  const bound = pairs.map(({ k, v }) => kernel.bind(q, k, v, out));
  const probe = new CommandList(gpu);
  bound[0].record(probe, nTokens);
  const options = request.quick
    ? { minMs: 1, rounds: 1, budgetMs: 100 }
    : { minMs: probe.needsHost ? 60 : 8, rounds: 5, minRepeats: probe.needsHost ? 1 : pairs.length, budgetMs: 1200 };
  const timed = await timePass(
    gpu,
    { position: kvLen - nTokens, nTokens },
    (list, repeat) => bound[repeat % bound.length].record(list, nTokens),
    options,
  );
  return { ...timed, dispatches: probe.commands.length };
}

/** Operations of causal attention: 2 * headDim for q . k and as many for p * v, for each head and each key that a token sees. */
function operations({ nHeads, headDim }: AttentionShape, nTokens: number): number {
  return 4 * headDim * nHeads * ((nTokens * (nTokens + 1)) / 2);
}

function figures(
  row: AttentionRow,
  station: Station,
  kernel: AttentionKernel,
  timed: Timed,
  roofline: Roofline,
): AttentionFigures {
  const prefill = row.pass === 'prefill';
  const tflops = prefill ? operations(station.shape, row.nTokens) / timed.ms / 1e9 : null;
  const gbps = prefill ? null : kvBytes(station.shape) / timed.ms / 1e6;
  return {
    ...timed,
    scratchBytes: kernel.scratchBytes,
    tflops,
    gbps,
    fraction: tflops === null ? (gbps ?? 0) / roofline.readGBps : tflops / roofline.fmaTflops,
    rotatedBytes: station.rotatedBytes,
  };
}

function describe({ shape, pass, kvLen, name, auto, measured, refused }: AttentionRow): string {
  const what = `${shape}, ${pass} ${kvLen}, ${auto ? `auto: ${name}` : name}`;
  return `${what}: ${measured ? `${measured.ms.toFixed(4)} ms` : refused}`;
}
