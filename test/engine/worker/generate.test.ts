// The loop on a scripted backend: the ends of an answer, the cached ids and the figures, for every run-ahead.

import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { MOST_SHARED } from '../../../src/engine/backend/backend';
import type { EngineEvent, GenerateInput, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { encodeInput, fittingPrompt } from '../../../src/engine/worker/request/prompt';
import type { Session } from '../../../src/engine/worker/request/session';
import { RunAhead } from '../../../src/engine/worker/steps/run_ahead';
import { DeviceLostError, InvalidRequestError, NotFiniteError } from '../../../src/errors';
import { NO_TOKEN } from '../../../src/sampling/sampling';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import type { ChatTemplate } from '../../../src/text/template/chat_template';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { files } from '../../text/fixtures';
import { sentencePieceGguf } from '../../text/tiny_vocabulary';
import { ScriptBackend } from '../doubles/script_backend';
import { openStoryteller } from '../storyteller';

const ANSWER = 'Once upon a time there was a brave cat. The cat was happy.';

let tokenizer: Tokenizer;
let template: ChatTemplate;
beforeAll(async () => {
  ({ tokenizer, template } = await openStoryteller());
});

/** A session whose model answers every prompt with ANSWER and an end token. */
function session(contextLength = 256, delayMs = 0) {
  const ids = [...tokenizer.encode(ANSWER), tokenizer.eosIds[0]];
  let start = 0;
  const backend = new ScriptBackend(contextLength, (position) => ids[position - start] ?? ids[0], delayMs);
  const made: Session = { backend, tokenizer, template, vocabSize: 4096, cachedIds: [] };
  const run = async (input: GenerateInput, options: GenerateOptions = {}, stopped: () => boolean = () => false) => {
    start = (await encodeInput(input, 'auto', made)).ids.length;
    const events: EngineEvent[] = [];
    await generate(made, input, { temperature: 0, ...options }, (some) => events.push(...some), stopped);
    return answerOf(events);
  };
  return { run, backend, made, ids };
}

function answerOf(events: EngineEvent[]) {
  const tokens = events.filter((event) => event.type === 'token');
  const done = events.at(-1);
  if (done?.type !== 'done') throw new Error('the last event is not done');
  return { events, tokens, done, ids: tokens.map((t) => t.id), text: tokens.map((t) => t.text).join('') + done.text };
}

const USER: GenerateInput = { messages: [{ role: 'user', content: 'Tell me a story about a brave cat' }] };

describe('a text is continued', () => {
  const made = (vocabulary: Tokenizer, answer: string) => {
    const ids = [...vocabulary.encode(answer, { addSpecialTokens: false }), vocabulary.eosIds[0]];
    return async (prompt: string) => {
      const backend = new ScriptBackend(64, (position) => ids[position - vocabulary.encode(prompt).length]);
      const events: EngineEvent[] = [];
      const session: Session = { backend, tokenizer: vocabulary, template, vocabSize: 4096, cachedIds: [] };
      await generate(
        session,
        { prompt },
        { temperature: 0 },
        (some) => events.push(...some),
        () => false,
      );
      return answerOf(events);
    };
  };
  const sentencePiece = createTokenizer(files({ gguf: sentencePieceGguf() }));

  test('with its first space, though this vocabulary marks the beginning of a text by one', async () => {
    expect((await made(sentencePiece, 'upon a time')('Once')).text).toBe(' upon a time');
  });

  test('from nothing: the token that begins a text is the prompt', async () => {
    const { text, done } = await made(sentencePiece, 'once upon')('');
    expect(text).toBe('once upon');
    expect(done.usage.promptTokens).toBe(1);
  });

  test('from nothing only where there is such a token', async () => {
    const run = made({ ...tokenizer, bosToken: null, encode: () => new Uint32Array(0) }, '');
    await expect(run('')).rejects.toThrow(InvalidRequestError);
  });
});

test('ids are continued as they are, like the text that they are', async () => {
  const { run } = session();
  const ids = Array.from(tokenizer.encode('Once upon'));
  const byIds = await run({ ids });
  const byText = await run({ prompt: 'Once upon' });
  expect(byIds.events[0]).toEqual({ type: 'start', choice: 0, promptIds: ids, cachedTokens: 0 });
  expect(byText.events[0]).toEqual({ type: 'start', choice: 0, promptIds: ids, cachedTokens: ids.length - 1 });
  expect([byIds.ids, byIds.text]).toEqual([byText.ids, byText.text]);
});

describe('the end of an answer', () => {
  for (const runAhead of [1, 2, 4, 8, 'auto'] as const) {
    test(`is the end token, the same ids at run-ahead ${runAhead}`, async () => {
      const { run, ids, backend } = session();
      const answer = await run(USER, { runAhead });
      expect(answer.ids).toEqual(ids);
      expect(answer.text).toBe(ANSWER);
      expect(answer.done.finishReason).toBe('eos');
      expect(answer.done.usage.completionTokens).toBe(ids.length);
      if (runAhead !== 'auto') expect(backend.deepest).toBe(runAhead);
    });
  }

  test('is before a stop string that runs over token borders', async () => {
    const answer = await session().run(USER, { stop: ['ave cat.'], runAhead: 4 });
    expect(answer.text).toBe('Once upon a time there was a br');
    expect(answer.done.finishReason).toBe('stop');
  });

  test('is the number of tokens asked for, and no step past it is queued', async () => {
    const { run, ids, backend } = session();
    const answer = await run(USER, { maxTokens: 3, runAhead: 8 });
    expect(answer.ids).toEqual(ids.slice(0, 3));
    expect(answer.done.finishReason).toBe('length');
    expect(backend.counters.submits).toBe(3);
  });

  test('is the end of the context, and no position past it is touched', async () => {
    const { run } = session(12);
    const answer = await run({ prompt: 'Once upon a time' }, { runAhead: 8 });
    expect(answer.done.finishReason).toBe('context');
    expect(answer.done.usage.promptTokens + answer.done.usage.completionTokens).toBe(12);
  });

  test('is a stop by the reader, after which the session answers again', async () => {
    const { run, ids } = session();
    let asked = 0;
    const stopped = await run(USER, { runAhead: 4 }, () => ++asked > 5);
    expect(stopped.done.finishReason).toBe('abort');
    expect(stopped.ids.length).toBeLessThan(ids.length);
    expect((await run(USER)).ids).toEqual(ids);
  });

  test('is a stop before the first token, which runs nothing', async () => {
    const { run, backend } = session();
    const answer = await run(USER, {}, () => true);
    expect(backend.prefills).toEqual([]);
    expect(answer.done.finishReason).toBe('abort');
    expect(answer.ids).toEqual([]);
    expect(answer.done.metrics.ttftMs).toBeNull();
  });
});

test('a reader that never reads holds nothing up, and gets no more than the events of its tokens', async () => {
  const { run, made, ids } = session();
  expect((await run(USER)).ids).toEqual(ids); // aligns the script with this prompt
  let events = 0;
  const emit = () => {
    events++;
    return new Promise<void>(() => {});
  };
  await generate(made, USER, { temperature: 0, runAhead: 4 }, emit, () => false);
  expect(events).toBeLessThanOrEqual(ids.length + 5); // what is left: start, prefill and done
});

describe('a device that fails with steps in flight', () => {
  for (const order of ['oldest first', 'newest first'] as const) {
    test(`is one error and nothing unhandled, ${order}`, async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const { run, backend, ids } = session();
      const decode = backend.decode.bind(backend);
      let steps = 0;
      backend.decode = async (position) => {
        const step = ++steps;
        const id = await decode(position);
        if (step < 10) return id;
        const late = order === 'oldest first' ? step - 10 : 18 - step;
        await new Promise((resolve) => setTimeout(resolve, 5 * Math.max(0, late)));
        throw new DeviceLostError(`step ${step}`);
      };
      await expect(run(USER, { runAhead: 8 })).rejects.toMatchObject({
        code: 'device-lost',
        message: expect.stringMatching(/step 10/),
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
      backend.decode = decode;
      expect((await run(USER, { runAhead: 8 })).ids).toEqual(ids);
    });
  }
});

test('a second turn computes only what is new', async () => {
  const { run, backend, ids } = session();
  const first = await run(USER);
  const messages = [
    ...(USER as { messages: [] }).messages,
    { role: 'assistant' as const, content: first.text },
    { role: 'user' as const, content: 'Tell me another' },
  ];
  const second = await run({ messages });
  const shared = first.done.usage.promptTokens + ids.length - 1;
  expect(second.done.usage.cachedTokens).toBe(shared);
  expect(backend.prefills[1]).toEqual({ position: shared, length: second.done.usage.promptTokens - shared });
  const same = await run({ messages });
  expect(same.done.usage.cachedTokens).toBe(same.done.usage.promptTokens - 1); // the last token always runs
  const cold = await run({ messages }, { reuseCache: false });
  expect(cold.done.usage.cachedTokens).toBe(0);
  expect(backend.prefills.at(-1)).toEqual({ position: 0, length: same.done.usage.promptTokens });
  expect([cold.ids, cold.text]).toEqual([same.ids, same.text]);
});

/** Runs an answer to its end on a clock that only timers move. */
async function onTimers<T>(run: Promise<T>): Promise<T> {
  let isRunning = true;
  const ended = run.finally(() => {
    isRunning = false;
  });
  while (isRunning) await vi.advanceTimersToNextTimerAsync();
  return ended;
}

describe('times, on a clock that only timers move', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('times and counts are those of the run', async () => {
    const { run } = session(256, 5);
    const { tokens, done } = await onTimers(run(USER, { runAhead: 1 }));
    const { metrics } = done;
    expect(tokens[0].tbtMs).toBeNull();
    expect(metrics.tbtMs.perToken).toEqual(tokens.slice(1).map((token) => token.tbtMs));
    expect(metrics.ttftMs).toBeGreaterThanOrEqual(5);
    expect(metrics.tbtMs.mean).toBe(5);
    expect(metrics.decodeTokensPerSecond).toBeCloseTo(1000 / (metrics.tbtMs.mean as number), 6);
    expect(metrics.perToken).toEqual({ dispatches: 43, submits: 1, syncs: 1, bytesRead: 4 });
    expect(tokens.map((token) => token.position)).toEqual(tokens.map((_, i) => done.usage.promptTokens + i));
  });

  test('arrivals are on the clock of the day, as far apart as their gaps; the first was in flight since its prompt was ids', async () => {
    const { run } = session(256, 5);
    const from = Date.now();
    const { tokens, done } = await onTimers(run(USER, { runAhead: 1, maxTokens: 6 }));
    expect(Math.abs(tokens[0].atMs - from)).toBeLessThan(10_000);
    for (const [i, { atMs, tbtMs }] of tokens.entries()) {
      if (i > 0) expect(atMs - tokens[i - 1].atMs).toBeCloseTo(tbtMs as number, 2);
    }
    const { ttftMs, tokenizeMs } = done.metrics;
    expect(tokens[0].inFlightMs).toBeCloseTo((ttftMs as number) - tokenizeMs, 6);
    expect(tokens[0].workerMs).toBeNull();
    for (const { inFlightMs } of tokens.slice(1)) expect(inFlightMs).toBe(5);
  });

  test('a step that was queued behind others was in flight for as long as they took', async () => {
    const { run, backend } = session();
    let line = Promise.resolve();
    const decode = backend.decode.bind(backend);
    backend.decode = async (position) => {
      const step = decode(position);
      line = line.then(() => new Promise((resolve) => setTimeout(resolve, 5))); // one after another
      await line;
      return step;
    };
    const { tokens } = await onTimers(run(USER, { runAhead: 4, maxTokens: 9 }));
    expect(tokens[7]).toMatchObject({ tbtMs: 5, inFlightMs: 20 });
  });

  test('the worker’s share of a gap is what its own thread took, be it with the event or with the next step', async () => {
    const { made, backend } = session(256, 5);
    const busy = (ms: number) => vi.advanceTimersByTime(ms);
    const decode = backend.decode.bind(backend);
    let steps = 0;
    backend.decode = (position) => {
      if (++steps === 6) busy(30);
      return decode(position);
    };
    const shares: (number | null)[] = [];
    const emit = (events: readonly EngineEvent[]) => {
      for (const event of events) if (event.type === 'token' && shares.push(event.workerMs) === 2) busy(20);
    };
    await onTimers(generate(made, USER, { temperature: 0, runAhead: 1, maxTokens: 8 }, emit, () => false));
    expect(shares[2]).toBe(20); // the third token waits for the event of the second
    expect(shares[5]).toBe(30); // and the sixth for its own recording
    const others = shares.filter((share, i) => share !== null && i !== 2 && i !== 5);
    expect(others).toEqual(others.map(() => 0)); // waiting does not count as work
  });

  /** Four steps share a readback. */
  function sharing() {
    const { run, backend, made } = session();
    Object.assign(backend, {
      decodeMany: async (position: number, count: number) => {
        const ids = Array.from({ length: count }, (_, i) => backend.decode(position + i));
        return Uint32Array.from(await Promise.all(ids));
      },
    });
    made.runAhead = Object.assign(new RunAhead('auto', 8, MOST_SHARED), { depth: 8, shared: 4, arrived: () => {} });
    return { run, backend, made };
  }

  test('tokens that come in one readback leave together, in order', async () => {
    const { made } = sharing();
    const lists: string[] = [];
    const emit = (events: readonly EngineEvent[]) =>
      lists.push(events.map((event) => (event.type === 'token' ? event.position : event.type)).join());
    await onTimers(generate(made, { prompt: 'Once' }, { temperature: 0, maxTokens: 10 }, emit, () => false));
    const at = tokenizer.encode('Once').length;
    const tokens = [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9]].map((list) => list.map((i) => at + i).join());
    expect(lists.filter((list) => list !== 'prefill')).toEqual(['start', ...tokens, 'done']);
  });

  test('a token that is not finite ends the answer after those before it in its readback', async () => {
    const { made, backend } = sharing();
    const decode = backend.decode.bind(backend);
    const at = tokenizer.encode('Once').length;
    backend.decode = async (position) => {
      const id = await decode(position);
      return position === at + 2 ? NO_TOKEN : id;
    };
    const heard: EngineEvent[] = [];
    const hear = (some: readonly EngineEvent[]) => heard.push(...some);
    const answer = generate(made, { prompt: 'Once' }, { temperature: 0 }, hear, () => false);
    expect(await onTimers(answer.catch((error: unknown) => error))).toBeInstanceOf(NotFiniteError);
    expect(heard.filter(({ type }) => type === 'token')).toHaveLength(3);
  });

  test('tokens that come in one readback are each other’s work', async () => {
    const { run } = sharing();
    const { tokens } = await onTimers(run(USER, { maxTokens: 9 }));
    for (const i of [2, 3, 4, 6, 7, 8]) expect(tokens[i].workerMs).toBe(tokens[i].tbtMs);
    expect(tokens[5].inFlightMs).toBeGreaterThanOrEqual(0);
  });

  test('pipelines that were compiled since the token before are counted, and none is no field', async () => {
    const { run, backend } = session();
    const decode = backend.decode.bind(backend);
    let steps = 0;
    backend.decode = (position) => {
      if (++steps === 4) backend.counters.pipelines += 2;
      return decode(position);
    };
    const { tokens } = await onTimers(run(USER, { runAhead: 1, maxTokens: 6 }));
    expect(tokens.map((token) => token.pipelines)).toEqual([undefined, undefined, undefined, 2, undefined, undefined]);
    expect('pipelines' in tokens[0]).toBe(false);
  });
});

