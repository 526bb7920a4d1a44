// The session of one model at a time: loads, cancels, retries, and the way back to the former model.

import { expect, test } from 'vitest';
import type { Engine } from '../../../src/engine/engine';
import type { LoadState } from '../../../src/ui/model/loader';
import { ModelSession } from '../../../src/ui/model/model_session';
import { STANDARD_LOAD } from '../../../src/ui/settings/settings_fields';

const tick = () => new Promise((settled) => setTimeout(settled));

/** A session whose loads advance step by step, and a log of all its reports in order. */
function setUp() {
  const heard: string[] = [];
  const states: LoadState[] = [];
  const steps = new Map<string, (stage: 'weights' | 'ready' | Error) => Promise<void>>();
  const engineOf = (name: string) =>
    ({
      name,
      unload: async () => {
        heard.push(`${name} unloaded`);
      },
    }) as unknown as Engine;
  const listener = {
    onState(state: LoadState) {
      states.push(state);
      heard.push(state.kind);
    },
    onEngine: (engine: Engine | null) =>
      void heard.push(`engine: ${(engine as { name?: string } | null)?.name ?? 'none'}`),
  };
  const session = new ModelSession('old', STANDARD_LOAD, listener, (model, { onProgress, signal }) => {
    const name = String(model);
    heard.push(`${name} opened`);
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      steps.set(name, async (stage) => {
        if (stage instanceof Error) reject(stage);
        else if (stage === 'ready') resolve(engineOf(name));
        else {
          await onProgress?.({ stage, loadedBytes: 0, totalBytes: 1, bytesPerSecond: null, secondsLeft: null });
          heard.push(`${name} may take memory`);
        }
        await tick();
      });
    });
  });
  return {
    session,
    heard,
    states,
    step: (name: string, stage: 'weights' | 'ready' | Error) => steps.get(name)!(stage),
  };
}

/** The result of `setUp` with the old model running and the load of another model begun. */
async function loadAnother() {
  const all = setUp();
  void all.session.load();
  await tick();
  await all.step('old', 'weights');
  await all.step('old', 'ready');
  all.session.model = 'new';
  const load = all.session.load();
  await tick();
  all.heard.length = 0;
  return { ...all, load };
}

test('a model that runs is let go when the next one was read and accepted, before that takes memory', async () => {
  const { heard, step, load } = await loadAnother();
  await step('new', 'weights');
  await step('new', 'ready');
  await load;
  expect(heard).toEqual(['loading', 'engine: none', 'old unloaded', 'new may take memory', 'ready', 'engine: new']);
});

test('a model that is refused costs nothing: the old one runs, and is what the next load is for', async () => {
  const { session, heard, states, step, load } = await loadAnother();
  await step('new', new Error('It is a picture.'));
  await load;
  expect(heard).toEqual(['failed']);
  expect(states.at(-1)).toMatchObject({ advice: { what: 'It is a picture.', offers: ['keep', 'retry'] } });
  expect(session.model).toBe('old');
  await session.take('keep');
  expect(heard).toEqual(['failed', 'ready']);
  void session.take('retry');
  expect(heard.slice(2)).toEqual(['loading', 'new opened']);
});

test('a load that is canceled before it took memory leaves the old model as it was, at once', async () => {
  const { session, heard, load } = await loadAnother();
  session.cancel();
  expect(heard).toEqual(['ready']);
  expect(session.model).toBe('old');
  await load;
  expect(heard).toEqual(['ready']);
});

test('after a load that failed late the way back is offered, and leads to the model from before', async () => {
  const { session, heard, states, step, load } = await loadAnother();
  await step('new', 'weights');
  await step('new', new Error('The GPU has no room.'));
  await load;
  expect(states.at(-1)).toMatchObject({ kind: 'failed', advice: { offers: ['former', 'retry'] } });
  heard.length = 0;
  void session.take('former');
  await tick();
  expect([session.model, heard]).toEqual(['old', ['loading', 'engine: none', 'old opened']]);
});

test('after a load that was canceled late, too', async () => {
  const { session, states, step } = await loadAnother();
  await step('new', 'weights');
  session.cancel();
  expect(states.at(-1)).toEqual({ kind: 'canceled', offers: ['retry', 'former'] });
});

test('what is still heard of a load that was canceled changes nothing', async () => {
  const { session, heard, step } = await loadAnother();
  session.cancel();
  heard.length = 0;
  await step('new', 'weights');
  await step('new', 'ready');
  expect(heard.filter((line) => line !== 'new may take memory')).toEqual([]);
});

test('however often it is loaded again, the next model waits until the one before has given its memory back', async () => {
  const states: LoadState['kind'][] = [];
  let opened = 0;
  let unloaded = () => {};
  const engine = { unload: () => new Promise<void>((resolve) => (unloaded = resolve)) } as unknown as Engine;
  const listener = { onState: ({ kind }: LoadState) => states.push(kind), onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, listener, async () => {
    opened += 1;
    return engine;
  });
  await session.load();
  const loads = [session.load(), session.load()];
  await tick();
  expect(opened).toBe(1);
  unloaded();
  await Promise.all(loads);
  expect(opened).toBe(2); // the load that was given up opens nothing
  expect(states).toEqual(['loading', 'ready', 'loading', 'loading', 'ready']);
});

test('a load that is canceled before it begins is canceled, and can be tried again', async () => {
  const states: LoadState['kind'][] = [];
  const engine = { unload: async () => {} } as unknown as Engine;
  const listener = { onState: ({ kind }: LoadState) => states.push(kind), onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, listener, async () => engine);
  const load = session.load();
  session.cancel();
  await load;
  await session.load();
  expect(states).toEqual(['loading', 'canceled', 'loading', 'ready']);
});

test('an update that failed or was canceled is tried again as an update; what is opened next is none', async () => {
  const asked: unknown[] = [];
  const listener = { onState() {}, onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, listener, async (_, { cache }) => {
    asked.push(cache);
    throw new Error('the line was cut');
  });
  await session.load(true);
  session.take('retry');
  await tick();
  session.model = 'n';
  await session.load();
  expect(asked).toEqual(['check', 'check', undefined]);
});
