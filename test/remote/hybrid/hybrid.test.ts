// Which engine answers, what leaves the machine, and where a lost answer goes on.

import { describe, expect, test, vi } from 'vitest';
import type { Health } from '../../../src/engine/health';
import type { EngineEvent, EngineInfo } from '../../../src/engine/protocol';
import { VivaceError } from '../../../src/errors';
import { HybridEngine, type HybridOptions } from '../../../src/remote/hybrid/hybrid_engine';
import type { AnswerEngine, LocalEngine, Rule } from '../../../src/remote/hybrid/places';
import { RemoteError } from '../../../src/remote/remote_error';
import { done, FOREVER, nextTask, type Script, scriptedEngine, start, token, words } from '../../api/scripted_engine';

const HELLO = [{ role: 'user', content: 'hello' }] as const;

/** An engine that says its name and the request, or plays a script first. */
function engineOf(name: string, first?: Script) {
  const scripts = first ? [first] : [];
  const scripted = scriptedEngine(
    ({ messages, prompt }) =>
      scripts.shift() ?? [start(), ...words(`${name} says ${messages.at(-1)?.content ?? prompt}`), done()],
  );
  const unload = vi.fn(async () => {});
  const countTokens = vi.fn(async (input: string | readonly unknown[]) => input.length);
  return Object.assign(scripted, { unload, countTokens, metrics: null }) as unknown as typeof scripted & LocalEngine;
}

function hybrid(options: Partial<HybridOptions> & { server?: AnswerEngine }) {
  const { server = engineOf('server'), ...given } = options;
  const remote = vi.fn(async () => server);
  const consent = vi.fn(async () => true);
  const local = engineOf('page');
  const engine = new HybridEngine({ local, remote, consent, ...given });
  return { engine, remote, consent, local, server };
}

async function read(events: AsyncIterable<EngineEvent>) {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  const text = all.map((event) => (event.type === 'token' || event.type === 'done' ? event.text : '')).join('');
  const places = all.flatMap((event) => (event.type === 'place' ? [event.place] : []));
  return { all, text, places, kinds: all.map(({ type }) => type) };
}

const FOREVER_LOADING = new Promise<LocalEngine>(() => {});
const lost = () => new VivaceError('device-lost', 'The GPU device was lost.');
const cut = () => new RemoteError('server-cut', 'The server ended the answer.');

describe('the place', () => {
  test.each<[Rule, string]>([
    ['local', 'page'],
    ['remote', 'server'],
    ['remote-until-loaded', 'page'],
    [{ longerThan: 0 }, 'server'],
    [{ longerThan: 1 }, 'page'],
    [() => 'remote', 'server'],
    [async () => 'local' as const, 'page'],
  ])('by the rule %o', async (rule, name) => {
    const { engine } = hybrid({ rule });
    await Promise.resolve(); // the local engine is there
    const { text, places } = await read(engine.chat(HELLO, null));
    expect(text).toBe(`${name} says hello`);
    expect(places).toEqual([name === 'page' ? 'local' : 'remote']);
    expect(engine.metrics).toEqual({ ttftMs: 4 });
  });

  test('is the server until the model of the page is loaded', async () => {
    let loaded: (engine: LocalEngine) => void = () => {};
    const local = new Promise<LocalEngine>((resolve) => {
      loaded = resolve;
    });
    const { engine } = hybrid({ local });
    expect(() => engine.info).toThrow('No engine has answered yet');
    expect((await read(engine.chat(HELLO))).places).toEqual(['remote']);
    loaded(engineOf('page'));
    await local;
    expect((await read(engine.complete('Once'))).text).toBe('page says Once');
    expect(engine.info.model.name).toBe('storyteller');
  });

  test('a rule that is none is refused, and a function that says none', async () => {
    for (const rule of ['server', { longerThan: -1 }, { longerThan: 0.5 }, null, 7])
      expect(() => hybrid({ rule: rule as never })).toThrow(
        expect.objectContaining({ option: 'rule', message: expect.stringMatching('^rule: say') }),
      );
    const { engine } = hybrid({ rule: (() => 'moon') as never });
    await expect(read(engine.chat(HELLO))).rejects.toMatchObject({
      option: 'rule',
      message: expect.stringMatching('neither "local" nor "remote"'),
    });
  });
});