describe('a request that cannot be run is refused with its reason', () => {
  const cases: [string, GenerateInput, GenerateOptions, RegExp][] = [
    ['no text', { prompt: '' }, {}, /empty/],
    ['no messages', { messages: [] }, {}, /at least one message/],
    ['an empty message', { messages: [{ role: 'user', content: ' \n' }] }, {}, /empty/],
    ['no ids', { ids: [] }, {}, /at least one token id/],
    ['ids that are text', { ids: 'x' as unknown as number[] }, {}, /array of at least one token id/],
    ['an id past the vocabulary', { ids: [1, 4096] }, {}, /from 0 to 4095, got 4096 at 1/],
    ['half an id', { ids: [1.5] }, {}, /from 0 to 4095, got 1.5 at 0/],
    ['a hole among the ids', { ids: new Array(3) }, {}, /got undefined at 0/],
    ['thinking without a conversation', { prompt: 'x' }, { thinking: 'off' }, /thinking off needs a conversation/],
    ['a choice of thinking', USER, { thinking: 'maybe' as 'on' }, /thinking must be auto, on or off, got maybe/],
    ['a wrong role', { messages: [{ role: 'robot' as 'user', content: 'x' }] }, {}, /Message 0/],
    ['no tokens', USER, { maxTokens: 0 }, /maxTokens.*got 0/],
    ['a cold temperature', USER, { temperature: -1 }, /temperature.*got -1/],
    ['an empty stop string', USER, { stop: [''] }, /stop must be a list/],
    ['a stop that is no list', USER, { stop: 'END' as unknown as string[] }, /stop must be a list/],
    ['a deep run-ahead', USER, { runAhead: 99 }, /from 1 to 8, got 99/],
  ];
  for (const [name, input, options, message] of cases) {
    test(name, async () => {
      await expect(session().run(input, options)).rejects.toThrow(message);
    });
  }

  test('a prompt longer than the context, with both numbers', async () => {
    const { run } = session(8);
    await expect(run(USER)).rejects.toMatchObject({ code: 'context-overflow', contextLength: 8 });
    await expect(run(USER)).rejects.toThrow(/\d+ tokens.*context holds 8/);
  });

  test('more ids than the context holds, before a look at each', async () => {
    const prompt = fittingPrompt({ ids: new Array(2 ** 31) }, 'auto', session().made);
    await expect(prompt).rejects.toThrow(/has 2147483648 tokens.*context holds 256/);
  });

  test('a tokenizer of another model, with both numbers', async () => {
    const { run, made } = session();
    made.vocabSize = 40;
    await expect(run(USER)).rejects.toThrow(/token \d+, but the model has 40 rows/);
  });

  test('lone surrogates are answered, not refused', async () => {
    const { run } = session();
    const answer = await run({ messages: [{ role: 'user', content: 'a \ud800 b \udfff' }] });
    expect(answer.text).toBe(ANSWER);
  });
});
