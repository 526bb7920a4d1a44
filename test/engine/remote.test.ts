// Calls across a boundary, here over the two ends of a message channel.

import { afterEach, expect, test } from 'vitest';
import { answerCalls, callRemote } from '../../src/engine/remote';

const channels: MessageChannel[] = [];

afterEach(() => {
  for (const { port1, port2 } of channels.splice(0)) {
    port1.close();
    port2.close();
  }
});

function connect<T extends object>(api: T) {
  const channel = new MessageChannel();
  channels.push(channel);
  channel.port1.start();
  channel.port2.start();
  answerCalls(api, channel.port2);
  return callRemote<T>(channel.port1);
}

test('answers find their calls, whatever their order', async () => {
  const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const remote = connect({
    async wait(ms: number) {
      await later(ms);
      return ms;
    },
    pair: (a: number, b: { c: Uint32Array }) => [a, b.c],
  });
  expect(await Promise.all([remote.wait(20), remote.wait(1), remote.wait(10)])).toEqual([20, 1, 10]);
  expect(await remote.pair(1, { c: Uint32Array.of(2, 3) })).toEqual([1, Uint32Array.of(2, 3)]);
});

test('a function among the arguments is called by messages, in order', async () => {
  const remote = connect({
    count(to: number, tell: (i: number, last: boolean) => void) {
      for (let i = 0; i < to; i++) tell(i, i === to - 1);
    },
  });
  const told: number[] = [];
  const done = new Promise<void>((resolve) => {
    void remote.count(5, (i, last) => {
      told.push(i);
      if (last) resolve();
    });
  });
  await done;
  expect(told).toEqual([0, 1, 2, 3, 4]);
});

test('a port changes hands', async () => {
  const { port1, port2 } = new MessageChannel();
  channels.push({ port1, port2 } as MessageChannel);
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
  await connect({ greet: (port: MessagePort) => port.postMessage('hello') }).greet(port2);
  expect(await answer).toBe('hello');
});

test('what the other side throws is thrown here: its name and its sentence', async () => {
  const remote = connect({
    fail(): void {
      throw new RangeError('5 is too many');
    },
    uncloneable: () => () => 0,
    async odd(): Promise<void> {
      throw 'a text';
    },
  });
  await expect(remote.fail()).rejects.toMatchObject({ name: 'RangeError', message: '5 is too many' });
  await expect(remote.uncloneable()).rejects.toThrow('could not be cloned');
  await expect(remote.odd()).rejects.toThrow('a text');
});

test('only the methods of the interface can be called', async () => {
  const remote = connect({ ping: () => 'pong', secret: 3 as unknown as () => void });
  expect(await remote.ping()).toBe('pong');
  const open = remote as unknown as Record<string, () => Promise<unknown>>;
  for (const name of ['toString', 'constructor', '__proto__', 'secret', 'nothing']) {
    await expect(open[name]()).rejects.toThrow(`no method "${name}"`);
  }
});
