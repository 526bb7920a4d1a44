// Answers beside one another, on the CPU: requests take turns after each step, and each has the text, the usage and the
// end that it has alone.

import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ChatMessage, Engine, type EngineChatOptions, type EngineEvent } from '../../../src/engine/engine';
import type { LoadedModel } from '../../../src/engine/load/load';
import type { LoadOptions } from '../../../src/engine/protocol';
import { DeviceLostError } from '../../../src/errors';
import { chainFiles } from '../../chain/chain_model';
import { engineWorker, type FakeWorker, stubWorkers } from '../doubles/fake_worker';
import { until } from '../doubles/stepped_backend';

let load: (options: LoadOptions, signal: AbortSignal) => Promise<LoadedModel>;
vi.mock('../../../src/engine/load/load', () => ({
  loadModel: (_place: unknown, options: LoadOptions, _tell: unknown, signal: AbortSignal) => load(options, signal),
}));
vi.mock('../../../src/engine/worker/turns/turns', async (original) => {
  const { Turns } = await original<typeof import('../../../src/engine/worker/turns/turns')>();
  let steps = 0; // a clock that ticks when it is read
  return {
    Turns: class extends Turns {
      constructor() {
        super(0, () => steps++);
      }
    },
  };
});

let loadChain: typeof load;
beforeAll(async () => {
  const { loadModel } = await vi.importActual<typeof import('../../../src/engine/load/load')>(
    '../../../src/engine/load/load',
  );
  loadChain = (options, signal) => loadModel(chainFiles(), options, () => {}, signal);
});

let workers: FakeWorker[];
let engine: Engine;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }); // no beats of a real clock
  workers = stubWorkers(engineWorker);
  load = loadChain;
});

