// `bench -- attention`: every sibling, prefill by prompt length and decode by cache length, at the head shapes of known
// models.

import type { AttentionShape } from '../../../src/attention/attention';
import { selectAttention } from '../../../src/attention/select';
import { VivaceError } from '../../../src/errors';
import type { AttentionFigures, AttentionRow, BenchRequest, BenchResult, Roofline, ShapeName } from '../../report';
import { headShape } from '../../shapes';
import type { Bench } from '../bench';
import { type MeasuredAttention, measureAttention } from '../measure/measure_attention';
import { measureRoofline } from '../measure/roofline';
import { coldPairs, kvBytes, openStation, type Station } from '../measure/station';

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
    ...headShape(stop.shapeName),
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
      station ??= await openStation(bench.gpu, shape, nTokens, nTokens > 1 ? 1 : coldPairs(shape, quick));
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

/** The selector's choice for `auto`; the name alone for the rest, because each sibling runs with its own defaults. */
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
  const measured = await measureAttention(bench, station, row.name, row.auto ? row.parameters : undefined);
  row.parameters = measured.parameters;
  return figures(row, station, measured, roofline);
}

/**
 * Operations of causal attention: 2 * headDim for q . k and as many for p * v, for each head and each key that a token
 * sees.
 */
function operations({ nHeads, headDim }: AttentionShape, nTokens: number): number {
  return 4 * headDim * nHeads * ((nTokens * (nTokens + 1)) / 2);
}

function figures(
  row: AttentionRow,
  station: Station,
  { parameters: _, ...measured }: MeasuredAttention,
  roofline: Roofline,
): AttentionFigures {
  const { ms } = measured;
  const { rotatedBytes } = station;
  if (row.pass === 'prefill') {
    const tflops = operations(station.shape, row.nTokens) / ms / 1e9;
    return { ...measured, tflops, gbps: null, fraction: tflops / roofline.fmaTflops, rotatedBytes };
  }
  const gbps = kvBytes(station.shape) / ms / 1e6;
  return { ...measured, tflops: null, gbps, fraction: gbps / roofline.readGBps, rotatedBytes };
}

function describe({ shape, pass, kvLen, name, auto, measured, refused }: AttentionRow): string {
  const what = `${shape}, ${pass} ${kvLen}, ${auto ? `auto: ${name}` : name}`;
  return `${what}: ${measured ? `${measured.ms.toFixed(4)} ms` : refused}`;
}
