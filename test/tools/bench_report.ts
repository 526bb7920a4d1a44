// A report of the attention suite with made-up figures, for tables and pictures.

import type { AttentionName } from '../../src/attention/attention';
import type { AttentionRow, BenchReport, Roofline } from '../bench/report';

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
