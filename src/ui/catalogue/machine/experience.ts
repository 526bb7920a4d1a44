// What was seen of this machine while models ran: the speed of answers, the measured speed of its memory, and the
// memory that models got or did not get. Kept by this browser for one GPU, and checked when it is read.

import { isJsonObject } from '../../../shared/json_object';

/** An answer's speed, and the bytes of weights that each of its tokens read. */
export interface Rate {
  readonly tokensPerSecond: number;
  readonly bytesPerToken: number;
}

export interface Experience {
  /** The GPU of which all this was seen. '' for the CPU. */
  readonly adapter: string;
  /** The fastest read of its memory (the panel's roofline). Null if it was not measured. */
  readonly readGBps: number | null;
  /** The most memory that a model has taken. */
  readonly grantedBytes: number;
  /** The least memory that a model needed and did not get. Null if none was refused. */
  readonly refusedBytes: number | null;
  /** The newest speed of each model, by its address. */
  readonly rates: Readonly<Record<string, Rate>>;
}

const MAX_LETTERS = 50_000;
const MAX_RATES = 20;
const MAX_NAME = 200;

export function noExperience(adapter: string): Experience {
  return { adapter: adapter.slice(0, MAX_NAME), readGBps: null, grantedBytes: 0, refusedBytes: null, rates: {} };
}

/** The experience in a stored text, if it is of this GPU. Missing and illegal parts are as if nothing was seen. */
export function parseExperience(text: string | null, adapter: string): Experience {
  const none = noExperience(adapter);
  const stored = parseObject(text);
  if (stored.adapter !== none.adapter) return none;
  return {
    adapter: none.adapter,
    readGBps: numberOr(stored.readGBps, null, 1e6),
    grantedBytes: numberOr(stored.grantedBytes, 0, 1e13),
    refusedBytes: numberOr(stored.refusedBytes, null, 1e13),
    rates: parseRates(stored.rates),
  };
}

/** Adds the speed of an answer. The oldest of many is forgotten. */
export function withRate(seen: Experience, location: string, rate: Rate): Experience {
  const { [location]: _, ...others } = seen.rates;
  const entries = [...Object.entries(others), [location, rate] as const].slice(-MAX_RATES);
  return { ...seen, rates: Object.fromEntries(entries) };
}

/** Adds a model that loaded. An earlier refusal of the same memory then had another reason. */
export function withGranted(seen: Experience, bytes: number): Experience {
  const grantedBytes = Math.max(seen.grantedBytes, bytes);
  const { refusedBytes } = seen;
  return { ...seen, grantedBytes, refusedBytes: refusedBytes !== null && refusedBytes <= bytes ? null : refusedBytes };
}

/** Adds a model that did not get its memory. */
export function withRefused(seen: Experience, bytes: number): Experience {
  return { ...seen, refusedBytes: Math.min(seen.refusedBytes ?? bytes, bytes) };
}

function parseObject(text: string | null): Record<string, unknown> {
  if (text === null || text.length > MAX_LETTERS) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function parseRates(value: unknown): Record<string, Rate> {
  if (!isJsonObject(value)) return {};
  const rates: [string, Rate][] = [];
  for (const [location, rate] of Object.entries(value).slice(-MAX_RATES)) {
    if (!isJsonObject(rate)) continue;
    const tokensPerSecond = numberOr(rate.tokensPerSecond, null, 1e6);
    const bytesPerToken = numberOr(rate.bytesPerToken, null, 1e13);
    if (tokensPerSecond && bytesPerToken) rates.push([location, { tokensPerSecond, bytesPerToken }]);
  }
  return Object.fromEntries(rates);
}

function numberOr<T extends number | null>(value: unknown, other: T, max: number): number | T {
  return typeof value === 'number' && value >= 0 && value <= max ? value : other;
}