afterEach(async () => {
  await engine.unload();
  for (const worker of workers) if (!worker.isTerminated) worker.terminate();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = async (options: LoadOptions = {}) => {
  engine = await Engine.load('https://example.org/model.gguf', { backend: 'cpu', contextLength: 512, ...options });
};

const user = (content: string): ChatMessage => ({ role: 'user', content });
const QUESTIONS = [
  'Tell me of ships that sail over the sea',
  'And what do they cook in the mountains?',
  'Why is it so?',
];
const OPTIONS: EngineChatOptions[] = [
  { temperature: 0, seed: 6, maxTokens: 20, ignoreEos: true },
  { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 7, maxTokens: 24, repetitionPenalty: 1.2, ignoreEos: true },
  { temperature: 1.5, topK: 0, topP: 1, minP: 0, seed: 8, maxTokens: 16, logprobs: 2, ignoreEos: true },
];

/** All events of an answer. `heard` collects the numbers of the requests in the order of their tokens. */
async function ask(number: number, more: EngineChatOptions = {}, heard: number[] = []) {
  const events: EngineEvent[] = [];
  for await (const event of engine.chat([user(QUESTIONS[number])], { ...OPTIONS[number], ...more })) {
    events.push(event);
    if (event.type === 'token') heard.push(number);
  }
  return events;
}

/** What of an answer may not depend on others. */
function said(events: readonly EngineEvent[]) {
  const end = events.findLast((event) => event.type === 'done');
  const tokens = events.filter((event) => event.type === 'token');
  const logprobs = tokens.map(({ logprobs: each }) => each?.chosen.logprob.toFixed(4));
  return { ids: tokens.map(({ id }) => id), logprobs, reason: end?.finishReason, usage: end?.usage, seed: end?.seed };
}

/** The number of times that the next token is another request's. */
const changes = (heard: readonly number[]) => heard.filter((number, i) => i > 0 && number !== heard[i - 1]).length;

const alone = async (numbers: readonly number[]) => {
  const answers: ReturnType<typeof said>[] = [];
  for (const number of numbers) answers.push(said(await ask(number, { reuseCache: false })));
  return answers;
};

describe.each([2, 3])('%s answers at once', (count) => {
  const numbers = QUESTIONS.slice(0, count).map((_, i) => i);

  test('are those of each alone, token by token in turns', async () => {
    await open();
    const expected = await alone(numbers);
    const heard: number[] = [];
    const answers = await Promise.all(numbers.map((number) => ask(number, { reuseCache: false }, heard)));
    expect(answers.map(said)).toEqual(expected);
    expect(changes(heard)).toBeGreaterThan(12);
    for (const events of answers) {
      const end = events.at(-1);
      if (end?.type !== 'done') throw new Error('no end');
      expect(end.metrics.othersMs).toBeGreaterThan(0);
      expect(end.metrics.tbtMs.perToken.length).toBe(end.usage.completionTokens - 1);
      expect(events.filter(({ type }) => type === 'queued')).toEqual([]);
    }
    expect((await ask(0)).at(-1)).toMatchObject({ metrics: { cache: { report: 'parked' } } }); // kept as ever
  });

  test('one that is stopped, or fails, leaves the others as they are', async () => {
    await open();
    const expected = await alone(numbers);
    const stop = new AbortController();
    const rest = numbers.slice(1).map((number) => ask(number, { reuseCache: false }));
    const stopped: EngineEvent[] = [];
    for await (const event of engine.chat([user(QUESTIONS[0])], { ...OPTIONS[0], signal: stop.signal })) {
      stopped.push(event);
      if (stopped.filter(({ type }) => type === 'token').length === 5) stop.abort();
    }
    expect(stopped.at(-1)).toMatchObject({ type: 'done', finishReason: 'abort' });
    await expect(engine.complete([-1]).next()).rejects.toThrow();
    expect((await Promise.all(rest)).map(said)).toEqual(expected.slice(1));
  });
});

test('a long prompt does not stop the tokens of an answer', async () => {
  await open();
  const [expected] = await alone([0]);
  const heard: string[] = [];
  const first = (async () => {
    const events: EngineEvent[] = [];
    for await (const event of engine.chat([user(QUESTIONS[0])], { ...OPTIONS[0], reuseCache: false })) {
      events.push(event);
      if (event.type === 'token') heard.push('t');
    }
    return events;
  })();
  const second = engine.chat([user('sea '.repeat(100))], { temperature: 0, maxTokens: 1 });
  for await (const event of second) if (event.type === 'prefill') heard.push('p');
  expect(said(await first)).toEqual(expected);
  const order = heard.join('');
  const between = order.slice(order.indexOf('t'), order.lastIndexOf('t')).split('t');
  expect(Math.max(...between.map(({ length }) => length))).toBeLessThan(4); // passes of one token each
  expect(order.split('p').length).toBeGreaterThan(400);
});

test('embeddings give way between texts, and take nothing of an answer', async () => {
  await open();
  const [expected] = await alone([0]);
  const texts = Array.from({ length: 8 }, (_, i) => `text ${i}`);
  const { vectors } = await engine.embed(texts);
  const heard: number[] = [];
  const answer = ask(0, { reuseCache: false }, heard);
  await until(() => heard.length > 0);
  const before = heard.length;
  const beside = await engine.embed(texts);
  const between = heard.length - before;
  expect(said(await answer)).toEqual(expected);
  expect(beside.vectors).toEqual(vectors);
  expect(between).toBeGreaterThan(4);
});

test.each([
  ['one at a time', { maxConcurrent: 1 }, 'busy'],
  ['too little memory beside the cache', { kvBudgetBytes: 1 }, 'memory'],
])('%s: a queue that says so', async (_, options, reason) => {
  await open(options);
  const expected = await alone([0, 1]);
  const heard: number[] = [];
  const [first, second] = await Promise.all([0, 1].map((number) => ask(number, { reuseCache: false }, heard)));
  expect([first, second].map(said)).toEqual(expected);
  expect(second[0]).toEqual({ type: 'queued', reason });
  expect(changes(heard)).toBe(1);
});

test('a lost GPU costs neither answer a token', async () => {
  await open();
  const expected = await alone([0, 1]);
  await engine.unload();
  let lose: (error: Error) => void = () => {};
  let losses = 0;
  load = async (options, signal) => {
    const model = await loadChain(options, signal);
    if (losses++ > 0) return model;
    const failing = new Promise<Error>((resolve) => {
      lose = resolve;
    });
    return { ...model, session: { ...model.session, backend: Object.assign(model.session.backend, { failing }) } };
  };
  await open();
  const heard: number[] = [];
  const both = [0, 1].map((number) => ask(number, { reuseCache: false }, heard));
  await until(() => new Set(heard).size === 2);
  lose(new DeviceLostError('a test'));
  const answers = await Promise.all(both);
  const told = (events: readonly EngineEvent[]) => events.map(({ type }) => type);
  for (const [i, events] of answers.entries()) {
    expect(said(events).ids).toEqual(expected[i].ids);
    expect(told(events)).toContain('recovered');
  }
});
