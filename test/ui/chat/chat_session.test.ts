// A session with a fake element and an engine that answers by a script.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine, EngineEvent, EngineInfo } from '../../../src/engine/engine';
import type { ChatMessage } from '../../../src/engine/protocol';
import { ContextOverflowError, WorkerError } from '../../../src/errors';
import { type ChatHost, ChatSession, GrownEvent, KeepEvent } from '../../../src/ui/chat/chat_session';
import type { Conversation } from '../../../src/ui/conversation/conversation_tree';
import { newConversation } from '../../../src/ui/conversation/conversation_tree';
import { standardSampling } from '../../../src/ui/settings/settings_fields';

type Answering = (messages: ChatMessage[], signal: AbortSignal) => AsyncGenerator<Partial<EngineEvent>>;

/** A session, its element, and an engine that answers by `answering`. */
function setUp(answering: Answering, more: Partial<ChatHost> = {}, onGrown: (event: GrownEvent) => void = () => {}) {
  const events: string[] = [];
  const kept: Conversation[] = [];
  const asked: string[][] = [];
  const options: Record<string, unknown>[] = [];
  const engine = {
    info: { contextLength: 100, hasChatTemplate: true, thinking: 'none', model: { name: 'storyteller' } },
    chat(messages: ChatMessage[], { signal, ...given }: { signal: AbortSignal }) {
      asked.push(messages.map(({ content }) => content));
      options.push(given);
      return answering(messages, signal);
    },
  };
  const host: ChatHost = {
    engine: engine as unknown as Engine,
    isConnected: true,
    tuning: null,
    sampling: standardSampling(),
    thinking: 'on',
    dispatchEvent(event) {
      if (event.type === 'vivace-changed') kept.push((event as CustomEvent<Conversation>).detail);
      else if (event instanceof GrownEvent) onGrown(event);
      else events.push(event.type);
      return true;
    },
    addController() {},
    requestUpdate() {},
    refreshTurn() {},
    ...more,
  };
  const session = new ChatSession(host);
  const endTuning = () => {
    Object.assign(host, { tuning: null });
    session.hostUpdated();
  };
  return { host, session, events, kept, asked, options, endTuning };
}

const token = (text: string) => ({ type: 'token' as const, id: 0, text });
const whenAborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a question and the end of its answer are stored at once, the text between them six times a second', async () => {
  const grown: { at: number; words: number }[] = [];
  const start = performance.now();
  const { session, kept, events } = setUp(
    async function* () {
      for (let i = 0; i < 50; i++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield token('word ');
      }
    },
    {},
    ({ detail: { turn } }) => grown.push({ at: performance.now() - start, words: turn.answer.length / 5 }),
  );
  session.ask('Go');
  expect(kept.length).toBe(1);
  await vi.advanceTimersByTimeAsync(990);
  expect(kept.length).toBe(1);
  expect(grown.map(({ at }) => at)).toEqual([20, 170, 320, 470, 620, 770, 920]);
  for (const { at, words } of grown) expect(words).toBeGreaterThanOrEqual(Math.ceil(at / 20) - 1);
  await vi.advanceTimersByTimeAsync(200);
  expect(kept.length).toBe(2);
  expect(kept[1]?.turns[0]).toMatchObject({ state: 'done', answer: 'word '.repeat(50) });
  expect(kept[1].updatedAt).toBeGreaterThan(kept[0].updatedAt);
  expect(events.filter((name) => name !== 'vivace-event')).toEqual(['vivace-run', 'vivace-end']);
  const writes = grown.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([kept.length, grown.length]).toEqual([2, writes]); // no change, no write
});

