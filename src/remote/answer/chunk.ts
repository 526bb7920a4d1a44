// One chunk of an answer, as the servers write it, in the form that this room works with. Every field is checked.

import type { TokenLogprob } from '../../engine/protocol';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { countIn, numberIn, objectIn, objectsIn, textIn } from '../server/bounded_json';

/** Most parts of calls and most log probabilities of a chunk. */
const MAX_PARTS = 1024;
const MAX_TOP = 20;
/** Most calls of an answer. */
export const MAX_CALLS = 128;
const MAX_BYTES = 1024;

export interface CallPart {
  index: number;
  id: string;
  name: string;
  arguments: string;
}

interface Logprobs {
  chosen: TokenLogprob;
  top: readonly TokenLogprob[];
}

/** Counts of a whole answer so far. Null where the server does not say. */
interface Counts {
  prompt: number | null;
  cached: number | null;
  completion: number | null;
  reasoning: number | null;
}

/** The server's own times, of the prompt and of the tokens behind the first. */
export interface ServerTimes {
  promptMs: number;
  promptTokens: number | null;
  predictedMs: number;
  predicted: number;
}

export interface Chunk {
  /** False for one that only counts. */
  isOfChoice: boolean;
  text: string;
  reasoning: string;
  calls: CallPart[];
  logprobs: Logprobs[];
  finish: string;
  /** The answer ended with one of the texts of `stop`. */
  isStopText: boolean;
  counts: Counts;
  times: ServerTimes | null;
  progress: { total: number; cached: number; processed: number } | null;
  /** The ids of the chunk's tokens. Only Vivace's own server tells them. */
  ids: number[] | null;
}

export function readChunk(json: JsonObject): Chunk {
  const found = objectsIn(json, 'choices', 1)[0];
  const choice: JsonObject = found ?? {};
  const delta = objectIn(choice, 'delta');
  const { stop_reason, matched_stop } = choice; // of vLLM and of SGLang: a text, or the id of a token
  return {
    isOfChoice: found !== undefined,
    text: textIn(delta, 'content', 'refusal') || textIn(choice, 'text'),
    reasoning: textIn(delta, 'reasoning_content', 'reasoning'),
    calls: objectsIn(delta, 'tool_calls', MAX_PARTS).map(readCall),
    logprobs: readLogprobs(objectIn(choice, 'logprobs')),
    finish: textIn(choice, 'finish_reason'),
    isStopText: typeof stop_reason === 'string' || typeof matched_stop === 'string',
    counts: readCounts(json),
    times: readTimes(objectIn(json, 'timings')),
    progress: readProgress(objectIn(json, 'prompt_progress')),
    ids: readIds(objectIn(json, 'vivace')),
  };
}

function readCall(part: JsonObject): CallPart {
  const called = objectIn(part, 'function');
  return {
    index: countIn(part, 'index', MAX_CALLS - 1) ?? 0,
    id: textIn(part, 'id').slice(0, 256),
    name: textIn(called, 'name').slice(0, 256),
    arguments: textIn(called, 'arguments'),
  };
}

function readCounts(json: JsonObject): Counts {
  const usage = objectIn(json, 'usage');
  const timings = objectIn(json, 'timings');
  const cached = countIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens') ?? countIn(timings, 'cache_n');
  const read = countIn(timings, 'prompt_n');
  return {
    prompt: countIn(usage, 'prompt_tokens') ?? (read === null ? null : read + (cached ?? 0)),
    cached,
    completion: countIn(usage, 'completion_tokens') ?? countIn(timings, 'predicted_n'),
    reasoning:
      countIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? countIn(usage, 'reasoning_tokens'),
  };
}

function readTimes(timings: JsonObject): ServerTimes | null {
  const promptMs = numberIn(timings, 'prompt_ms');
  const predictedMs = numberIn(timings, 'predicted_ms');
  const predicted = countIn(timings, 'predicted_n');
  if (promptMs === null || predictedMs === null || predicted === null) return null;
  return { promptMs, promptTokens: countIn(timings, 'prompt_n'), predictedMs, predicted };
}

function readProgress(progress: JsonObject): Chunk['progress'] {
  const total = countIn(progress, 'total');
  const processed = countIn(progress, 'processed');
  const cached = countIn(progress, 'cache') ?? 0;
  return total === null || processed === null || processed > total || cached > processed
    ? null
    : { total, cached, processed };
}

function readIds(vivace: JsonObject): number[] | null {
  const tokens = objectsIn(vivace, 'tokens', MAX_PARTS);
  return tokens.length > 0 ? tokens.map((token) => countIn(token, 'id', 2 ** 32 - 1) ?? -1) : null;
}

/** OpenAI's form of chat completions, which llama.cpp has for both routes, or that of completions. */
function readLogprobs(logprobs: JsonObject): Logprobs[] {
  const content = objectsIn(logprobs, 'content', MAX_PARTS);
  if (content.length > 0)
    return content.map((one) => ({ chosen: readOne(one), top: readTop(objectsIn(one, 'top_logprobs', MAX_TOP)) }));
  const { tokens, token_logprobs: values, top_logprobs: tops } = logprobs;
  if (!Array.isArray(tokens) || !Array.isArray(values)) return [];
  return tokens.slice(0, MAX_PARTS).map((token, i) => {
    const top: unknown = Array.isArray(tops) ? tops[i] : null;
    const others = isJsonObject(top) ? Object.entries(top).slice(0, MAX_TOP) : [];
    return {
      chosen: readOne({ token, logprob: values[i] }),
      top: readTop(others.map(([token, logprob]) => ({ token, logprob }))),
    };
  });
}

/** The likeliest first: vLLM begins with the token that was drawn, and a map of JSON with its numbers. */
function readTop(top: readonly JsonObject[]): TokenLogprob[] {
  return top.map(readOne).sort((a, b) => b.logprob - a.logprob);
}

/** The least number stands for one that is none: JSON has no infinity, and servers write it in several ways. */
const LEAST = -9999;

function readOne(one: JsonObject): TokenLogprob {
  const token = textIn(one, 'token').slice(0, MAX_BYTES);
  const { bytes, logprob } = one;
  const isBytes = Array.isArray(bytes) && bytes.length <= MAX_BYTES && bytes.every(isByte);
  return {
    id: countIn(one, 'id', 2 ** 32 - 1) ?? -1,
    token,
    bytes: isBytes ? (bytes as number[]) : [...new TextEncoder().encode(token)],
    logprob: typeof logprob === 'number' && logprob <= 0 && logprob >= LEAST ? logprob : LEAST,
  };
}

function isByte(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
