// Iterators that a reader leaves while they wait.

import { expect, test } from 'vitest';
import { leavable, type Waits } from '../../../src/embed/session/leavable';

/** A source that gives one event and then waits, and ends when it is left, as the engine's answers do. */
function waiting() {
  const state = { isLeft: false, isClosed: false };
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  async function* events() {
    try {
      yield 'a';
      await left;
    } finally {
      state.isClosed = true;
    }
  }
  const made: AsyncGenerator<string, void, undefined> = events();
  const end = made.return.bind(made);
  made.return = (value) => {
    state.isLeft = true;
    leave();
    return end(value);
  };
  return { state, source: made };
}

test('return() ends at once, through any number of iterators, one that waits for an event', async () => {
  const { state, source } = waiting();
  const over = (inner: () => AsyncGenerator<string, void, undefined>) =>
    leavable(async function* ({ hold }: Waits) {
      yield* hold(inner());
    });
  const events = over(() => over(() => over(() => source)));
  expect(await events.next()).toEqual({ value: 'a', done: false });
  const pending = events.next();
  expect(await events.return()).toEqual({ value: undefined, done: true });
  expect(await pending).toEqual({ value: undefined, done: true });
  expect(state).toEqual({ isLeft: true, isClosed: true });
});

test('return() before the events begin, and during a wait of another kind, starts none', async () => {
  let starts = 0;
  const begin = () =>
    leavable<string>(async function* ({ hold, left }) {
      if ((await Promise.race([new Promise<'never'>(() => {}), left])) === null) return;
      starts++;
      yield* hold(waiting().source);
    });
  const events = begin();
  const pending = events.next();
  await events.return();
  expect(await pending).toEqual({ value: undefined, done: true });
  await begin().return();
  expect(starts).toBe(0);
});

test('events that are opened after the reader left are ended', async () => {
  const { state, source } = waiting();
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const events = leavable(async function* ({ hold }) {
    await gate;
    yield* hold(source);
  });
  const pending = events.next();
  const ended = events.return();
  go();
  await ended;
  expect((await pending).value).toBeOneOf(['a', undefined]);
  expect(state.isLeft).toBe(true);
});

test('an error reaches the reader, and a loop that ends early ends the events', async () => {
  const failing = leavable(async function* ({ hold }) {
    yield* hold(
      // biome-ignore lint/correctness/useYield: it fails before its first event
      (async function* (): AsyncGenerator<string, void, undefined> {
        throw new Error('gone');
      })(),
    );
  });
  await expect(failing.next()).rejects.toThrow('gone');
  const { state, source } = waiting();
  for await (const _ of leavable(({ hold }) => hold(source))) break;
  expect(state).toEqual({ isLeft: true, isClosed: true });
});
