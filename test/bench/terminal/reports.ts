// Reports with made-up figures, for tables and pictures.

import type {
  AttentionRow,
  BenchReport,
  DecodeFigures,
  DecodeRow,
  Gaps,
  KernelTable,
  PrefillRow,
  Roofline,
} from '../../../bench/report';
import type { AttentionName } from '../../../src/attention/attention';

export const ROOFLINE: Roofline = {
  readGBps: 4000,
  fmaTflops: 50,
  bytes: 2e9,
  clock: 'gpu',
  read: [
    { workgroup: 256, work: 4, grid: 4224, value: 3900 },
    { workgroup: 512, work: 4, grid: 4224, value: 4000 },
  ],
  fma: [{ workgroup: 256, work: 512, grid: 4224, value: 50 }],
};

export const AROUND = {
  date: '2026-01-02T03:04:05.678Z',
  adapter: 'A GPU & more',
  browser: 'Chromium 1.2.3',
  can: { subgroupMinSize: 32, immediates: true, timestamps: true },
  features: ['subgroups', 'timestamp-query'],
  limits: { maxBufferSize: 1 << 30 },
  crossOriginIsolated: false,
  quick: false,
  interrupted: false,
};

/** Milliseconds at the first length; doubling the length doubles them. */
const SPEEDS: readonly [AttentionName, number][] = [
  ['eager', 0.04],
  ['flash_prefill', 0.02],
  ['split_kv_decode', 0.01],
];

function row(pass: AttentionRow['pass'], kvLen: number, name: AttentionName, ms: number, auto = false): AttentionRow {
  const rate = pass === 'prefill' ? { tflops: 5, gbps: null } : { tflops: null, gbps: 400 };
  return {
    shape: 'llama-3.2-1b',
    pass,
    nTokens: pass === 'prefill' ? kvLen : 1,
    kvLen,
    name,
    auto,
    parameters: { BLOCK_M: 64, BLOCK_N: 32 },
    measured: {
      ms,
      repeats: 100,
      clock: 'gpu',
      dispatches: 5,
      scratchBytes: 1_500_000,
      ...rate,
      fraction: 0.1,
      rotatedBytes: 256e6,
    },
    refused: null,
  };
}

export function attentionReport(lengths: readonly number[] = [128, 256, 512]): BenchReport {
  const passes = ['prefill', 'decode'] as const;
  const rows = passes.flatMap((pass) =>
    lengths.flatMap((length) => [
      ...SPEEDS.map(([name, ms]) => row(pass, length, name, (ms * length) / lengths[0])),
      row(pass, length, 'split_kv_decode', (0.01 * length) / lengths[0], true),
      { ...row(pass, length, 'cpu', 1), measured: null, refused: 'It is too slow.', parameters: {} },
    ]),
  );
  return { ...AROUND, suite: 'attention', kv: 'f16', roofline: ROOFLINE, rows };
}

const gaps = (ms: number): Gaps => ({ mean: ms, p50: 0.9 * ms, p95: 2 * ms, p99: 3 * ms, max: 4 * ms });

/** Reads 700 MB a token where the roofline is 4000 GB/s. */
function decodeFigures(ms: number, runAhead: number): DecodeFigures {
  return {
    tokensPerSecond: 1000 / ms,
    tbtMs: gaps(ms),
    gpuMs: { ...gaps(ms / 2), p50: ms / 2, p99: 0.6 * ms },
    cpuMsPerToken: 0.15,
    perToken: { dispatches: 83, submits: 1, syncs: 1.25, bytesRead: 4 },
    runAhead,
    gbps: 700 / ms,
    fraction: 700 / ms / 4000,
  };
}

export function decodeRow(context: number, runAhead: DecodeRow['runAhead'], ms: number): DecodeRow {
  const median = decodeFigures(ms, runAhead === 'auto' ? 12 : runAhead);
  return {
    shape: 'llama-3.2-1b',
    context,
    tokens: 512,
    runAhead,
    median,
    best: { ...median, tokensPerSecond: 1100 / ms },
    rounds: [1000 / ms],
    ttftMs: 25,
    attention: { prefill: 'flash_prefill', decode: 'split_kv_decode', reason: '' },
    step: { name: 'fused', reason: 'measured here', gain: 0.38, giveUps: 0 },
    activations: 'q8',
    bytesPerToken: { weights: 695e6, kv: 5e6 },
    gpuBytes: { weights: 700e6, kvCache: 33e6, activations: 12e6 },
    refused: null,
  };
}

export const REFUSED = { code: 'gpu-memory', message: 'The weights needs 5 bytes; the GPU refused it.' };

export const KERNELS: KernelTable = {
  shape: 'llama-3.2-1b',
  nTokens: 1,
  kvLen: 768,
  clock: 'gpu',
  rows: [
    { kind: 'gate_up', calls: 16, us: 25, bytes: 400e6, gbps: 1000, tops: 13, share: 0.8 },
    { kind: 'sample', calls: 1, us: 100, bytes: null, gbps: null, tops: null, share: 0.2 },
  ],
};

export function decodeReport(rows: DecodeRow[], kernels: KernelTable[] = []): BenchReport {
  return { ...AROUND, suite: 'decode', quant: 'q4', kv: 'f16', roofline: ROOFLINE, rows, kernels };
}

export function prefillReport(given: Partial<PrefillRow>[], kernels: KernelTable[] = []): BenchReport {
  const { shape, attention, activations, gpuBytes } = decodeRow(512, 'auto', 1);
  const row: PrefillRow = {
    shape,
    tokens: 512,
    best: { ttftMs: 20, tokensPerSecond: 25_600 },
    median: { ttftMs: 25, tokensPerSecond: 20_480 },
    rounds: [20, 25],
    gpuMs: 18,
    longestSubmitMs: 9,
    tflops: 60,
    fraction: 1.2,
    attention,
    activations,
    gpuBytes,
    refused: null,
  };
  const rows = given.map((each) => ({ ...row, ...each }));
  return { ...AROUND, suite: 'prefill', quant: 'q4', kv: 'f16', roofline: ROOFLINE, rows, kernels };
}
