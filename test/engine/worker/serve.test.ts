// The worker and messages outside of its protocol: 4,000 from one seed, arbitrary ones and spoiled calls. An exception
// in its listener would end the worker. It has to survive, and to answer the next request.

import { proxy, transfer, wrap } from 'comlink';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { EngineEvent, LoadResult, PortMessages, WorkerApi } from '../../../src/engine/protocol';
import { serve } from '../../../src/engine/worker/serve';
import { engineWorker } from '../doubles/fake_worker';
import { numberSession } from '../doubles/loop_session';
import { ScriptBackend } from '../doubles/script_backend';

vi.mock('../../../src/engine/load/load', () => ({
  loadModel: async () => ({ session: numberSession(new ScriptBackend(100, (at) => at)), info: { warnings: [] } }),
}));

const METHODS = ['ping', 'holdLock', 'load', 'cancelLoad', 'generate', 'tune', 'roofline', 'hash'];
const OTHERS = ['listCachedModels', 'deleteCachedModel', 'unload', 'constructor', '__proto__', 'toString', 'call', ''];

/** Stands for a transferred port, by its number in the fuzzer. */
class Port {}

const garbage = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true });
const port = fc.constant(null).map(() => new Port());
const spoilt = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: garbage });
const method = fc.constantFrom(...METHODS, ...OTHERS);
const argument = fc.record({
  type: spoilt(fc.constantFrom('RAW', 'HANDLER')),
  name: spoilt(fc.constantFrom('proxy', 'throw', 'other')),
  value: fc.oneof(
    garbage,
    port,
    fc.record({ input: garbage, options: garbage }),
    fc.constant({ isError: true, value: {} }),
  ),
});
const call = fc.record(
  {
    id: spoilt(fc.string()),
    type: spoilt(fc.constantFrom('APPLY', 'APPLY', 'APPLY', 'GET', 'SET', 'CONSTRUCT', 'ENDPOINT', 'RELEASE')),
    path: spoilt(fc.oneof(fc.tuple(method), fc.array(method, { maxLength: 3 }))),
    argumentList: spoilt(fc.array(spoilt(argument), { maxLength: 4 })),
    value: garbage,
  },
  { requiredKeys: [] },
);

/** The message after structured clone: with ports for their stand-ins, and without anything that cannot be cloned. */
function post(endpoint: MessagePort, message: unknown): void {
  const ports: MessagePort[] = [];
  const dressed = dress(message, ports);
  try {
    endpoint.postMessage(dressed, ports);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

function dress(value: unknown, ports: MessagePort[]): unknown {
  if (value instanceof Port) {
    const { port1, port2 } = new MessageChannel();
    port1.close();
    ports.push(port2);
    return port2;
  }
  if (Array.isArray(value)) return value.map((each) => dress(each, ports));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, dress(each, ports)]));
}

afterEach(() => void vi.unstubAllGlobals());

test('the worker ignores what is not of its protocol', async () => {
  const { port1, port2 } = new MessageChannel();
  await engineWorker(port2);
  port2.start();
  const worker = wrap<WorkerApi>(port1);
  for (const message of fc.sample(fc.oneof(garbage, call, call, call), { numRuns: 4000, seed: 1 }))
    post(port1, message);
  expect(await worker.ping()).toBe('pong');

  await (worker.load(
    'x',
    {},
    proxy(() => {}),
    proxy(async () => false),
  ) as Promise<LoadResult>);
  const messages: PortMessages<EngineEvent>[number][] = [];
  const answer = new MessageChannel();
  const ended = new Promise<void>((resolve) => {
    answer.port1.onmessage = ({ data }: MessageEvent<PortMessages<EngineEvent>>) => {
      messages.push(...data);
      if (data.some(({ type }) => type === 'done' || type === 'error')) resolve();
    };
  });
  const request = { input: { prompt: '1 2 3' }, options: { maxTokens: 2 } };
  await worker.generate(request, transfer(answer.port2, [answer.port2]));
  await ended;
  expect(messages.at(-1)).toMatchObject({ type: 'done', usage: { completionTokens: 2 } });
  for (const each of [port1, answer.port1]) each.close();
});

test('what it runs is a method of its own by name, and nothing else of comlink', async () => {
  const { port1, port2 } = new MessageChannel();
  const ran: unknown[][] = [];
  const twice = (x: number) => {
    ran.push([x]);
    return 2 * x;
  };
  serve({ twice, secret: 'x' }, port2);
  port2.start();
  const answers: unknown[] = [];
  port1.onmessage = ({ data }) => answers.push(data);
  const raw = (value: unknown) => ({ type: 'RAW', value });
  const apply = { id: 'a', type: 'APPLY', path: ['twice'], argumentList: [raw(4)] };
  for (const part of [
    { path: [] },
    { path: ['twice', 'call'] },
    { path: ['toString'] },
    { path: 'twice' },
    { argumentList: null },
    { argumentList: 'a' },
    { argumentList: [4] },
    { argumentList: [{ type: 'HANDLER', name: 'throw', value: { isError: true, value: { message: 'x' } } }] },
    { argumentList: [{ type: 'HANDLER', name: 'proxy', value: 4 }] },
    { type: 'GET', path: ['secret'] },
    { type: 'SET', path: ['twice'], value: raw(4) },
    { type: 'RELEASE' },
    { type: 'ENDPOINT' },
    { id: 4 },
  ]) {
    port1.postMessage({ ...apply, ...part });
  }
  port1.postMessage(apply);
  await vi.waitUntil(() => answers.length > 0);
  expect(answers).toEqual([{ id: 'a', type: 'RAW', value: 8 }]);
  expect(ran).toEqual([[4]]);
  port1.close();
});
