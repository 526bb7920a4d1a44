// Checks of what the engine reports, in documents of runs. The types see to it that no field is forgotten. Pure.

import type {
  ArithmeticChoice,
  AttentionChoice,
  AttentionName,
  CacheReport,
  EngineInfo,
  FinishReason,
  NetworkMetrics,
  PerToken,
  Recovery,
  Roofline,
  RunMetrics,
  SamplingDefaults,
  StepChoice,
  TbtSummary,
  TokenEvent,
  TokenLogprob,
  Usage,
  Warning,
} from '../../engine/engine';
import { summarizeGaps } from '../../engine/tbt';
import { type Check, fields, list, number, oneOf, optional, orNull, text, whole, yesOrNo } from './run_checks';
import { MAX_MARKS } from './run_document';

/** Longer than any context of a model. */
export const MAX_TOKENS = 200_000;
const MAX_COUNT = 1e9;
const MAX_TOP = 20;
/** More kinds of windows than any model has. */
const MAX_WINDOWS = 100;
const MAX_LETTERS = 10_000;
const sentence = text(MAX_LETTERS);
const word = text(1000);
const count = whole(MAX_COUNT);
const bytes = number();
const ms = number(0, 1e12);

export const id = whole(2 ** 32 - 1);
/** -1: a server did not tell it. */
export const tokenId: Check<number> = (value, name) => (value === -1 ? -1 : id(value, name));
export const letters = sentence;
export const milliseconds = ms;

const attentionName = oneOf<AttentionName | 'textbook'>({
  cpu: true,
  eager: true,
  chunked: true,
  flash_prefill: true,
  flash_prefill_q8: true,
  fused_decode: true,
  split_kv_decode: true,
  textbook: true,
});

export const attention = fields<AttentionChoice>({ prefill: attentionName, decode: attentionName, reason: sentence });

export const step = fields<StepChoice>({
  name: oneOf({ fused: true, plain: true }),
  reason: sentence,
  gain: orNull(number(-1)),
  giveUps: count,
});

type MatrixChoice = NonNullable<ArithmeticChoice['matrices']>;
const activations = oneOf<EngineInfo['activations']>({ f32: true, q8: true });
type Race = NonNullable<ArithmeticChoice['race']>;
const raceTime = fields<Race['decode']['q8']>({ ms, spread: number(0, 1) });
const passRace = fields<Race['decode']>({ q8: raceTime, f32: raceTime });

const arithmetic = fields<ArithmeticChoice>({
  decode: activations,
  prefill: activations,
  cause: oneOf({ asked: true, raced: true, kept: true, software: true, plain: true, cpu: true, failed: true }),
  reason: sentence,
  race: orNull(
    fields<Race>({
      format: oneOf({ q8: true, q4: true, q4_1: true, q5_1: true, q4_k: true, q5_k: true, q6_k: true }),
      rows: count,
      cols: count,
      copies: count,
      clock: oneOf({ gpu: true, cpu: true }),
      decode: passRace,
      prefill: passRace,
    }),
  ),
  matrices: optional(fields<MatrixChoice>({ used: yesOrNo, reason: sentence })),
});

export const warnings = list(fields<Warning>({ code: word, message: sentence, facts: () => undefined }), 1000);

export const backend = oneOf<EngineInfo['backend']>({ webgpu: true, cpu: true, remote: true });

export const info = fields<EngineInfo>({
  model: fields<EngineInfo['model']>({
    name: word,
    architecture: word,
    parameters: bytes,
    nLayers: count,
    hiddenSize: count,
    nHeads: count,
    nKvHeads: count,
    headDim: count,
    vocabSize: count,
    format: word,
    fileBytes: bytes,
  }),
  backend,
  adapter: orNull(word),
  contextLength: count,
  kvCache: oneOf<EngineInfo['kvCache']>({ f16: true, f32: true, q8: true }),
  activations,
  arithmetic: optional(arithmetic),
  attention,
  askedAttention: (value, name) => (value === 'auto' ? value : (attentionName(value, name) as AttentionName)),
  step,
  hasChatTemplate: yesOrNo,
  tools: yesOrNo,
  thinking: oneOf<EngineInfo['thinking']>({ none: true, optional: true, always: true }),
  embeddings: fields<EngineInfo['embeddings']>({
    pooling: oneOf({ last: true, mean: true }),
    size: count,
    only: yesOrNo,
  }),
  gpuBytes: orNull(fields({ weights: bytes, kvCache: bytes, activations: bytes })),
  bytesPerToken: orNull(
    fields<NonNullable<EngineInfo['bytesPerToken']>>({
      weights: bytes,
      kvPerPosition: bytes,
      kvInWindows: optional(list(fields({ positions: count, perPosition: bytes }), MAX_WINDOWS)),
    }),
  ),
  kvBudgetBytes: optional(bytes),
  maxConcurrent: optional(count),
  loadMs: fields({ open: ms, weights: ms, compile: ms }),
  samplingDefaults: optional(
    fields<SamplingDefaults>({
      temperature: optional(ms),
      topK: optional(ms),
      topP: optional(ms),
      minP: optional(ms),
      repetitionPenalty: optional(ms),
    }),
  ),
  warnings,
});

const gaps = list(ms, MAX_TOKENS);

/** The summary is made again of its values. */
export const summary: Check<TbtSummary> = (value, name) =>
  summarizeGaps(fields({ perToken: gaps })(value, name).perToken);

export const usage = fields<Usage>({
  promptTokens: count,
  cachedTokens: count,
  storedTokens: optional(count),
  completionTokens: count,
  reasoningTokens: count,
});

export const cache = fields<NonNullable<RunMetrics['cache']>>({
  report: oneOf<CacheReport>({
    live: true,
    parked: true,
    stored: true,
    new: true,
    evicted: true,
    refused: true,
    cleared: true,
    off: true,
  }),
  branches: count,
  bytes,
});

export const network = fields<NetworkMetrics>({
  tries: count,
  acceptedMs: ms,
  chunks: count,
  tokensPerChunk: orNull(ms),
  chunkMs: summary,
  server: orNull(fields({ promptMs: ms, tokenMs: orNull(ms) })),
  beyondServer: orNull(fields({ ttftMs: ms, tokenMs: orNull(ms) })),
});

export const perToken = fields<PerToken>({ dispatches: ms, submits: ms, syncs: ms, bytesRead: bytes });

export const roofline = fields<Roofline>({ readGBps: number(), clock: oneOf({ gpu: true, cpu: true }) });

export const finishReason = oneOf<FinishReason>({
  eos: true,
  stop: true,
  length: true,
  context: true,
  abort: true,
  'tool-calls': true,
});

export const recoveries = list(
  fields<Recovery>({
    afterToken: count,
    code: orNull(word),
    message: sentence,
    pauseMs: orNull(ms),
    backend: orNull(backend),
  }),
  MAX_MARKS,
);

const logprob = fields<TokenLogprob>({
  id: tokenId,
  token: word,
  bytes: list(whole(255), 1000),
  logprob: number(-1e6, 0.01), // a rounding error above 0
});

export const logprobs = list(
  orNull(fields<NonNullable<TokenEvent['logprobs']>>({ chosen: logprob, top: list(logprob, MAX_TOP) })),
  MAX_TOKENS,
);
