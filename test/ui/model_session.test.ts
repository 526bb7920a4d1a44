import { expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine';
import type { LoadState } from '../../src/ui/loader';
import { ModelSession } from '../../src/ui/model_session';
import { STANDARD_LOAD } from '../../src/ui/settings_fields';

test('however often it is loaded again, the next model waits until the one before has given its memory back', async () => {
  const states: LoadState['kind'][] = [];
  let opened = 0;
  let unloaded = () => {};
  const engine = { unload: () => new Promise<void>((resolve) => (unloaded = resolve)) } as unknown as Engine;
  const listener = { onState: ({ kind }: LoadState) => states.push(kind), onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, undefined, listener, async () => {
    opened += 1;
    return engine;
  });
  await session.load();
  const loads = [session.load(), session.load()];
  await new Promise((resolve) => setTimeout(resolve));
  expect(opened).toBe(1);
  unloaded();
  await Promise.all(loads);
  expect(opened).toBe(2); // the load that was given up opens nothing
  expect(states).toEqual(['loading', 'ready', 'loading', 'loading', 'ready']);
});

test('a load that is cancelled before it begins is cancelled, and can be tried again', async () => {
  const states: LoadState['kind'][] = [];
  const engine = { unload: async () => {} } as unknown as Engine;
  const listener = { onState: ({ kind }: LoadState) => states.push(kind), onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, undefined, listener, async () => engine);
  const load = session.load();
  session.cancel();
  await load;
  await session.load();
  expect(states).toEqual(['loading', 'cancelled', 'loading', 'ready']);
});

test('an update that failed or was cancelled is tried again as an update; what is opened next is none', async () => {
  const asked: unknown[] = [];
  const listener = { onState() {}, onEngine() {} };
  const session = new ModelSession('m', STANDARD_LOAD, undefined, listener, async (_, { cache }) => {
    asked.push(cache);
    throw new Error('the line was cut');
  });
  await session.load(true);
  session.take('retry');
  await new Promise((resolve) => setTimeout(resolve));
  session.model = 'n';
  await session.load();
  expect(asked).toEqual(['check', 'check', undefined]);
});
