// What a bench is asked and what it answers, as both ends of the page see it and as --json prints it.

import type { AttentionName } from '../src/attention/attention';
import type { KvType } from '../src/attention/kv_layout';
import type {
  ActivationType,
  AttentionChoice,
  GenerateOptions,
  PerToken,
  RunMetrics,
  StepChoice,
  TbtSummary,
} from '../src/engine/protocol';
import type { Arithmetic } from '../src/model/layers/arithmetic';
import type { StepAsked } from '../src/model/step/step_choice';
import type { AttentionResult, Race } from '../src/tune/results';
import type { Quality } from '../test/engine/quality/quality';
import type { MODELS } from './shapes';

export type ShapeName = keyof typeof MODELS;
export type SuiteName =
  | 'roofline'
  | 'attention'
  | 'baseline'
  | 'tune'
  | 'decode'
  | 'prefill'
  | 'quality'
  | 'step'
  | 'sdk'
  | 'race'
  | 'matrices'
  | 'kv';
export type Quant = 'q4' | 'q8' | 'q4_k' | 'q5_k' | 'q6_k' | 'f16';

export interface BenchRequest {
  suite: SuiteName;
  /** Short lengths, one shape, few repeats: for tests and slow adapters. */
  quick: boolean;
  shapes: ShapeName[];
  /** Siblings to measure; `auto` is what the selector picks at each length. */
  attention: (AttentionName | 'auto')[];
  /** Prompt and cache lengths; null: the suite's own. */
  lengths: number[] | null;
  kv: KvType;
  /** Prompt tokens of the baseline's chat model, and those before the first decode step. */
  context: number;
  /** The storage format of the matrices of decode and prefill. */
  quant: Quant;
  /** Decode steps of a round; most tokens of a story or of an answer. */
  tokens: number;
  runAhead: 'auto' | number;
  activations: 'auto' | 'f32' | 'q8';
  /** The half of a tuning that runs, or null for both. */
  only: 'attention' | 'products' | null;
  step: StepAsked;
  /** Options of answers that decode measures beside greedy ones. Empty: greedy ones alone. */
  answer: GenerateOptions;
  /** Decode answers inside a JSON schema, too. */
  constrained: boolean;
  /** Products are tuned as a first load does. */
  tuned: boolean;
  /** Decode by run-ahead, then by context. */
  sweep: boolean;
  /** Answers measured for a row of decode, prefill or sdk. */
  rounds: number;
  /** Fused steps of each run of the suite `step`. */
  steps: number;
  /** False where the suite `step` runs the model at `model`. */
  madeUp: boolean;
  /** The URL of the model of baseline, quality, step and sdk. */
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
  /** The fraction of the roofline measured in the same run. */
  fraction: number;
  /** K and V buffers that the repeats rotated over, all together. */
  rotatedBytes: number;
}

/** The part of every report that the page adds. */
export interface Surroundings {
  /** The start of the run, ISO 8601. */
  date: string;
  adapter: string;
  can: { subgroupMinSize: number; immediates: boolean; timestamps: boolean };
  features: string[];
  limits: Record<string, number>;
  /** The page's clock has steps of 5 microseconds then, else of 100. */
  crossOriginIsolated: boolean;
  /** The figures are those of a test, not of a measurement. */
  quick: boolean;
  /** Stopped by the person who started it: rows are missing. */
  interrupted: boolean;
}

/**
 * One row of the baseline: attention through the CPU, or on the GPU. What could not be measured is null, with the
 * reason.
 */
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
  /** The percentage by which the GPU's figure is below the CPU's; null where one is missing. */
  lowerBy: { avgTbt: number | null; attention: number | null };
  /** True when both answers were the same, token for token; null where one is missing. */
  sameIds: boolean | null;
  model: string | null;
  aloneShape: ShapeName;
  aloneKvLen: number;
}

export interface TuneTable {
  shape: ShapeName;
  /** Caches that repeats rotated over. */
  layers: number;
  results: AttentionResult[];
  error: string | null;
}

/** A typed error, in place of figures. */
export interface Refusal {
  code: string;
  message: string;
}

/** Bytes of GPU memory that a model asks for, known before anything is allocated. */
export interface ModelBytes {
  weights: number;
  kvCache: number;
  activations: number;
}

/** Milliseconds, nearest rank. */
export type Gaps = Pick<TbtSummary, 'mean' | 'p50' | 'p95' | 'p99' | 'max'>;

/** One answer of a decode row. */
export interface DecodeFigures {
  /** Tokens after the first by the time between first and last. */
  tokensPerSecond: number;
  /** Between arrivals in the worker, bursts not smoothed. */
  tbtMs: Gaps;
  /** The GPU's own time of each step; null where it has no clock. */
  gpuMs: Gaps | null;
  /** The time that the worker spends in recording and submitting a step. */
  cpuMsPerToken: number;
  perToken: PerToken | null;
  /** Steps in flight at the end. */
  runAhead: number;
  /** Bytes of a token by its time, and that by the roofline of the same run. */
  gbps: number;
  fraction: number;
}

