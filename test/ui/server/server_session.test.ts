// One server beside the model of a page: what the chat asks, when, and that nothing is asked before consent.

import { expect, test, vi } from 'vitest';
import type { ChatEngine, Engine, EngineEvent, EngineInfo } from '../../../src/engine/engine';
import type { RemoteEngine, RemoteOptions } from '../../../src/remote/remote_engine';
import type { ServerChoice } from '../../../src/ui/server/server_choice';
import { ServerSession, type ServerState } from '../../../src/ui/server/server_session';
import { done, scriptedEngine, start, token } from '../../api/scripted_engine';

const CHOICE: ServerChoice = { address: 'https://far.example/v1', model: null, rule: 'remote' };
const HELLO = [{ role: 'user', content: 'hello' }] as const;

function engineOf(name: string, backend: EngineInfo['backend']): Engine {
  const scripted = scriptedEngine(() => [start(), token(name), done()]);
  const info = { model: { name }, backend, contextLength: 64 };
  const more = { info, models: [name], unload: vi.fn(async () => {}), lost: null, health: { state: 'well' } };
  return Object.assign(scripted, more, { onHealth: () => () => {}, countTokens: async () => 3 }) as unknown as Engine;
}

function setUp({ consents = async () => true, local = null as Engine | null, fails = null as unknown } = {}) {
  const given: (ChatEngine | null)[] = [];
  const stops: boolean[] = [];
  const states: ServerState['kind'][] = [];
  const far = engineOf('far', 'remote');
  const load = vi.fn(async (_address: string, _options?: RemoteOptions) => {
    if (fails) throw fails;
    return far as unknown as RemoteEngine;
  });
  const session = new ServerSession(
    {
      onEngine(engine, stop) {
        given.push(engine);
        stops.push(stop);
      },
      onServer: ({ kind }) => states.push(kind),
      consents,
    },
    local,
    load,
  );
  return { session, given, stops, states, load, far };
}

async function answer(engine: ChatEngine | null | undefined): Promise<string> {
  let text = '';
  for await (const event of engine!.chat(HELLO) as AsyncIterable<EngineEvent>)
    if (event.type === 'token') text += event.text;
  return text;
}

test('nothing is asked before consent, the key not before either; refused, the page answers as before', async () => {
  const local = engineOf('here', 'webgpu');
  const key = vi.fn(() => 'secret');
  const { session, given, states, load } = setUp({ local, consents: async () => false });
  await session.connect(CHOICE, key);
  expect([states, given]).toEqual([['asking', 'refused'], []]);
  expect(load).not.toHaveBeenCalled();
  expect(key).not.toHaveBeenCalled();
});

test('a server alone: its engine instead of the page’s, and back', async () => {
  const local = engineOf('here', 'webgpu');
  const { session, given, states, load, far } = setUp({ local });
  await session.connect({ ...CHOICE, model: 'm' }, async () => 'secret');
  expect(load.mock.lastCall?.[1]).toMatchObject({ apiKey: 'secret', model: 'm' });
  expect(states).toEqual(['asking', 'connecting', 'ready']);
  expect(given).toHaveLength(1);
  expect(await answer(given[0])).toBe('far');
  session.onLocal(null); // the page unloads its own
  expect(given).toHaveLength(1);
  session.onLocal(local);
  session.disconnect();
  expect(given[1]).toBe(local);
  expect(far.unload).toHaveBeenCalledOnce();
  expect(JSON.stringify(session)).not.toContain('secret');
});

test('until the model is loaded: one engine for the chat, before and after', async () => {
  const { session, given } = setUp();
  session.onLoad('loading');
  await session.connect({ ...CHOICE, rule: 'remote-until-loaded' }, () => '');
  expect(await answer(given.at(-1))).toBe('far');
  const heard = vi.fn();
  given.at(-1)!.onHealth(heard);
  session.onLoad('ready');
  session.onLocal(engineOf('here', 'webgpu'));
  await Promise.resolve();
  expect(given).toHaveLength(1);
  await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce());
  expect(given[0]?.info.model.name).toBe('here');
  expect(await answer(given[0])).toBe('here');
  session.onLoad('loading'); // another model
  session.onLocal(null);
  expect(await answer(given.at(-1))).toBe('far');
});

test('a load that fails leaves all answers to the server', async () => {
  const { session, given } = setUp();
  session.onLoad('loading');
  await session.connect({ ...CHOICE, rule: { longerThan: 2 } }, () => '');
  expect(given.at(-1) ?? null).toBeNull(); // the model counts the tokens
  session.onLoad('failed');
  expect(await answer(given.at(-1))).toBe('far');
  session.onLocal(engineOf('here', 'webgpu'));
  expect(await answer(given.at(-1))).toBe('far'); // 3 tokens are more than 2
});

test('an answer of the server goes on while the model of the page comes and goes', async () => {
  const { session, given, stops } = setUp();
  session.onLoad('loading');
  await session.connect({ ...CHOICE, rule: 'remote-until-loaded' }, () => '');
  expect(stops).toEqual([true]); // an answer of the engine before
  const answering = answer(given[0]);
  session.onLoad('failed');
  session.onLoad('loading');
  session.onLoad('canceled');
  expect(stops).toEqual([true, false, false, false]);
  expect(await answering).toBe('far');
  session.disconnect();
  expect(stops.at(-1)).toBe(true);
});

test('a failure is told, and a connection that was left is not', async () => {
  const error = new Error('No.');
  const { session, states } = setUp({ fails: error });
  await session.connect(CHOICE, () => '');
  expect(session.state).toEqual({ kind: 'failed', choice: CHOICE, error });
  let agree: (mayAsk: boolean) => void = () => {};
  const late = setUp({
    consents: () =>
      new Promise<boolean>((resolve) => {
        agree = resolve;
      }),
  });
  const connecting = late.session.connect(CHOICE, () => '');
  late.session.disconnect();
  agree(true);
  await connecting;
  expect([late.states, states]).toEqual([
    ['asking', 'off'],
    ['asking', 'connecting', 'failed'],
  ]);
  expect(late.load).not.toHaveBeenCalled();
});
