// What the checks of clients share: the place they run in, and comparisons that say what they found.

import type { EngineEvent, FinishReason } from '../../../src/engine/protocol';

/** What became of a request to an engine. */
export interface Heard {
  tokens: number;
  /** `left`: the reader left before the end. */
  end: FinishReason | 'running' | 'left' | 'failed';
}

export interface Place {
  /** Answers for both models: for the chain model, whose name is CHAIN, and for the storyteller by the name STORY. */
  fetch: typeof globalThis.fetch;
  /** All requests that reached an engine, oldest first. */
  heard: Heard[];
  /** The events of the storyteller after a prompt at temperature 0, without a client. */
  story(prompt: string, maxTokens: number): Promise<EngineEvent[]>;
}

/** Checks by name. One that fails throws. */
export type Checks = Record<string, (place: Place) => Promise<void>>;

/** An address that no server answers: a request that leaves the page fails. */
export const BASE_URL = 'http://vivace.invalid/v1';
export const STORY = 'storyteller';
export const CHAIN = 'chain';

export const user = (content: string) => ({ role: 'user' as const, content });

/** Compares as JSON. */
export function equal(actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${found} is not ${wanted}`);
}

export function assert(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Error(words);
}

/** The error that a request ends in. */
export async function failureOf<Kind extends Error>(
  kind: abstract new (...args: never[]) => Kind,
  request: PromiseLike<unknown>,
): Promise<Kind> {
  const outcome = await request.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`No error, but ${JSON.stringify(outcome.value)?.slice(0, 200)}`);
  const { error } = outcome;
  if (error instanceof kind) return error;
  throw new Error(`${kind.name} expected, got ${error instanceof Error ? `${error.name}: ${error.message}` : error}`);
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The newest request of an engine. */
export const lastHeard = ({ heard }: Place): Heard | undefined => heard[heard.length - 1];