export interface DecodeRow {
  shape: ShapeName;
  /** Prompt tokens, and decode steps after them. */
  context: number;
  tokens: number;
  /** The asked value. */
  runAhead: 'auto' | number;
  /** Options of the answers; greedy without any. */
  answer?: GenerateOptions;
  /** The best round by tokens per second; null with the reason in `refused`. */
  best: DecodeFigures | null;
  median: DecodeFigures | null;
  /** Tokens per second of every round, in order. */
  rounds: number[];
  /**
   * Tokens per second of the median round in each browser, where several ran; all else is of the browser in the middle.
   */
  browsers?: number[];
  /** The shortest of the answers that ran the whole prompt. */
  ttftMs: number | null;
  attention: AttentionChoice | null;
  /** Give-ups are those of all rounds. */
  step: StepChoice | null;
  activations: ActivationType | null;
  /**
   * The bytes that a step has to read once: matrices with their scales, one row of the embedding, and keys and values
   * at mid-run.
   */
  bytesPerToken: { weights: number; kv: number };
  gpuBytes: ModelBytes;
  refused: Refusal | null;
}

/** One kind of dispatch, all layers of it, alone in a pass: its sum over the kinds is no step time. */
export interface KernelRow {
  kind: string;
  /** Dispatches of a step. */
  calls: number;
  /** Microseconds of one. */
  us: number;
  /** Bytes of weights, or of keys and values, in a step; null where the kind reads neither. */
  bytes: number | null;
  gbps: number | null;
  /** Operations of a product a second, in millions of millions; null where the kind is no product. */
  tops: number | null;
  /** The fraction of the sum over all kinds. */
  share: number;
}

/** The dispatches of one pass by kind: `nTokens` tokens, the last of which sees `kvLen` keys. */
export interface KernelTable {
  shape: ShapeName;
  nTokens: number;
  kvLen: number;
  clock: 'gpu' | 'cpu';
  rows: KernelRow[];
}

/** One prompt length. Times in milliseconds. */
export interface PrefillRow {
  shape: ShapeName;
  tokens: number;
  /** The round with the shortest time to the first token, in the worker; null with the reason in `refused`. */
  best: PrefillFigures | null;
  median: PrefillFigures | null;
  /** Time to the first token of every round, in order. */
  rounds: number[];
  /**
   * Tokens per second of the median round in each browser, where several ran; all else is of the browser in the middle.
   */
  browsers?: number[];
  /** The time of all passes by the GPU's clock, measured apart, and of the longest of them, which is one submit. */
  gpuMs: number | null;
  longestSubmitMs: number | null;
  /** Operations of the products and of attention by `gpuMs`, else by the best time. */
  tflops: number | null;
  /** The rate divided by the f32 rate of the roofline, which integer products may pass. */
  fraction: number | null;
  attention: AttentionChoice | null;
  activations: ActivationType | null;
  gpuBytes: ModelBytes;
  refused: Refusal | null;
}

export interface PrefillFigures {
  ttftMs: number;
  tokensPerSecond: number;
}

/** Quantized activations (measured) against f32 (reference) on the same weights. */
export interface QualityRow extends Omit<Quality, 'told'> {
  weights: 'q8' | 'q4';
  stories: number;
  /** How the measured steps ran. */
  step: StepChoice;
}

/** Fused steps, one after another. */
export interface StepRun {
  steps: number;
  /** False where give-ups turned the fused step off. */
  stayedFused: boolean;
  tokensPerSecond: number;
  tbtMs: Gaps;
  giveUps: number;
}

/** What the page beside did. */
export interface Neighbor {
  submits: number;
  /** The GPU's work of a submit, measured before the page that it disturbs was there or idle. */
  submitMs: number;
  ranMs: number;
  /** Why its own device failed, or null. */
  lost: string | null;
}

/** Workgroups of one size that wait for one another. */
export interface LaunchProbe {
  threads: number;
  /** Of workgroup memory. */
  bytes: number;
  /** Workgroups that ran at once. */
  resident: number;
  /** Microseconds of a hand-over among so many; null where some gave up waiting. */
  rounds: { groups: number; us: number }[] | null;
  /** Time of the probe. */
  ms: number;
}

/** Greedy texts two ways. */
export interface Agreement {
  texts: number;
  /** Texts that are the same token for token. */
  agreed: number;
  /** The first token of each text that differs, from 0; null where none does. */
  firsts: (number | null)[];
  giveUps: number;
}

/** The fused step of one model. What was not measured is null, with the reason in `refused`. */
export interface StepRow {
  model: string;
  launch: { groups: number; threads: number } | null;
  alone: StepRun | null;
  /** The same beside a page that keeps the GPU busy. */
  beside: StepRun | null;
  /** True where both runs brought the same ids. */
  sameIds: boolean | null;
  neighbor: Neighbor | null;
  fusedPlain: Agreement | null;
  /** Plain steps on quantized activations, and f32. */
  plainExact: Agreement | null;
  /** |fused - plain| / |plain| of x and of the logits, of one step after so many tokens. */
  distance: { tokens: number; x: number; logits: number } | null;
  /** `device-lost` where the GPU was lost. */
  refused: Refusal | null;
}

