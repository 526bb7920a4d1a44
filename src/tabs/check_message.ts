// What other tabs send is not believed: a message is one of the protocol's, whole, plain and bounded, or nothing.
// Tabs of other origins cannot send here; a script of this origin, or a damaged build, can.

import { isJsonObject, type JsonObject } from '../shared/json_object';
import { UNIQUE_ID } from '../shared/unique_id';
import type { TabMessage } from './wire';

/** Bounds of one message: values, levels, characters, bytes. */
const MOST_VALUES = 2 ** 20;
const MOST_LEVELS = 64;
const MOST_LETTERS = 2 ** 26;
const MOST_BYTES = 2 ** 28;

type Check = (value: unknown) => boolean;

const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const id: Check = (value) => typeof value === 'string' && UNIQUE_ID.test(value);
const object: Check = isJsonObject;
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);
const fields =
  (checks: Record<string, Check>): Check =>
  (value) =>
    isJsonObject(value) && Object.entries(checks).every(([key, check]) => check(value[key]));
/** By the word in `key`: an object of one of several forms. */
const kindBy =
  (key: string, kinds: Record<string, Check>): Check =>
  (value) => {
    const kind = isJsonObject(value) && value[key];
    return typeof kind === 'string' && Object.hasOwn(kinds, kind) && kinds[kind](value);
  };

const failure = fields({ type: oneOf('error'), name: text, code: text, message: text, details: object });
const progress = fields({
  stage: oneOf('open', 'weights', 'compile', 'ready'),
  loadedBytes: count,
  totalBytes: count,
  bytesPerSecond: nullable(number),
  secondsLeft: nullable(number),
  cachedBytes: optional(count),
  waitsMs: optional(number),
});
const attention = fields({ prefill: text, decode: text, reason: text });
const step = fields({ name: text, reason: text });
const summary = fields({ perToken: listOf(number) });

const model = fields({
  name: text,
  architecture: text,
  format: text,
  ...{ parameters: count, nLayers: count, hiddenSize: count, nHeads: count, nKvHeads: count },
  ...{ headDim: count, vocabSize: count, fileBytes: count },
});
const info = fields({
  model,
  attention,
  step,
  backend: oneOf('webgpu', 'cpu'),
  adapter: nullable(text),
  contextLength: count,
  kvCache: text,
  activations: text,
  askedAttention: text,
  hasChatTemplate: flag,
  tools: flag,
  thinking: oneOf('none', 'optional', 'always'),
  embeddings: fields({ pooling: oneOf('last', 'mean'), size: count, only: flag }),
  loadMs: fields({ open: number, weights: number, compile: number }),
  warnings: listOf(fields({ code: text, message: text })),
});
const form = fields({ thinking: nullable(object), calls: nullable(object), controls: listOf(text) });

const token = fields({
  ...{ id: count, position: count },
  ...{ text, atMs: number, inFlightMs: number },
  ...{ tbtMs: nullable(number), workerMs: nullable(number) },
  logprobs: optional(fields({ chosen: object, top: listOf(object) })),
});
const usage = fields({ promptTokens: count, cachedTokens: count, completionTokens: count, reasoningTokens: count });
const done = fields({
  text,
  finishReason: oneOf('eos', 'stop', 'length', 'context', 'abort', 'tool-calls'),
  seed: count,
  usage,
  metrics: fields({ attention, step, tbtMs: summary }),
});

/** Checks of a model's replies to a request: events of an answer, vectors, ids, and results of tuning. */
const EVENTS = kindBy('type', {
  queued: fields({ reason: text }),
  start: fields({ choice: count, promptIds: listOf(count), cachedTokens: count }),
  prefill: fields({ done: count, total: count }),
  token,
  reasoning: fields({ text }),
  'tool-call': fields({ index: count, arguments: text, id: optional(text), name: optional(text) }),
  'tool-call-error': fields({ index: count, message: text, text }),
  warning: fields({ code: text, message: text }),
  done,
  gpuTimes: fields({ gpuMs: nullable(summary) }),
  result: fields({ result: object, done: count, total: count }),
  tuned: fields({ results: listOf(object), attention, step, stored: flag }),
  error: failure,
});
const isFloats: Check = (value) => value instanceof Float32Array;
const VECTORS = fields({ vectors: listOf(isFloats), promptTokens: count });
const IDS = fields({ ids: (value) => value instanceof Uint32Array });
const ROOFLINE = fields({ readGBps: number, clock: oneOf('gpu', 'cpu') });
const message: Check = (value) => EVENTS(value) || VECTORS(value) || IDS(value) || ROOFLINE(value);

const state = kindBy('kind', {
  loading: fields({ progress: nullable(progress) }),
  ready: fields({ info, form: nullable(form), news: text, nextTryAt: nullable(number) }),
  recovering: fields({ cause: failure, loss: count, progress: nullable(progress) }),
  gone: () => true,
});
/** The worker checks the rest, as it does for every request. */
const request = kindBy('kind', {
  generate: fields({
    body: fields({
      input: object,
      options: object,
      resumed: optional(fields({ promptIds: listOf(count), ids: listOf(count) })),
      constraint: optional(fields({ automaton: object, onlyCalls: flag })),
    }),
  }),
  embed: fields({ body: fields({ texts: listOf(text), options: object }) }),
  tokenize: fields({ body: fields({ input: object, options: object }) }),
  tune: fields({ body: fields({ options: object }) }),
  roofline: fields({ body: fields({ options: object }) }),
});

const MESSAGE = kindBy('type', {
  hello: fields({ from: id }),
  ask: fields({ from: id, term: id, id, request }),
  ping: fields({ from: id, term: id, ids: listOf(id) }),
  heard: fields({ from: id, term: id, id, posts: count }),
  stop: fields({ from: id, term: id, id, isOver: flag }),
  state: fields({ term: id, state }),
  pong: fields({ to: id, term: id, posts: listOf(fields({ id, posts: nullable(count) })) }),
  post: fields({ to: id, term: id, id, n: count, messages: listOf(message), failure: nullable(failure) }),
});

/** The message, or null for anything else. Never throws. */
export function readMessage(data: unknown): TabMessage | null {
  return isPlain(data) && MESSAGE(data) ? (data as TabMessage) : null;
}

/** True for data without surprises: plain objects, lists, numbers, texts and arrays of bytes, within the bounds. */
function isPlain(data: unknown): boolean {
  let [values, letters, bytes] = [0, 0, 0];
  const look = (value: unknown, level: number): boolean => {
    if (++values > MOST_VALUES || level > MOST_LEVELS) return false;
    if (typeof value === 'string') {
      letters += value.length;
      return letters <= MOST_LETTERS;
    }
    if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') return true;
    if (ArrayBuffer.isView(value)) {
      bytes += value.buffer.byteLength;
      return bytes <= MOST_BYTES;
    }
    if (Array.isArray(value)) return value.length <= MOST_VALUES && value.every((item) => look(item, level + 1));
    return isRecord(value) && Object.values(value).every((item) => look(item, level + 1));
  };
  return look(data, 0);
}

function isRecord(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}
