// What a caller says about a server, and its checks. No message repeats what was given: it may hold a key.

import { isLegal, legalValues } from '../engine/option_values';
import type { Option } from '../engine/options';
import type { ThinkingAbility } from '../engine/protocol';
import { InvalidRequestError } from '../errors';
import { checkSignal } from '../shared/abortable';
import { refuseUnknown } from '../shared/known_names';
import type { Clock } from './clock';

/** The software of a server. It decides the fields beyond OpenAI's. `openai`: none of them. */
export type ServerKind = 'vllm' | 'sglang' | 'llama.cpp' | 'vivace' | 'openai';

export interface RemoteOptions {
  /** The name of the model at the server. Default: the first that it lists. */
  model?: string;
  /** Goes with each request as a bearer token, and nowhere else. It is held in memory alone. */
  apiKey?: string;
  /** More headers for each request, as secret as the key. */
  headers?: Readonly<Record<string, string>>;
  /** Default: as its list of models tells. A proxy may hide it. */
  kind?: ServerKind;
  /** Most tokens of a conversation, where the server does not say. */
  contextLength?: number;
  /** Whether the model takes tools, and whether its thinking can be switched. No server says so. */
  tools?: boolean;
  thinking?: ThinkingAbility;
  /** Longest time until an answer begins. Default: 5 minutes, since a server reads the prompt first. */
  acceptMs?: number;
  /** Longest silence in the middle of an answer. Default: 1 minute. */
  silenceMs?: number;
  /** Most repeated requests where the server was too busy to begin (429, 503). Default: 2. */
  retries?: number;
  /** Default: the browser's. */
  fetch?: (address: string, init: RequestInit) => Promise<Response>;
  /** For tests. */
  clock?: Clock;
  signal?: AbortSignal;
}

/** All options: the compiler holds the names to the type. */
const NAMES: Record<keyof RemoteOptions, true> = {
  model: true,
  apiKey: true,
  headers: true,
  kind: true,
  contextLength: true,
  tools: true,
  thinking: true,
  acceptMs: true,
  silenceMs: true,
  retries: true,
  fetch: true,
  clock: true,
  signal: true,
};

const choice = (...words: string[]): Option => {
  return { kind: 'choice', help: '', default: '', choices: Object.fromEntries(words.map((word) => [word, ''])) };
};

const ofType = (kind: 'text' | 'switch', type: 'string' | 'boolean', words: string): Option => {
  return { kind, help: '', form: [words, (value) => typeof value === type] };
};

const whole = (min: number, max?: number): Option => ({ kind: 'integer', help: '', min, max });

const MAX_MS = 86_400_000;
const MAX_RETRIES = 10;

/** What `readHeaders` does not read. */
const VALUES: Partial<Record<keyof RemoteOptions, Option>> = {
  model: ofType('text', 'string', 'a text'),
  kind: choice('vllm', 'sglang', 'llama.cpp', 'vivace', 'openai'),
  contextLength: whole(1),
  tools: ofType('switch', 'boolean', 'true or false'),
  thinking: choice('none', 'optional', 'always'),
  acceptMs: whole(1, MAX_MS),
  silenceMs: whole(1, MAX_MS),
  retries: whole(0, MAX_RETRIES),
};

/** @throws InvalidRequestError for an option that is none, or whose value cannot be */
export function checkOptions(options: RemoteOptions): void {
  refuseUnknown(options, Object.keys(NAMES));
  for (const [name, option] of Object.entries(VALUES)) {
    const value = options[name as keyof RemoteOptions];
    if (value !== undefined && !isLegal(option, value))
      throw new InvalidRequestError(`${name} must be ${legalValues(option)}.`, name);
  }
  checkSignal(options.signal);
}

export interface Timing {
  acceptMs: number;
  silenceMs: number;
  retries: number;
}

export function timingOf({ acceptMs = 300_000, silenceMs = 60_000, retries = 2 }: RemoteOptions): Timing {
  return { acceptMs, silenceMs, retries };
}

/**
 * The address of the interface, without a slash at its end. `/v1` is added to an address without a path.
 * @throws InvalidRequestError
 */
export function readAddress(address: string): string {
  const refuse = (must: string) => {
    throw new InvalidRequestError(`The address of a server must ${must}`, 'address');
  };
  const page = globalThis.location?.href;
  // A URL's parser would take “not an address” for a host, with %20 in its name.
  if (typeof address !== 'string' || !/^\s*\S+\s*$/.test(address) || !URL.canParse(address, page))
    refuse('be a URL, such as http://localhost:8080/v1.');
  const url = new URL(address, page);
  if (!/^https?:$/.test(url.protocol)) refuse('begin with http: or https:.');
  if (url.username || url.password || url.search || url.hash)
    refuse('hold no user name, password, query or fragment. Pass a key as apiKey.');
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path || '/v1'}`;
}

/** @throws InvalidRequestError for a key or a header that cannot be sent */
export function readHeaders({ apiKey, headers = {} }: RemoteOptions): Headers {
  let option: keyof RemoteOptions = 'headers';
  try {
    const read = new Headers({ ...headers });
    option = 'apiKey';
    if (apiKey !== undefined && apiKey !== '') read.set('authorization', `Bearer ${apiKey}`);
    return read;
  } catch {
    throw new InvalidRequestError(
      'The key or a header has letters that no header can hold. Check for line ends.',
      option,
    );
  }
}

/** True where a key would travel in the clear. */
export function isInTheClear(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname) || /(^|\.)localhost$/.test(hostname);
}