test('an option that is none is refused, and so is one that is missing', () => {
  const options = { local: null, remote: engineOf('server'), consent: () => true };
  const make = (given: unknown) => new HybridEngine(given as HybridOptions);
  expect(() => make({ ...options, rules: 'remote' })).toThrow(
    'rules is no option, but rule is. Choose among local, remote, rule, consent.',
  );
  expect(() => make(null)).toThrow('local must be an engine, its load, or null.');
  expect(() => make({ ...options, local: async () => engineOf('page') })).toThrow('local must be');
  expect(() => make({ ...options, remote: null })).toThrow('remote must be an engine, or a function that finds it.');
  expect(() => make({ ...options, consent: true })).toThrow('consent must be a function that asks the person.');
  for (const option of ['local', 'remote', 'consent'])
    expect(() => make({ ...options, [option]: undefined })).toThrow(expect.objectContaining({ option }));
  expect(make({ ...options, rule: undefined }).local).toBe(null);
});

test('a signal that is none is refused with the answer, and one whose answer nobody reads is not held', async () => {
  const { engine } = hybrid({ rule: 'remote' });
  const wrong = engine.chat(HELLO, { signal: new AbortController() as unknown as AbortSignal });
  await expect(read(wrong)).rejects.toMatchObject({ code: 'invalid-request', option: 'signal' });
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  await engine.chat(HELLO, { signal }).return();
  engine.complete('Hello', { signal });
  expect(added).not.toHaveBeenCalled();
});

test('an answer whose signal aborts before it is read asks nobody', async () => {
  const { engine, remote } = hybrid({ rule: 'remote' });
  const stop = new AbortController();
  const answer = engine.chat(HELLO, { signal: stop.signal });
  stop.abort();
  await read(answer).catch((error: Error) => expect(error.name).toBe('AbortError'));
  expect(remote).not.toHaveBeenCalled();
});

