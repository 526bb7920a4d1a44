// Late stops: the end of an answer is found late, without any effect. Ids, text, usage and the next request are those
// of run-ahead 1, for every end on a toy, where a step costs nothing, and for each way of sampling on a tiny model.

import { describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import type { GenerateOptions } from '../../../src/engine/protocol';
import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import { readFixture } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import {
  ask,
  damagedFiles,
  numberSession,
  sharedRunAhead,
  TINY,
  tinyBackend,
  toyBackend,
} from '../doubles/loop_session';

const CONTEXT = 48;
const PROMPT = readFixture(TINY).greedy.promptIds;
/** Steps in flight. `shared`: several steps share a readback. */
const DEPTHS = [1, 2, 4, 8, 16, 'shared'] as const;
type Depth = (typeof DEPTHS)[number];

const GREEDY = { temperature: 0 };
const SAMPLED = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0, seed: 7 };
const PENALIZED = { ...SAMPLED, repetitionPenalty: 1.1 };

interface End {
  options: GenerateOptions;
  eos?: number;
  stopAfter?: number;
  reason: string;
  /** Tokens of the answer. */
  count: number;
}

/** Ways to end an answer that would be `ids`. */
const ENDS = {
  'an end token': (ids) => ({ options: {}, eos: ids[fresh(ids)], reason: 'eos', count: fresh(ids) + 1 }),
  'a stop string over two tokens': (ids) => {
    const last = fresh(ids);
    return { options: { stop: [`${ids[last - 1]} ${ids[last]}`] }, reason: 'stop', count: last + 1 };
  },
  'the reader': () => ({ options: {}, stopAfter: 6, reason: 'abort', count: 6 }),
  'the number of tokens': () => ({ options: { maxTokens: 7 }, reason: 'length', count: 7 }),
  'the end of the context': () => ({ options: {}, reason: 'context', count: CONTEXT - PROMPT.length }),
} as const satisfies Record<string, (ids: readonly number[]) => End>;
type EndName = keyof typeof ENDS;

/** The index, past the first few, of a token that does not occur earlier. */
function fresh(ids: readonly number[]): number {
  return [7, 6, 8, 5, 9, 4].find((i) => ids.indexOf(ids[i]) === i) as number;
}

/** An answer, and a second one that continues the conversation. */
async function twoTurns(backend: Backend, depth: Depth, sampling: GenerateOptions, end: End) {
  const session = numberSession(backend, end.eos === undefined ? [] : [end.eos]);
  const options: GenerateOptions = { ...sampling, runAhead: depth === 'shared' ? 'auto' : depth };
  if (depth === 'shared') session.runAhead = sharedRunAhead();
  const stopped = (tokens: number) => end.stopAfter !== undefined && tokens >= end.stopAfter;
  const first = await ask(session, { prompt: PROMPT.join(' ') }, { ...options, ...end.options }, { stopped });
  const next = { prompt: [...PROMPT, ...first.ids.slice(0, 10), 5].join(' ') };
  const second = await ask(session, next, { ...options, maxTokens: 3 });
  return [first, second].map(({ ids, text, done: { finishReason, usage } }) => ({ ids, text, finishReason, usage }));
}

async function checkEnd(backend: Backend, sampling: GenerateOptions, name: EndName): Promise<void> {
  const whole = { ...sampling, runAhead: 1, maxTokens: 12 };
  const { ids } = await ask(numberSession(backend), { prompt: PROMPT.join(' ') }, whole);
  const end: End = ENDS[name](ids);
  const expected = await twoTurns(backend, 1, sampling, end);
  const { finishReason, ids: got } = expected[0];
  expect({ finishReason, count: got.length }).toEqual({ finishReason: end.reason, count: end.count });
  expect(got.slice(0, 12)).toEqual(ids.slice(0, end.count));
  // The second turn reuses all of the first but its last token, which no step has read.
  expect(expected[1].usage.cachedTokens).toBe(PROMPT.length + Math.min(end.count - 1, 10));
  for (const depth of DEPTHS.slice(1)) {
    expect(await twoTurns(backend, depth, sampling, end), `run-ahead ${depth}`).toEqual(expected);
  }
}

describe('a toy', () => {
  test.each(Object.keys(ENDS) as EndName[])('ends by %s', async (name) => {
    const gpu = await testGpu();
    await checkEnd(await toyBackend(gpu, CONTEXT), GREEDY, name);
    expect(gpu.failure).toBeNull();
  });
});

describe('a tiny model', { timeout: 200_000 }, () => {
  let loaded: ReturnType<typeof tinyBackend> | null = null;
  test.each<[string, GenerateOptions, EndName]>([
    ['greedy, by a stop string', GREEDY, 'a stop string over two tokens'],
    ['greedy, by the reader', GREEDY, 'the reader'],
    ['sampled, by a stop string', SAMPLED, 'a stop string over two tokens'],
    ['sampled and penalized, by an end token', PENALIZED, 'an end token'],
  ])('%s', async (_title, sampling, name) => {
    const gpu = await testGpu();
    loaded ??= tinyBackend(gpu, CONTEXT);
    await checkEnd(await loaded, sampling, name);
    expect(gpu.failure).toBeNull();
  });

  test('chats that take turns come back as if each had the cache for itself', async () => {
    const gpu = await testGpu();
    loaded ??= tinyBackend(gpu, CONTEXT);
    const backend = await loaded;
    const [a, b] = [5, 9].map((first) => ({ ids: Array.from({ length: 28 }, (_, i) => first + 7 * i) }));
    const options = { ...PENALIZED, maxTokens: 8 };
    const alone = numberSession(backend);
    await ask(alone, a, options);
    const wanted = await ask(alone, a, options);
    const before = gpu.allocatedBytes;
    const session = numberSession(backend);
    session.branches = new Branches(backend.parking, 1e6);
    await ask(session, a, options);
    await ask(session, b, options);
    expect(gpu.allocatedBytes).toBeGreaterThan(before);
    const back = await ask(session, a, options);
    expect(back.done.usage.cachedTokens).toBe(27);
    expect(back.done.metrics.cache?.report).toBe('parked');
    expect(back.ids).toEqual(wanted.ids);
    await session.branches.makeReady(session); // memory for another copy may be on its way
    session.branches.giveUp();
    expect([gpu.allocatedBytes, gpu.failure]).toEqual([before, null]);
  });

  test('with a NaN among its weights is an error that says so, whatever the sampling and the run-ahead', async () => {
    const gpu = await testGpu();
    const files = await damagedFiles('model.layers.0.self_attn.o_proj.weight', Number.NaN);
    const backend = await tinyBackend(gpu, CONTEXT, files);
    const reported = { ...GREEDY, logprobs: 5, ignoreEos: true };
    for (const [i, sampling] of [GREEDY, SAMPLED, PENALIZED, reported].entries()) {
      const asked = ask(numberSession(backend), { prompt: '10 20 30' }, { ...sampling, runAhead: [1, 8, 16, 4][i] });
      await expect(asked).rejects.toMatchObject({ code: 'not-finite', position: 3 });
    }
    expect(gpu.failure).toBeNull();
  });
});
