// The gate for questions that wait.

import { expect, test } from 'vitest';
import { Gate } from '../../../src/ui/chat/gate';

const settled = async (promise: Promise<void>) => {
  let state = 'waiting';
  promise.then(
    () => {
      state = 'passed';
    },
    (error: unknown) => {
      state = String(error);
    },
  );
  await new Promise((resolve) => setTimeout(resolve));
  return state;
};

test('an opened gate settles every wait, once', async () => {
  const gate = new Gate();
  const { signal } = new AbortController();
  const both = [gate.pass(signal), gate.pass(signal)];
  expect(await settled(both[0])).toBe('waiting');
  gate.open();
  expect(await Promise.all(both.map(settled))).toEqual(['passed', 'passed']);
  expect(await settled(gate.pass(signal))).toBe('waiting');
});

test('an abort ends a wait, before and during it', async () => {
  const gate = new Gate();
  const abort = new AbortController();
  const waiting = gate.pass(abort.signal);
  abort.abort('left');
  expect(await settled(waiting)).toBe('left');
  expect(await settled(gate.pass(abort.signal))).toBe('left');
  gate.open();
  expect(await settled(waiting)).toBe('left');
});
