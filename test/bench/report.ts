// What a bench is asked and what it answers, as both ends of the page see it and as --json prints it.

import type { AttentionName } from '../../src/attention/attention';
import type { TuneResult } from '../../src/attention/profile';
import type { RunMetrics } from '../../src/engine/engine';
import type { SHAPES } from '../../tools/lib/bench_shapes.mjs';

export type ShapeName = keyof typeof SHAPES;
export type SuiteName = 'roofline' | 'attention' | 'baseline' | 'tune';

export interface BenchRequest {
  suite: SuiteName;
  /** Short lengths, one shape, few repeats: for tests and slow adapters. */
  quick: boolean;
  shapes: ShapeName[];
  /** Siblings to measure; `auto` is what the selector picks at each length. */
  attention: (AttentionName | 'auto')[];
  /** Prompt and cache lengths; null: the suite's own. */
  lengths: number[] | null;
  kv: 'f16' | 'f32';
  /** Prompt tokens of the baseline's chat model. */
  context: number;
  /** Where the page finds the model of the baseline. */
  model: string;
}

/** One shape of a kernel that was tried for the roofline. `value`: GB/s or TFLOP/s. */
export interface RooflinePoint {
  workgroup: number;
  /** 16-byte loads of a thread in a turn, or turns of the chain of fused operations. */
  work: number;
  /** Workgroups of the dispatch. */
  grid: number;
  value: number;
}

export interface Roofline {
  /** Fastest read of memory from WGSL, GB/s (1e9 bytes). */
  readGBps: number;
  /** Fastest f32 fused multiply-add, TFLOP/s, each counted as two operations. */
  fmaTflops: number;
  /** Bytes that one read went over. */
  bytes: number;
  clock: 'gpu' | 'cpu';
  read: RooflinePoint[];
  fma: RooflinePoint[];
}

export interface AttentionRow {
  shape: ShapeName;
  pass: 'prefill' | 'decode';
  /** Tokens of the pass, and keys that its last token sees. */
  nTokens: number;
  kvLen: number;
  name: AttentionName;
  /** Chosen by the selector, not asked for by name. */
  auto: boolean;
  parameters: Record<string, number>;
  /** Null with the reason in `refused`. */
  measured: AttentionFigures | null;
  refused: string | null;
}

export interface AttentionFigures {
  /** Milliseconds of one layer's attention. */
  ms: number;
  repeats: number;
  clock: 'gpu' | 'cpu';
  dispatches: number;
  scratchBytes: number;
  /** Prefill: 4 * headDim operations for each head and each key seen. Decode: null. */
  tflops: number | null;
  /** Decode: bytes of K and V that must be read once. Prefill: null. */
  gbps: number | null;
  /** Of the roofline measured in the same run. */
  fraction: number;
  /** K and V buffers that the repeats rotated over, all together. */
  rotatedBytes: number;
}

/** What the page adds of its own to every answer. */
export interface Surroundings {
  /** When it began, ISO 8601. */
  date: string;
  adapter: string;
  can: { subgroupMinSize: number; immediates: boolean; timestamps: boolean };
  features: string[];
  limits: Record<string, number>;
  /** The figures are those of a test, not of a measurement. */
  quick: boolean;
  /** Stopped by the person who started it: rows are missing. */
  interrupted: boolean;
}

/** One row of the baseline: attention through the CPU, or on the GPU. What could not be measured is null, with the reason. */
export interface BaselineRow {
  title: 'CPU round trip' | 'GPU attention';
  chat: BaselineChat | null;
  chatRefused: string | null;
  alone: BaselineAlone | null;
  aloneRefused: string | null;
}

/** An answer of the chat model. */
export interface BaselineChat {
  /** Mean time between tokens, and all that the engine says of it. */
  avgTbtMs: number | null;
  metrics: RunMetrics;
  promptTokens: number;
  ids: number[];
}

/** Attention of one layer alone, one token. */
export interface BaselineAlone {
  ms: number;
  name: AttentionName;
  parameters: Record<string, number>;
  clock: 'gpu' | 'cpu';
}

export interface BaselineResult {
  roofline: Roofline;
  rows: BaselineRow[];
  /** By how many percent the GPU's figure is below the CPU's; null where one is missing. */
  lowerBy: { avgTbt: number | null; attention: number | null };
  /** Whether both answers were the same, token for token; null where one is missing. */
  sameIds: boolean | null;
  model: string | null;
  aloneShape: ShapeName;
  aloneKvLen: number;
}

export interface TuneTable {
  shape: ShapeName;
  /** Caches that repeats rotated over. */
  layers: number;
  results: TuneResult[];
  error: string | null;
}

export type BenchResult =
  | { suite: 'roofline'; roofline: Roofline }
  | { suite: 'attention'; kv: 'f16' | 'f32'; roofline: Roofline; rows: AttentionRow[] }
  | ({ suite: 'baseline' } & BaselineResult)
  | { suite: 'tune'; kv: 'f16' | 'f32'; roofline: Roofline; tables: TuneTable[] };

export type BenchReport = BenchResult & Surroundings & { browser: string };

/** From the page while it works. */
export interface BenchProgress {
  text: string;
  /** Rows done and to do, where that is known. */
  done?: number;
  total?: number;
}