/** One answer as a client read it. */
export interface SdkAnswer {
  tokens: number;
  /** Chunks with text; null for events. */
  chunks: number | null;
  /** From the request to the end. */
  ms: number;
  /** Time that the page's main thread spent in tasks meanwhile. */
  taskMs: number;
}

/** One way to read an answer. */
export interface SdkRow {
  reader: string;
  /** In order; those of several browsers one after another. */
  answers: SdkAnswer[];
}

/** One race of signed bytes against f32 at the shape of a model. */
export interface RaceRow {
  shape: ShapeName;
  /** Null with the reason in `refused`. */
  race: Race | null;
  /** What a load would choose: where the fused step cannot run, and where it may. */
  plain: Arithmetic | null;
  fused: Arithmetic | null;
  /** The whole race, compiling included. */
  ms: number;
  refused: string | null;
}

/** One product on subgroup matrices, beside matmul_q8. */
export interface MatricesRow {
  name: string;
  rows: number;
  cols: number;
  nTokens: number;
  tileRows: number;
  plain: MatricesFigures;
  matrices: MatricesFigures;
}

interface MatricesFigures {
  /** The largest difference from the textbook, as a share of the root of the sum of squares of the products. */
  error: number;
  /** Null where an edge of the tiles is checked. */
  ms: number | null;
}

/** Two chats in turns on one cache. Times in milliseconds, medians but for the copies' means. */
export interface KvFigures {
  /** Of one parked chat. */
  bytes: number;
  parkMs: number;
  restoreMs: number;
  /** To the first token of a chat that is new, that comes back, and that never left. */
  coldMs: number;
  backMs: number;
  liveMs: number;
  /** Prompt tokens that were reused when the chat came back. */
  cachedTokens: number;
  /** Null where this browser stores nothing. */
  stored: StoredFigures | null;
  /** Of requests that are answered at once. */
  atOnce: AtOnce[];
}

/** Requests at once, and the tokens a second of all together while all of them decode. */
export interface AtOnce {
  requests: number;
  tokensPerSecond: number;
  /** Dispatches of a step. */
  dispatches: number;
  /** The GPU's own time of a step (p50), from another run: a clock costs some of it. Null without a clock. */
  gpuMs: number | null;
}

/** A prompt that an engine before has written to storage. */
export interface StoredFigures {
  bytes: number;
  writeMs: number;
  /** To the first token: computed, and from storage. */
  coldMs: number;
  ttftMs: number;
  /** Prompt tokens that came from storage. 0 where computing is faster. */
  tokens: number;
}

export interface KvRow {
  shape: ShapeName;
  /** Of each chat's prompt. */
  tokens: number;
  measured: KvFigures | null;
  refused: Refusal | null;
}

/** The choices that decode and prefill were asked for. */
export interface ModelChoice {
  quant: Quant;
  kv: KvType;
  roofline: Roofline;
}

export type BenchResult =
  | ({ suite: 'decode'; rows: DecodeRow[]; kernels: KernelTable[] } & ModelChoice)
  | ({ suite: 'prefill'; rows: PrefillRow[]; kernels: KernelTable[] } & ModelChoice)
  | {
      suite: 'step';
      /** Null for the model of a file. */
      quant: Quant | null;
      kv: KvType;
      context: number;
      steps: number;
      tokens: number;
      probes: LaunchProbe[];
      rows: StepRow[];
    }
  | { suite: 'roofline'; roofline: Roofline }
  | { suite: 'attention'; kv: KvType; roofline: Roofline; rows: AttentionRow[] }
  | ({ suite: 'baseline' } & BaselineResult)
  | {
      suite: 'quality';
      model: string;
      kv: KvType;
      tokens: number;
      rows: QualityRow[];
      /** Keys and values in signed bytes against f16, where they were asked for. */
      kvRows: QualityRow[];
      /** Whole texts on subgroup matrices against f32, where they are granted. */
      matrixRows: QualityRow[];
      /** Whole texts with the attention of long prompts, the rest in f32, against f32. */
      longRows: QualityRow[];
    }
  | { suite: 'sdk'; model: string; sameText: boolean; rows: SdkRow[] }
  | { suite: 'race'; version: string; shaders: string; quant: Quant; rows: RaceRow[] }
  | { suite: 'matrices'; fault: string | null; rows: MatricesRow[] }
  | { suite: 'kv'; quant: Quant; kv: KvType; rows: KvRow[] }
  | { suite: 'tune'; kv: KvType; roofline: Roofline; tables: TuneTable[] };

export type BenchReport = BenchResult & Surroundings & { browser: string };

/** Progress of the page while it works. */
export interface BenchProgress {
  text: string;
  /** Rows done and to do, where that is known. */
  done?: number;
  total?: number;
}
