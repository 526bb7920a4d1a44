// What a bench is asked and what it answers, as both ends of the page see it and as --json prints it.

import type { AttentionName } from '../../src/attention/attention';
import type { TuneResult } from '../../src/attention/profile';
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
  /** Stopped by the person who started it: rows are missing. */
  interrupted: boolean;
}

/** One row of the baseline: attention on the CPU, or on the GPU. */
export interface BaselineRow {
  title: 'CPU round trip' | 'GPU attention';
  /** Mean time between the tokens of the chat model, and its percentiles as the engine gives them. */
  avgTbtMs: number | null;
  tbtMs: Record<string, number> | null;
  attention: { prefill: string; decode: string; reason: string } | null;
  /** Attention alone, one layer, one token. */
  attentionMs: number | null;
  attentionName: string | null;
  refused: string | null;
}

export interface BaselineResult {
  rows: BaselineRow[];
  /** Percent by which the GPU's figure is below the CPU's. */
  improvement: { avgTbt: number | null; attention: number | null };
  model: string;
  promptTokens: number | null;
  generatedTokens: number;
  attentionShape: ShapeName;
  attentionKvLen: number;
}

export interface TuneTable {
  shape: ShapeName;
  results: TuneResult[];
  error: string | null;
}

export type BenchResult =
  | { suite: 'roofline'; roofline: Roofline }
  | { suite: 'attention'; kv: 'f16' | 'f32'; roofline: Roofline; rows: AttentionRow[] }
  | ({ suite: 'baseline' } & BaselineResult)
  | { suite: 'tune'; kv: 'f16' | 'f32'; tables: TuneTable[] };

export type BenchReport = BenchResult & Surroundings & { browser: string };

/** From the page while it works. */
export interface BenchProgress {
  text: string;
  /** Rows done and to do, where that is known. */
  done?: number;
  total?: number;
}
