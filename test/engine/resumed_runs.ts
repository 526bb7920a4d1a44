// Runs of answers, whole and resumed, for tests of a recovery.

import { expect } from 'vitest';
import type { EngineEvent, GenerateInput, GenerateOptions, ResumedAnswer } from '../../src/engine/protocol';
import { generate } from '../../src/engine/worker/generate';
import type { Session } from '../../src/engine/worker/request/session';

interface Run {
  posts: (readonly EngineEvent[])[];
  promptIds: readonly number[];
  ids: readonly number[];
  done: Extract<EngineEvent, { type: 'done' }>;
  /** The ids whose keys and values the session holds at the end. */
  cachedIds: readonly number[];
}

/** Runs one request on a session and keeps what the worker would post. */
export async function run(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  resumed?: ResumedAnswer,
): Promise<Run> {
  const posts: Run['posts'] = [];
  const emit = (events: readonly EngineEvent[]) => void posts.push(events);
  await generate(session, input, options, emit, () => false, resumed);
  const events = posts.flat();
  const start = events.find((event) => event.type === 'start');
  const done = events.find((event) => event.type === 'done');
  if (!start || !done) throw new Error('the answer has no start or no end');
  const ids = events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
  return { posts, promptIds: start.promptIds, ids, done, cachedIds: session.cachedIds };
}

/** What a reader is told: everything but times, counts of the machine, and random ids of calls. */
function told(posts: Run['posts']): unknown[] {
  return posts.flat().flatMap((event): unknown[] => {
    if (event.type === 'start' || event.type === 'prefill') return [];
    if (event.type === 'token') {
      const { id, text, position, logprobs } = event;
      return [{ id, text, position, logprobs }];
    }
    if (event.type === 'done') {
      const { text, finishReason, seed, usage } = event;
      return [{ text, finishReason, seed, usage }];
    }
    return event.type === 'tool-call' && event.id ? [{ ...event, id: 'an id' }] : [event];
  });
}

/** The posts after the one that holds the last of `count` tokens. */
function after(posts: Run['posts'], count: number): Run['posts'] {
  let seen = 0;
  const at = posts.findIndex((events) => {
    seen += events.filter(({ type }) => type === 'token').length;
    return seen >= count;
  });
  return count === 0 ? posts : posts.slice(at + 1);
}

/** Resumes a run after `count` tokens in a session of its own, and expects the rest of it. */
export async function expectRest(
  session: Session,
  input: GenerateInput,
  options: GenerateOptions,
  whole: Run,
  count: number,
): Promise<void> {
  const { promptIds, done } = whole;
  const rest = await run(
    session,
    input,
    { ...options, seed: done.seed },
    { promptIds, ids: whole.ids.slice(0, count) },
  );
  expect(rest.promptIds).toEqual(promptIds);
  expect(told(rest.posts), `after ${count} of ${whole.ids.length} tokens`).toEqual(told(after(whole.posts, count)));
  if (rest.ids.length > 0) expect(rest.cachedIds).toEqual(whole.cachedIds);
}

/** Cuts a run after each of its tokens. Each post of the whole run must hold one token. */
export async function cutEverywhere(
  session: () => Session,
  input: GenerateInput,
  options: GenerateOptions,
): Promise<Run> {
  const whole = await run(session(), input, options);
  expect(whole.ids.length).toBeGreaterThan(5);
  for (let count = 0; count <= whole.ids.length; count++) {
    await expectRest(session(), input, options, whole, count);
  }
  return whole;
}