test('text that comes rarely is kept as it comes, and in a burst at most 150 ms later', async () => {
  const grown: string[] = [];
  const { session } = setUp(
    async function* (_messages, signal) {
      for (const text of ['a', 'b', 'c']) {
        yield token(text);
        yield token('!');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      await whenAborted(signal);
    },
    {},
    ({ detail: { turn } }) => grown.push(turn.answer),
  );
  session.ask('Go');
  await settle();
  expect(grown).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(150);
  expect(grown).toEqual(['a', 'a!']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(grown).toEqual(['a', 'a!', 'a!b', 'a!b!']);
});

test('text that waits for its timer is handed over when the page closes', async () => {
  const page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  const grown: string[] = [];
  const { session } = setUp(
    async function* (_messages, signal) {
      yield token('a');
      yield token('!');
      await whenAborted(signal);
    },
    {},
    ({ detail: { turn } }) => grown.push(turn.answer),
  );
  session.hostConnected();
  session.ask('Go');
  await settle();
  page.dispatchEvent(new Event('pagehide'));
  expect(grown).toEqual(['a', 'a!']);
  await vi.advanceTimersByTimeAsync(1_000);
  page.dispatchEvent(new Event('pagehide'));
  expect(grown).toEqual(['a', 'a!']); // nothing waits any more
  session.hostDisconnected();
});

test('an element that is moved keeps its answer, and one that is removed ends it with its text', async () => {
  const { host, session, kept } = setUp(async function* (_messages, signal) {
    yield token('a');
    await Promise.race([whenAborted(signal), new Promise((resolve) => setTimeout(resolve, 1_000))]);
    if (!signal.aborted) yield token('b');
    await whenAborted(signal);
  });
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('removeEventListener', () => {});
  session.ask('Go');
  await settle();
  session.hostDisconnected(); // and in the same task it is there again
  session.hostConnected();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(session.path[0]).toMatchObject({ state: 'streaming', answer: 'ab' });
  Object.assign(host, { isConnected: false });
  session.hostDisconnected();
  await settle();
  expect(session.path[0]).toMatchObject({ state: 'done', finishReason: 'abort', answer: 'ab' });
  expect(kept.at(-1)?.turns[0]?.answer).toBe('ab');
});

describe('the question is stored before the engine is asked', () => {
  /** Like `setUp`, with storage that answers when the test calls `stored`. */
  function keepSlowly() {
    let stored = () => {};
    const answering = setUp(async function* () {
      yield token('word');
    });
    const keeper = (event: Event) => {
      if (event instanceof KeepEvent && event.isQuestion) {
        event.waitsFor.push(new Promise<void>((resolve) => (stored = resolve)));
      }
      return true;
    };
    const session = new ChatSession({ ...answering.host, dispatchEvent: keeper });
    return { ...answering, session, stored: () => stored() };
  }

  test('and the engine is asked right after', async () => {
    const { session, asked, stored } = keepSlowly();
    session.ask('Go');
    await vi.advanceTimersByTimeAsync(900);
    expect(asked).toEqual([]);
    stored();
    await settle();
    expect(asked).toEqual([['Go']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('but for one second at most', async () => {
    const { session, asked } = keepSlowly();
    session.ask('Go');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toEqual([['Go']]);
  });

  test('and a stop meanwhile asks no engine', async () => {
    const { session, asked } = keepSlowly();
    session.ask('Go');
    await settle();
    session.stop();
    await settle();
    expect(session.isAnswering).toBe(false);
    expect(session.path[0]).toMatchObject({ state: 'done', finishReason: 'abort' });
    expect(asked).toEqual([]);
  });
});

describe('an answer is over with `done`', () => {
  const done = { type: 'done', text: '.', finishReason: 'eos', metrics: { tbtMs: {} } } as unknown as EngineEvent;

  test('and the GPU’s times come after it', async () => {
    let read = () => {};
    const { session, events, asked } = setUp(async function* () {
      yield token('word');
      yield done;
      await new Promise<void>((resolve) => {
        read = resolve;
      });
      yield { type: 'gpuTimes', gpuMs: null };
    });
    session.ask('Go');
    await settle();
    expect([session.isAnswering, session.path[0].state, events.at(-1)]).toEqual([false, 'done', 'vivace-end']);
    read();
    await settle();
    expect(events.slice(-2)).toEqual(['vivace-end', 'vivace-event']);
    session.ask('And then?');
    expect([session.isAnswering, asked.length]).toEqual([true, 1]);
  });

  test('whatever fails after it', async () => {
    const { session } = setUp(async function* () {
      yield token('word');
      yield done;
      throw new WorkerError('a test');
    });
    session.ask('Go');
    await settle();
    expect(session.path[0]).toMatchObject({ answer: 'word.', state: 'done', finishReason: 'eos', advice: null });
  });
});

test('an engine that does not react to a stop is given a second', async () => {
  const { session, events } = setUp(async function* () {
    yield token('half');
    await new Promise(() => {});
  });
  session.ask('Go');
  await settle();
  session.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(session.path[0]).toMatchObject({ answer: 'half', state: 'done', finishReason: 'abort', advice: null });
  expect([session.isAnswering, events.at(-1)]).toEqual([false, 'vivace-end']);
});

test('another conversation ends an answer at once, and later events of the engine are dropped', async () => {
  const { session, kept, events } = setUp(async function* (_messages, signal) {
    yield token('half ');
    await whenAborted(signal);
    yield token('too late');
  });
  session.ask('Go');
  await settle();
  const other = newConversation();
  session.open(other);
  expect(kept.at(-1)?.turns[0]).toMatchObject({ answer: 'half ', state: 'done', finishReason: 'abort' });
  expect(session.conversation).toBe(other);
  expect(session.isAnswering).toBe(false);
  const heard = events.length;
  await settle();
  expect(events.length).toBe(heard);
  expect(events.at(-1)).toBe('vivace-end');
  expect(kept.at(-1)?.turns[0]?.answer).toBe('half ');
});

test('a stopped answer is no failure, even if the engine goes away meanwhile', async () => {
  const { session } = setUp(async function* (_messages, signal) {
    yield token('half');
    await whenAborted(signal);
    throw new WorkerError('The engine was unloaded.');
  });
  session.ask('Go');
  await settle();
  session.stop();
  await settle();
  expect(session.path[0]).toMatchObject({ answer: 'half', state: 'done', finishReason: 'abort', advice: null });
});

test('making room asks again with fewer and fewer messages until they fit', async () => {
  const { session, asked } = setUp(async function* (messages) {
    if (messages.length > 1) throw new ContextOverflowError(200, 100);
    yield token(`answer to ${messages.at(-1)?.content}`);
  });
  const answered = (id: string, parent: string | null) => ({
    ...session.path[0],
    id,
    parent,
    question: id,
    answer: 'x'.repeat(15),
  });
  session.ask('a');
  await settle();
  session.open({
    ...newConversation(),
    turns: [answered('a', null), answered('b', 'a'), answered('c', 'b'), answered('d', 'c')],
  });
  session.ask('e');
  await settle();
  expect(session.path.at(-1)?.advice?.offers).toContain('forget');
  expect(session.canForget).toBe(true);
  session.makeRoom(session.path.at(-1)!);
  await settle();
  expect(session.path.at(-1)).toMatchObject({ question: 'e', state: 'done', advice: null });
  expect(session.path).toHaveLength(5);
  const lengths = asked.slice(1).map((messages) => messages.length);
  expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
  expect(lengths.at(-1)).toBe(1);
  expect(session.memoryStart).toBe(4);
});

test('the failure stays when no turn is left to forget', async () => {
  const { session, asked } = setUp(async function* () {
    yield token('');
    throw new ContextOverflowError(200, 100);
  });
  session.ask('a');
  await settle();
  session.makeRoom(session.path[0]);
  await settle();
  expect(asked.length).toBe(1);
  expect(session.path[0]?.state).toBe('error');
  expect(session.canForget).toBe(false);
});

test('a question that waits for the tuner can be stopped, and the engine is not asked', async () => {
  const { session, asked, events } = setUp(
    async function* () {
      yield token('never');
    },
    { tuning: {} },
  );
  session.ask('Go');
  expect(session.path[0]?.waitsFor).toContain('tuned');
  expect(session.announcement).toContain('waits');
  session.stop();
  await settle();
  expect(asked).toEqual([]);
  expect(session.path[0]).toMatchObject({ state: 'done', finishReason: 'abort', waitsFor: null });
  expect(events).toEqual(['vivace-end']);
});

test('a waiting question shows its reason', async () => {
  const shown: (string | null)[] = [];
  const { host } = setUp(async function* () {});
  const session = new ChatSession({
    ...host,
    tuning: {},
    dispatchEvent(event) {
      if (event instanceof KeepEvent && event.isQuestion) event.waitsFor.push(Promise.resolve());
      return true;
    },
    refreshTurn: ({ waitsFor }) => shown.push(waitsFor),
  });
  session.ask('Go');
  await settle();
  expect(shown).toEqual(['this GPU is being tuned.']);
  session.leave();
});

test('a waiting question is asked when the tuner is done', async () => {
  const { session, asked, endTuning } = setUp(
    async function* () {
      yield token('now');
    },
    { tuning: {} },
  );
  session.ask('Go');
  endTuning();
  await settle();
  expect(asked).toEqual([['Go']]);
  expect(session.path[0]?.answer).toBe('now');
});

test('a waiting question reads its own branch, though another is shown by then', async () => {
  const { host, session, asked, endTuning } = setUp(
    async function* () {
      yield token('now');
    },
    { tuning: {} },
  );
  session.ask('old');
  endTuning();
  await settle();
  Object.assign(host, { tuning: {} });
  session.askInstead(session.path[0], 'new');
  session.showVersion(session.steps[0], 'question', -1);
  endTuning();
  await settle();
  expect(asked).toEqual([['old'], ['new']]);
});

test('a newly written system prompt stays with its conversation', async () => {
  const { session, kept } = setUp(async function* () {
    yield token('now');
  });
  session.ask('Go');
  await settle();
  const { id } = session.conversation;
  session.setSystem('Be short.');
  session.open(newConversation());
  expect(kept.at(-1)).toMatchObject({ id, system: 'Be short.' });
  const said = kept.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kept.length).toBe(said); // the new conversation has not changed
});

test('files come before their question, are not stored again with each word, and stay with another answer', async () => {
  const grown: unknown[] = [];
  const { session, asked, kept } = setUp(
    async function* () {
      yield token('word');
    },
    {},
    ({ detail: { turn } }) => grown.push(turn.attachments),
  );
  const notes = { name: 'notes.md', text: 'milk' };
  session.ask('What?', [notes]);
  await settle();
  const read = 'notes.md:\n```\nmilk\n```\n\nWhat?';
  expect([asked, grown, kept[0].turns[0].attachments]).toEqual([[[read]], [[]], [notes]]);
  session.askInstead(session.path[0]);
  await settle();
  session.askInstead(session.path[0], 'What?', false, []);
  await settle();
  expect(asked.slice(1)).toEqual([[read], ['What?']]);
});

test('one answer at a time, and none without an engine', async () => {
  const { session } = setUp(async function* (_messages, signal) {
    yield token('half');
    await whenAborted(signal);
  });
  session.ask('a');
  session.ask('b');
  session.askInstead(session.path[0], 'c');
  expect(session.path.map(({ question }) => question)).toEqual(['a']);
  session.stop();
  await settle();
  const without = setUp(() => expect.unreachable(), { engine: null }).session;
  without.ask('a');
  expect(without.path).toEqual([]);
});

describe('thinking', () => {
  test('is switched only where the chat template can', async () => {
    const sent: unknown[] = [];
    for (const ability of ['none', 'always', 'optional']) {
      for (const thinking of ['on', 'off', 'nonsense'] as const) {
        const { session, host, options } = setUp(async function* () {
          yield token('word');
        });
        Object.assign(host, { thinking });
        Object.assign(host.engine!.info, { thinking: ability });
        session.ask('Go');
        await settle();
        sent.push(options[0].thinking);
      }
    }
    expect(sent).toEqual([...Array(6).fill(undefined), 'on', 'off', 'on']);
  });

  test('is announced once, then the answer; and a cut in it at the end', async () => {
    const said: string[] = [];
    const { session } = setUp(
      async function* () {
        for (const text of ['Let', ' me', ' see']) {
          yield token('');
          yield { type: 'reasoning', text };
        }
        yield token('So');
      },
      { requestUpdate: () => said.push(session.announcement) },
    );
    session.ask('Go');
    await settle();
    const heard = said.filter((text, i) => text !== '' && text !== said[i - 1]);
    expect(heard).toEqual(['The model is thinking.', 'The answer begins.', 'The answer is complete, 1 word.']);
    const { session: cut } = setUp(async function* (_, signal) {
      yield token('');
      yield { type: 'reasoning', text: 'Let' };
      await whenAborted(signal);
    });
    cut.ask('Go');
    await settle();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(cut.announcement).toBe('Still thinking, 1 word.');
    cut.stop();
    await settle();
    expect(cut.announcement).toBe('Stopped while thinking, before the answer.');
  });
});

describe('a loss of the engine in mid-answer', () => {
  const interrupted = { type: 'interrupted', code: 'device-lost', message: 'The GPU device was lost.' } as const;
  const recovered = (backend: 'webgpu' | 'cpu') =>
    ({ type: 'recovered', message: 'It goes on.', backend, pauseMs: 1_800 }) as const;

  test('is a pause: the answer goes on, with a remark, and screen readers hear of both', async () => {
    let load = () => {};
    const { host, session, events } = setUp(async function* () {
      yield token('One ');
      yield interrupted;
      await new Promise<void>((resolve) => {
        load = resolve;
      });
      yield recovered('webgpu');
      yield token('two.');
      yield interrupted;
      yield recovered('cpu');
      yield recovered('webgpu'); // back on the GPU: nothing was lost
    });
    Object.assign(host.engine!.info, { backend: 'webgpu' });
    session.ask('Count');
    await settle();
    expect([session.isAnswering, session.announcement]).toEqual([
      true,
      'The GPU was lost. The answer waits for the model.',
    ]);
    load();
    await settle();
    expect(session.path[0]).toMatchObject({ state: 'done', answer: 'One two.', advice: null });
    expect(session.path[0].remarks).toEqual([
      'The GPU was lost; the answer went on after 1.8 s.',
      'The GPU was lost; the CPU went on after 1.8 s.',
      'The GPU is back; it went on after 1.8 s.',
    ]);
    expect(events.filter((name) => name === 'vivace-event')).toHaveLength(7); // the panel hears of the losses too
  });

  test('moves the answer to the server or back, which the remark names, and each model signs', async () => {
    const here = { backend: 'webgpu', model: { name: 'storyteller' } } as EngineInfo;
    const server = { backend: 'remote', model: { name: 'large' } } as EngineInfo;
    const { session, host } = setUp(async function* () {
      yield { type: 'place', place: 'remote', info: server };
      yield token('One ');
      yield { ...interrupted, code: 'server-cut' };
      yield { type: 'place', place: 'local', info: here };
      yield recovered('webgpu');
      yield token('two ');
      yield interrupted;
      yield { type: 'place', place: 'remote', info: server };
      yield { ...recovered('webgpu'), backend: 'remote' };
      yield token('three.');
    });
    Object.assign(host.engine!.info, here);
    session.ask('Count');
    await settle();
    expect(session.path[0].remarks).toEqual([
      'The server was lost; this page went on after 1.8 s.',
      'The GPU was lost; the server went on after 1.8 s.',
    ]);
    expect(session.path[0].writers.map(({ model }) => model)).toEqual(['large', 'storyteller', 'large']);
  });

  test('leaves Stop at work', async () => {
    const { session } = setUp(async function* () {
      yield token('One ');
      yield interrupted;
      await new Promise(() => {});
    });
    session.ask('Count');
    await settle();
    session.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(session.isAnswering).toBe(false);
    expect(session.path[0]).toMatchObject({ state: 'done', finishReason: 'abort', answer: 'One ' });
  });

  test('has few remarks, however often it happens', async () => {
    const { session } = setUp(async function* () {
      for (let i = 0; i < 200; i++) {
        yield interrupted;
        yield recovered('webgpu');
      }
    });
    session.ask('Count');
    await settle();
    expect(session.path[0].remarks).toHaveLength(10); // a stored turn may have 100
  });
});

describe('a cut answer', () => {
  const done = (finishReason: string) => ({
    type: 'done' as const,
    text: '',
    finishReason: finishReason as 'length',
    usage: { promptTokens: 5, cachedTokens: 0, completionTokens: 3, reasoningTokens: 0 },
    metrics: { tbtMs: { p50: 1 }, ttftMs: 1, decodeTokensPerSecond: 3 } as never,
  });

  test('the only exchange is not called the oldest messages', async () => {
    const { session } = setUp(async function* () {
      yield token('word');
      yield done('context');
    });
    session.ask('a');
    await settle();
    expect([session.isFull, session.canForget]).toEqual([true, false]);
    session.ask('b');
    await settle();
    expect([session.isFull, session.canForget]).toEqual([true, true]);
  });

  test('goes on in the same turn, and is stored as a question is', async () => {
    let n = 0;
    const { session, asked, options, kept } = setUp(async function* () {
      yield token(['One', ' two', ' three'][n]);
      yield done(n++ < 2 ? 'length' : 'eos');
    });
    session.ask('Count');
    await settle();
    const [turn] = session.path;
    for (const answer of ['One two', 'One two three']) {
      expect(session.canContinue(turn)).toBe(true);
      session.continueAnswer(turn);
      await settle();
      expect(session.path[0]).toMatchObject({ state: 'done', answer });
    }
    expect(asked).toEqual([['Count'], ['Count', 'One'], ['Count', 'One two']]);
    expect(options.map(({ continueLast }) => continueLast)).toEqual([undefined, true, true]);
    expect([session.canContinue(turn), session.path.length, kept.length]).toEqual([false, 1, 6]);
    expect(turn.usage?.completionTokens).toBe(9);
  });

  test('goes on after Stop, also within its thinking, which cannot be off then', async () => {
    let n = 0;
    const { session, host, options } = setUp(async function* (_, signal) {
      if (n++ === 0) {
        yield { type: 'reasoning', text: 'Let me' };
        await whenAborted(signal);
      } else {
        yield { type: 'reasoning', text: ' see.' };
        yield token('So.');
      }
    });
    Object.assign(host.engine!.info, { thinking: 'optional' });
    session.ask('Why?');
    await settle();
    session.stop();
    await settle();
    Object.assign(host, { thinking: 'off' });
    session.continueAnswer(session.path[0]);
    await settle();
    expect(session.path[0]).toMatchObject({ reasoning: 'Let me see.', answer: 'So.' });
    expect(options[1]).toMatchObject({ thinking: 'on', continueLast: true });
  });

  test('that fails to go on keeps its text and its end, and can be continued again', async () => {
    let n = 0;
    const { session, asked } = setUp(async function* () {
      if (n++ === 1) throw new WorkerError('a test');
      yield token('word');
      yield done('length');
    });
    session.ask('Go');
    await settle();
    session.continueAnswer(session.path[0]);
    await settle();
    expect(session.path[0]).toMatchObject({ state: 'done', answer: 'word', finishReason: 'length' });
    expect(session.path[0].advice?.offers).toContain('continue');
    session.continueAnswer(session.path[0]);
    await settle();
    expect(session.path[0]).toMatchObject({ state: 'done', answer: 'wordword', advice: null });
    session.ask('And then?');
    await settle();
    expect(asked.at(-1)).toEqual(['Go', 'wordword', 'And then?']);
  });

  test('makes room if it must, but always reads itself', async () => {
    let n = 0;
    const { session, asked } = setUp(async function* (messages) {
      if (n++ > 1 && messages.length > 2) throw new ContextOverflowError(200, 100);
      yield token('word');
      yield done('length');
    });
    session.ask('a');
    await settle();
    session.ask('b');
    await settle();
    session.continueAnswer(session.path[1]);
    await settle();
    expect(session.path[1].advice?.offers).toContain('forget');
    expect(session.canForget).toBe(true);
    session.makeRoom(session.path[1]);
    await settle();
    expect(asked.at(-1)).toEqual(['b', 'word']);
    expect(session.path[1]).toMatchObject({ state: 'done', answer: 'wordword', advice: null });
  });

  test('is signed by each model that wrote it, with the time of its end, also when it fails', async () => {
    const { session, host } = setUp(async function* () {
      yield token('word');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      yield done('length');
    });
    const start = Date.now();
    session.ask('Go');
    await vi.advanceTimersByTimeAsync(1_000);
    const [turn] = session.path;
    expect(turn.writers).toEqual([{ model: 'storyteller', endedAt: start + 1_000 }]);
    Object.assign(host.engine!.info, { model: { name: 'qwen' } });
    session.continueAnswer(turn);
    await settle();
    expect(turn.writers.at(-1)).toEqual({ model: 'qwen', endedAt: null });
    session.leave();
    expect(turn.writers.at(-1)).toEqual({ model: 'qwen', endedAt: start + 1_000 });
    expect(turn.writers).toHaveLength(2);
  });

  test('is signed with the name that people know, where there is one', async () => {
    const answer = async function* () {
      yield token('word');
      yield done('eos');
    };
    const { session } = setUp(answer, { modelName: 'Storyteller' });
    session.ask('Go');
    await settle();
    expect(session.path[0].writers[0].model).toBe('Storyteller');
  });

  test('of a model without a chat template goes on as a text', async () => {
    const { session, host } = setUp(async function* () {});
    const prompts: string[] = [];
    const complete = async function* (prompt: string) {
      prompts.push(prompt);
      yield token(' there');
      yield done('length');
    };
    Object.assign(host.engine!, { complete, info: { ...host.engine!.info, hasChatTemplate: false } });
    session.ask('Once');
    await settle();
    session.continueAnswer(session.path[0]);
    await settle();
    expect(prompts).toEqual(['Once', 'Once there']);
  });

  test('only the newest one goes on, and not while the model answers', async () => {
    const { session, asked } = setUp(async function* (messages, signal) {
      yield token('word');
      if (messages.length > 1) await whenAborted(signal);
      yield done('length');
    });
    session.ask('a');
    await settle();
    session.ask('b');
    await settle();
    session.continueAnswer(session.path[0]);
    session.continueAnswer(session.path[1]);
    session.stop();
    await settle();
    session.continueAnswer(session.path[0]);
    await settle();
    expect(asked.length).toBe(2);
  });
});

test('an answer that was left and goes on is not ended by the late end of the engine', async () => {
  let asks = 0;
  const { session } = setUp(async function* (_messages, signal) {
    if (++asks === 1) {
      yield token('One');
      await whenAborted(signal);
      await new Promise((resolve) => setTimeout(resolve, 5_000)); // a slow machine
      throw signal.reason;
    }
    yield token(' two');
    await whenAborted(signal);
  });
  session.ask('Count');
  await settle();
  session.stop();
  await vi.advanceTimersByTimeAsync(1_500);
  const [turn] = session.path;
  expect(turn).toMatchObject({ state: 'done', finishReason: 'abort', answer: 'One' });
  session.continueAnswer(turn!);
  await settle();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(session.isAnswering).toBe(true);
  expect(turn).toMatchObject({ state: 'streaming', finishReason: null, answer: 'One two' });
});

for (const [end, last] of [
  ['end', () => Promise.resolve()],
  ['failure', () => Promise.reject(new WorkerError('a test'))],
] as const) {
  test(`an answer that goes on before the GPU’s times of its first part have come outlasts the ${end} of that part`, async () => {
    let asks = 0;
    const { session } = setUp(async function* (_messages, signal) {
      if (++asks === 1) {
        yield token('One');
        yield {
          type: 'done',
          text: '',
          finishReason: 'length',
          usage: {},
          metrics: { tbtMs: {} },
        } as unknown as EngineEvent;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return await last();
      }
      yield token(' two');
      await whenAborted(signal);
    });
    session.ask('Count');
    await settle();
    const [turn] = session.path;
    expect(turn.state).toBe('done');
    session.continueAnswer(turn);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(session.isAnswering).toBe(true);
    expect(turn).toMatchObject({ state: 'streaming', finishReason: null, advice: null, answer: 'One two' });
  });
}