describe('consent', () => {
  test('is asked before the server is looked for, until it is given, and then no more', async () => {
    const answers = [false, true];
    const { engine, remote, local } = hybrid({ rule: () => 'remote', consent: async () => answers.shift() ?? false });
    expect((await read(engine.chat(HELLO))).places).toEqual(['local']);
    expect([remote.mock.calls.length, local.asked.length]).toEqual([0, 1]);
    for (let i = 0; i < 2; i++) expect((await read(engine.chat(HELLO))).places).toEqual(['remote']);
    expect(remote).toHaveBeenCalledTimes(1);
  });

  test('is asked once by requests at the same time, and the server is looked for once', async () => {
    const consent = vi.fn(async () => true);
    const { engine, remote } = hybrid({ rule: 'remote', consent });
    const texts = await Promise.all(['a', 'b'].map(async (prompt) => (await read(engine.complete(prompt))).text));
    expect(texts).toEqual(['server says a', 'server says b']);
    expect([consent, remote].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  test('of one that was aborted is not lost for the one that waits with it', async () => {
    let agree = (_: boolean) => {};
    const consent = vi.fn(
      () =>
        new Promise<boolean>((resolve) => {
          agree = resolve;
        }),
    );
    const { engine } = hybrid({ rule: 'remote', consent });
    const stop = new AbortController();
    const [left, stays] = [engine.chat(HELLO, { signal: stop.signal }), engine.chat(HELLO)].map(read);
    await nextTask();
    stop.abort();
    await expect(left).rejects.toThrow('aborted');
    agree(true);
    expect((await stays)?.places).toEqual(['remote']);
    expect(consent).toHaveBeenCalledOnce();
  });

  test.each([1, 'yes', {}, undefined])('is true alone, not %o', async (said) => {
    const { engine, remote } = hybrid({ rule: 'remote', consent: () => said as never });
    await expect(read(engine.chat(HELLO))).rejects.toThrow('Nothing is sent to the server without consent');
    expect(remote).not.toHaveBeenCalled();
  });

  test('is not asked for an answer of this page', async () => {
    const { engine, consent, remote } = hybrid({ rule: 'local' });
    await read(engine.chat(HELLO));
    expect([consent, remote].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  });

  test('is asked before a lost answer moves; refused, the answer ends with its error', async () => {
    const local = engineOf('page', [start(), ...words('page says '), lost()]);
    const { engine, remote } = hybrid({ local, consent: () => false, rule: () => 'local' });
    await expect(read(engine.chat(HELLO))).rejects.toThrow('The GPU device was lost.');
    expect(remote).not.toHaveBeenCalled();
  });
});

describe('a lost answer', () => {
  test.each([
    ['local', lost(), 'remote'],
    ['remote', cut(), 'local'],
  ] as const)('of %s goes on at the other place', async (from, error, to) => {
    const losing = engineOf('one', [start(), ...words('It is '), error]);
    const other = engineOf('two', [start(), token('a fox.'), done()]);
    const [local, server] = from === 'local' ? [losing, other] : [other, losing];
    const { engine } = hybrid({ local, server, rule: () => from });
    const { text, places, kinds, all } = await read(engine.chat(HELLO, { maxTokens: 10 }));
    expect(text).toBe('It is a fox.');
    expect(places).toEqual([from, to]);
    expect(kinds.filter((kind) => kind === 'start')).toHaveLength(1);
    expect(kinds.slice(4, 7)).toEqual(['interrupted', 'place', 'recovered']);
    expect(other.asked[0]).toMatchObject({
      messages: [...HELLO, { role: 'assistant', content: 'It is ' }],
      options: { continueLast: true, maxTokens: 8 },
    });
    const end = all.find((event): event is Extract<EngineEvent, { type: 'done' }> => event.type === 'done');
    expect(end?.usage.completionTokens).toBe(5);
  });

  test('has positions that go on, the pause as a gap, and the figures of both parts', async () => {
    const at = (ms: number, position: number, tbtMs: number | null) => ({ atMs: ms, position, tbtMs });
    const losing = [start(), token('It ', 0, at(1000, 50, null)), token('is ', 1, at(1010, 51, 10)), cut()];
    const going = [start(), token('a ', 0, at(1100, 7, null)), token('fox', 1, at(1120, 8, 20)), done()];
    const { engine } = hybrid({
      local: engineOf('page', going),
      server: engineOf('server', losing),
      rule: () => 'remote',
    });
    const { all } = await read(engine.chat(HELLO));
    const tokens = all.filter((event) => event.type === 'token');
    expect(tokens.map(({ position, tbtMs }) => [position, tbtMs])).toEqual([
      [50, null],
      [51, 10],
      [52, 90],
      [53, 20],
    ]);
    expect(engine.metrics).toMatchObject({ tbtMs: { perToken: [10, 90, 20] }, decodeTokensPerSecond: 25 });
  });

  test('before its first token is asked for again as it was', async () => {
    const { engine, server } = hybrid({ local: engineOf('page', [start(), lost()]), rule: () => 'local' });
    expect((await read(engine.chat(HELLO, { tools: [], n: 1 }))).text).toBe('server says hello');
    expect((server as ReturnType<typeof engineOf>).asked[0].messages).toEqual(HELLO);
  });

  test('of a text goes on behind it', async () => {
    const local = engineOf('page', [start(), ...words('upon '), lost()]);
    const { engine } = hybrid({ local, rule: () => 'local' });
    expect((await read(engine.complete('Once '))).text).toBe('upon server says Once upon ');
  });

  test('that continued a message continues both', async () => {
    const local = engineOf('page', [start(), ...words('a '), lost()]);
    const { engine, server } = hybrid({ local, rule: () => 'local' });
    await read(engine.chat([...HELLO, { role: 'assistant', content: 'It is ' }], { continueLast: true }));
    expect((server as ReturnType<typeof engineOf>).asked[0].messages).toEqual([
      ...HELLO,
      { role: 'assistant', content: 'It is a ' },
    ]);
  });

  test('that continued a message with thinking keeps the thinking', async () => {
    for (const content of ['It is ', '']) {
      const thinks = content === '' ? [{ type: 'reasoning', text: ' A fox.' } as const] : [];
      const local = engineOf('page', [start(), ...thinks, ...words('a '), lost()]);
      const { engine, server } = hybrid({ local, rule: () => 'local' });
      const begun = { role: 'assistant', content, reasoning: 'What is it?' } as const;
      await read(engine.chat([...HELLO, begun], { continueLast: true }));
      const reasoning = content === '' ? 'What is it? A fox.' : 'What is it?';
      const { messages } = (server as ReturnType<typeof engineOf>).asked[0];
      expect(messages).toEqual([...HELLO, { role: 'assistant', content: `${content}a `, reasoning }]);
    }
  });

  test('behind all tokens that were asked for has no token more, and ends', async () => {
    for (const rest of [[token('fox')], [token(''), { type: 'reasoning', text: 'Hm' } as const], []]) {
      const server = engineOf('server', [start(), ...words('It is a '), cut()]);
      const usage = { promptTokens: 8, cachedTokens: 0, completionTokens: rest.length, reasoningTokens: 0 };
      const local = engineOf('page', [start(), ...rest, done({ text: '!', usage })]);
      const { engine } = hybrid({ local, server, rule: () => 'remote' });
      const { text, kinds, all } = await read(engine.chat(HELLO, { maxTokens: 3 }));
      expect(text).toBe('It is a ');
      expect(kinds.filter((kind) => kind === 'token')).toHaveLength(3);
      expect(all.at(-1)).toMatchObject({ finishReason: 'length', usage: { ...usage, completionTokens: 3 } });
      expect(local.asked[0].options.maxTokens).toBe(1); // an engine answers with a token at least
    }
  });

  test('has no more tokens at the least than it was asked for', async () => {
    for (const [minTokens, left] of [
      [9, 7],
      [1, 0],
    ]) {
      const local = engineOf('page', [start(), ...words('It is '), lost()]);
      const { engine, server } = hybrid({ local, rule: () => 'local' });
      await read(engine.chat(HELLO, { minTokens }));
      expect((server as ReturnType<typeof engineOf>).asked[0].options.minTokens).toBe(left);
    }
  });

  test.each([
    ['behind nothing but spaces', [start(), token('\n\n'), lost()], {}],
    ['behind a call', [start(), { type: 'tool-call', index: 0, id: 'a', name: 'f', arguments: '{}' }, lost()], {}],
    ['in a thought', [start(), token(''), { type: 'reasoning', text: 'Hm' }, lost()], {}],
    ['under a constraint', [start(), token('{'), lost()], { constraint: { kind: 'json_object' } }],
    ['of several', [start(), token('a'), lost()], { n: 2 }],
  ] as const)('%s ends with its error', async (_title, script, options) => {
    const { engine, remote } = hybrid({ local: engineOf('page', script as Script), rule: () => 'local' });
    await expect(read(engine.chat(HELLO, options))).rejects.toThrow('The GPU device was lost.');
    expect(remote).not.toHaveBeenCalled();
  });

  test('of a named place, or of a wrong request, ends with its error', async () => {
    const wrong = new VivaceError('context-overflow', 'Too long.');
    const cases: [Rule, Error][] = [
      ['local', lost()],
      [() => 'local', wrong],
    ];
    for (const [rule, error] of cases) {
      const { engine, remote } = hybrid({ local: engineOf('page', [start(), token('a'), error]), rule });
      await expect(read(engine.chat(HELLO))).rejects.toBe(error);
      expect(remote).not.toHaveBeenCalled();
    }
  });

  test('moves once: a second loss is the end', async () => {
    const server = engineOf('server', [start(), token('b'), cut()]);
    const { engine } = hybrid({ local: engineOf('page', [start(), token('a'), lost()]), server, rule: () => 'local' });
    await expect(read(engine.chat(HELLO))).rejects.toThrow('The server ended the answer.');
  });
});

describe('what a chat sees', () => {
  const info = (contextLength: number, backend = 'webgpu') => ({ contextLength, backend }) as unknown as EngineInfo;
  const withInfo = (of: EngineInfo, more: object = {}) => Object.assign(engineOf('one'), { info: of, ...more });

  test.each<[Rule, object]>([
    ['remote', { contextLength: 900, backend: 'remote' }],
    ['remote-until-loaded', { contextLength: 60, backend: 'webgpu' }],
    [{ longerThan: 9 }, { contextLength: 900, backend: 'webgpu' }],
  ])('the info by the rule %o', async (rule, expected) => {
    const { engine } = hybrid({ rule, local: withInfo(info(60)), remote: withInfo(info(900, 'remote')) });
    expect(engine.info).toEqual(expected);
  });

  test('a local engine that is lost: the server answers, and its health is told', async () => {
    const listeners = new Set<(health: Health) => void>();
    const local = withInfo(info(60), {
      lost: lost(),
      health: { state: 'lost', cause: lost() },
      onHealth(listener: () => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    });
    const { engine } = hybrid({ local, remote: withInfo(info(900, 'remote')) });
    const heard = vi.fn();
    const stop = engine.onHealth(heard);
    const early = engine.onHealth(vi.fn());
    early();
    await Promise.resolve();
    expect(listeners.size).toBe(1);
    expect([engine.info.backend, engine.health.state, engine.lost, engine.local]).toEqual([
      'remote',
      'lost',
      null,
      local,
    ]);
    expect((await read(engine.chat(HELLO))).places).toEqual(['remote']);
    for (const listener of listeners) listener({ state: 'well' });
    expect(heard).toHaveBeenCalledOnce();
    stop();
    expect(listeners.size).toBe(0);
  });
});

describe('a model or server that is not there', () => {
  test('a model that does not load leaves the answer to the server', async () => {
    const failing = () => Promise.reject(new VivaceError('model-fetch', 'No such file.'));
    const rules: Rule[] = ['remote-until-loaded', { longerThan: 9 }, () => 'local'];
    for (const rule of rules) {
      const { engine } = hybrid({ local: failing(), rule });
      expect((await read(engine.chat(HELLO))).text).toBe('server says hello');
    }
    await expect(read(hybrid({ local: failing(), rule: 'local' }).engine.chat(HELLO))).rejects.toThrow('No such file.');
  });

  test('a server that is not there leaves the answer to the model, and is looked for again', async () => {
    const remote = vi.fn(async (): Promise<AnswerEngine> => {
      throw new RemoteError('server-unreachable', 'No server.');
    });
    const { engine } = hybrid({ remote, rule: () => 'remote' });
    for (let i = 0; i < 2; i++) expect((await read(engine.chat(HELLO))).text).toBe('page says hello');
    expect(remote).toHaveBeenCalledTimes(2);
  });
});

test.each<[string, Partial<HybridOptions>]>([
  ['the load', { local: FOREVER_LOADING, rule: 'local' }],
  ['the load, which the rule needs', { local: FOREVER_LOADING, rule: { longerThan: 9 } }],
  ['the server', { remote: () => new Promise<AnswerEngine>(() => {}), rule: 'remote' }],
  ['consent', { consent: () => new Promise<boolean>(() => {}), rule: 'remote' }],
])('an abort and a reader that leaves wait no longer for %s', async (_title, options) => {
  const never = { remote: () => new Promise<AnswerEngine>(() => {}), ...options };
  const { engine } = hybrid(never);
  const stop = new AbortController();
  const events = engine.chat(HELLO, { signal: stop.signal });
  const left = engine.chat(HELLO);
  const ends = Promise.all([events.next(), left.next()].map((next) => next.catch(({ name }) => name)));
  await nextTask();
  stop.abort();
  void left.return();
  expect(await Promise.race([ends, nextTask().then(nextTask)])).toEqual(['AbortError', 'AbortError']);
});

test('a reader that leaves, an abort and unload end the request where it runs', async () => {
  const server = engineOf('server', [start(), token('a'), FOREVER]);
  const { engine } = hybrid({ local: FOREVER_LOADING, server });
  for await (const event of engine.chat(HELLO)) if (event.type === 'token') break;
  expect(server.stopped).toBe(true);
  const { engine: other, local } = hybrid({ rule: 'local' });
  await Promise.resolve(); // the local engine is there
  await other.unload();
  expect(local.unload).toHaveBeenCalled();
  await expect(read(other.chat(HELLO))).rejects.toThrow('The engine was unloaded');

  const late = engineOf('late');
  const loading = Promise.resolve(late);
  await hybrid({ local: loading }).engine.unload();
  await loading;
  expect(late.unload).toHaveBeenCalled();
});
