// The wires between a chat and a panel, with plain event targets for both.

import { expect, test, vi } from 'vitest';
import type { VivaceChat } from '../../../src/ui/chat/chat';
import { connectPanel, type Panel } from '../../../src/ui/chat/connect_panel';

function setUp(signal?: AbortSignal) {
  const calls: unknown[] = [];
  const chat = Object.assign(new EventTarget(), { engine: null as object | null, tuning: null as object | null });
  const methods = {
    loaded: () => calls.push('loaded'),
    reset: () => calls.push('reset'),
    record: (event: unknown) => calls.push(event),
    end: () => calls.push('end'),
    cancelTuning: vi.fn(),
  };
  const panel = Object.assign(new EventTarget(), { engine: undefined as unknown, info: null as unknown }, methods);
  const connect = () => connectPanel(chat as unknown as VivaceChat, panel as unknown as Panel, signal);
  const fire = (target: EventTarget, name: string, detail?: unknown) =>
    target.dispatchEvent(new CustomEvent(name, { detail }));
  return { chat, panel, calls, connect, fire };
}

test('the panel gets the events of each answer in order', () => {
  const { chat, calls, connect, fire } = setUp();
  connect();
  const event = { type: 'prefill', done: 1, total: 1 };
  fire(chat, 'vivace-run');
  fire(chat, 'vivace-event', event);
  fire(chat, 'vivace-end');
  expect(calls).toEqual(['reset', event, 'end']);
});

test('a panel that comes in the middle of an answer waits for the next one', () => {
  const { chat, panel, calls, connect, fire } = setUp();
  const { reset } = panel;
  Object.assign(panel, { reset: undefined }); // the element is there, its script is not
  connect();
  fire(chat, 'vivace-run');
  Object.assign(panel, { reset });
  fire(chat, 'vivace-event', { type: 'token' });
  fire(chat, 'vivace-end');
  expect(calls).toEqual([]);
  fire(chat, 'vivace-run');
  fire(chat, 'vivace-end');
  expect(calls).toEqual(['reset', 'end']);
});

test('the panel has the engine of the chat, and keeps the machine’s figures until the next model is there', () => {
  const { chat, panel, connect, fire } = setUp();
  chat.engine = { info: 'first' };
  connect();
  expect(panel).toMatchObject({ engine: { info: 'first' }, info: 'first' });
  chat.engine = null;
  fire(chat, 'vivace-engine');
  expect(panel).toMatchObject({ engine: null, info: 'first' });
  chat.engine = { info: 'second' };
  fire(chat, 'vivace-engine');
  expect(panel).toMatchObject({ engine: { info: 'second' }, info: 'second' });
});

test('the panel is told of each load, and of nothing that leaves the engine', () => {
  const { chat, calls, connect, fire } = setUp();
  const first = { info: 'first' };
  chat.engine = first;
  connect();
  first.info = 'on the CPU';
  fire(chat, 'vivace-health');
  expect(calls).toEqual([]);
  chat.engine = null;
  fire(chat, 'vivace-engine');
  chat.engine = { info: 'on the CPU' };
  fire(chat, 'vivace-engine');
  expect(calls).toEqual(['loaded']);
});

test('the chat waits for the panel’s tuner, and can cancel it', () => {
  const { chat, panel, connect, fire } = setUp();
  connect();
  fire(panel, 'vivace-tuning', { done: 1, total: 9 });
  expect(chat.tuning).toEqual({ done: 1, total: 9 });
  fire(chat, 'vivace-cancel-tuning');
  expect(panel.cancelTuning).toHaveBeenCalledOnce();
  fire(panel, 'vivace-tuning', null);
  expect(chat.tuning).toBeNull();
});

test('a panel without its script yet has the engine, and misses only events', () => {
  const { chat, panel, connect, fire } = setUp();
  Object.assign(panel, { reset: undefined, record: undefined, end: undefined, cancelTuning: undefined });
  chat.engine = { info: 'first' };
  connect();
  for (const name of ['vivace-run', 'vivace-event', 'vivace-end', 'vivace-cancel-tuning']) fire(chat, name);
  expect(panel.info).toBe('first');
});

test('a parted panel gets no events, and the chat does not wait for its tuner', () => {
  const over = new AbortController();
  const { chat, panel, calls, connect, fire } = setUp(over.signal);
  connect();
  fire(panel, 'vivace-tuning', { done: 1, total: 9 });
  over.abort();
  expect(panel.cancelTuning).toHaveBeenCalledOnce();
  expect(chat.tuning).toBeNull();
  fire(chat, 'vivace-run');
  fire(panel, 'vivace-tuning', { done: 2, total: 9 });
  expect([calls, chat.tuning]).toEqual([[], null]);
});
