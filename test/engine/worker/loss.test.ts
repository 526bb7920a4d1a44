// A GPU that fails under the worker: one message for it, the same failure for the request that runs, and no word to
// those that wait. The question for a GPU has an answer in every browser.

import { proxy, transfer, wrap } from 'comlink';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import type { EngineEvent, LostMessage, PortMessages, WorkerApi } from '../../../src/engine/protocol';
import { DeviceLostError, GpuMemoryError, GpuProgramError } from '../../../src/errors';
import { engineWorker } from '../doubles/fake_worker';
import { numberSession } from '../doubles/loop_session';
import { SteppedBackend, until } from '../doubles/stepped_backend';

let backend: SteppedBackend & { explain?: (error: unknown) => Promise<unknown> } & Pick<Backend, 'rechecker'>;
vi.mock('../../../src/engine/load/load', () => ({
  loadModel: async () => ({ session: numberSession(backend), info: { warnings: [] } }),
}));

let ports: MessagePort[] = [];
beforeEach(() => {
  backend = new SteppedBackend();
});
afterEach(() => {
  for (const port of ports) port.close();
  ports = [];
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function worker() {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const losses: LostMessage[] = [];
  port1.addEventListener('message', ({ data }) => {
    if (data?.lost) losses.push(data);
  });
  await engineWorker(port2);
  port2.start();
  const api = wrap<WorkerApi>(port1);
  return { api, losses };
}

/** Loads the model and begins requests. Each gives what it posts. */
async function running(prompts: readonly string[]) {
  const { api, losses } = await worker();
  await api.load(
    '',
    {},
    proxy(() => {}),
    proxy(async () => false),
  );
  const ask = (prompt: string) => {
    const heard: PortMessages<EngineEvent>[number][] = [];
    const { port1, port2 } = new MessageChannel();
    ports.push(port1, port2);
    port1.onmessage = ({ data }) => void heard.push(...data);
    void api.generate({ input: { prompt }, options: {} }, transfer(port2, [port2]));
    return { heard, stop: () => port1.postMessage(null), tokens: () => heard.filter(({ type }) => type === 'token') };
  };
  return { api, losses, ask, asked: prompts.map(ask) };
}

async function rest(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
}

test.each([
  new DeviceLostError('a test'),
  new GpuProgramError('WebGPU', 'a test'),
  new GpuMemoryError('The GPU work', 10, null, 'Close other GPU pages.'),
])('$code: told once; the running request fails by it, and those that wait hear nothing of it', async (loss) => {
  const { losses, ask, asked, api } = await running(['1 2', '3 4']);
  const [first, second] = asked;
  backend.go(1);
  await until(() => first.tokens().length === 1);
  backend.explain = async () => loss;
  backend.decode = () => Promise.reject(new TypeError('A valid external Instance reference no longer exists.'));
  backend.lose(loss);
  backend.go(1);
  await until(() => first.heard.at(-1)?.type === 'error');
  const later = ask('5 6');
  await rest();
  expect(losses).toHaveLength(1);
  expect(first.heard.at(-1)).toEqual(losses[0].lost);
  expect(losses[0].lost).toMatchObject({ name: loss.name, message: loss.message });
  expect([second.heard, later.heard]).toEqual([[{ type: 'queued', reason: 'busy' }], []]);
  expect(await api.ping()).toBe('pong');
});

test('a complete answer leaves the loss behind it to the one message', async () => {
  const { losses, ask, asked } = await running(['1 2']);
  const { stop, heard, tokens } = asked[0];
  backend.go(1);
  await until(() => tokens().length === 1);
  stop();
  await rest();
  backend.go(1);
  await until(() => heard.at(-1)?.type === 'done');
  backend.lose(new DeviceLostError('a test'));
  const later = ask('3 4');
  await rest();
  expect(losses).toHaveLength(1);
  expect([heard.at(-1)?.type, later.heard]).toEqual(['done', []]);
});

test('a request that fails for the loss while it is being stopped says so', async () => {
  const { losses, asked } = await running(['1 2']);
  const { heard, stop, tokens } = asked[0];
  backend.go(1);
  await until(() => tokens().length === 1);
  const loss = new DeviceLostError('a test');
  backend.explain = async () => loss;
  stop();
  await rest();
  backend.script = () => {
    throw new TypeError('A valid external Instance reference no longer exists.');
  };
  backend.lose(loss);
  backend.go(1);
  await until(() => heard.at(-1)?.type === 'error');
  expect(heard.at(-1)).toEqual(losses[0].lost);
});

const SILENT = () => new Promise<never>(() => {});
test.each<[string, unknown, boolean]>([
  ['grants one', { requestAdapter: async () => ({}) }, true],
  ['has none', { requestAdapter: async () => null }, false],
  ['has no WebGPU', undefined, false],
  ['refuses', { requestAdapter: async () => Promise.reject(new Error('blocked')) }, false],
  [
    'throws',
    {
      requestAdapter: () => {
        throw new Error('blocked');
      },
    },
    false,
  ],
  ['never answers', { requestAdapter: SILENT }, false],
])('a browser that %s', async (_browser, gpu, granted) => {
  vi.stubGlobal('navigator', { gpu });
  const { api } = await worker();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answer = api.hasGpu();
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  const waits = vi.getTimerCount();
  vi.advanceTimersByTime(5000);
  expect(await answer).toBe(granted);
  expect(waits).toBe((gpu as { requestAdapter?: unknown })?.requestAdapter === SILENT ? 1 : 0);
});

test('no request waits for the part that checks the GPU in idle, and no check runs beside one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const idle = async () => {
    vi.advanceTimersByTime(10 * 60_000);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const untilSoon = async (isSo: () => boolean) => {
    for (; !isSo(); vi.advanceTimersByTime(1)) await new Promise((resolve) => setImmediate(resolve));
  };
  const arrivals: (() => void)[] = [];
  const check = vi.fn(async () => null);
  backend.rechecker = () => new Promise((resolve) => arrivals.push(() => resolve(check)));
  const { ask } = await running([]);
  const begin = async () => {
    const request = ask('1 2');
    backend.go(1);
    await untilSoon(() => request.tokens().length > 0);
    return request;
  };
  const end = async ({ stop, heard }: Awaited<ReturnType<typeof begin>>) => {
    stop();
    backend.go(9);
    await untilSoon(() => heard.at(-1)?.type === 'done');
    await idle();
  };
  await end(await begin());
  expect(arrivals).toHaveLength(1);
  const next = await begin();
  arrivals[0]();
  await end(next);
  expect([arrivals.length, check.mock.calls.length]).toEqual([2, 0]);
  arrivals[1]();
  await idle();
  expect(check).toHaveBeenCalledTimes(1);
});
