// The workers that help a load: each ends, whenever the load does.

import { type Endpoint, expose } from 'comlink';
import { afterEach, expect, test, vi } from 'vitest';
import { Threads } from '../../../../src/engine/page/host/threads';
import { servePieces } from '../../../../src/storage/cache/piece_threads';
import { fakeStores } from '../../../storage/fake_stores';
import { stubWorkers } from '../../doubles/fake_worker';

afterEach(() => vi.unstubAllGlobals());

/** Workers that start when `begin` is called, and the helpers of a load among them. */
function setUp() {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { pieces } = fakeStores();
  const workers = stubWorkers(async (scope) => {
    await begun;
    const api = {
      ping: () => 'pong',
      holdLock: () => null,
      pieces: (port: MessagePort) => servePieces(port, async () => pieces),
    };
    expose(api, scope as unknown as Endpoint);
  });
  return { threads: new Threads(new Promise(() => {}), 'https://host/worker.js'), workers, begin };
}

test('a thread for pieces outlasts the load and ends with them', async () => {
  const { threads, workers, begin } = setUp();
  begin();
  const { port1, port2 } = new MessageChannel();
  expect(await threads.start(port2, 'pieces')).toBe(true);
  threads.endLoad();
  expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([false]);
  port1.postMessage({ ask: 'end' });
  await vi.waitFor(() => expect(workers[0].isTerminated).toBe(true));
});

test('a thread that has started when the load is over ends at once: the load does not hear of it', async () => {
  const { threads, workers, begin } = setUp();
  const { port2 } = new MessageChannel();
  const started = threads.start(port2, 'pieces');
  threads.endLoad();
  begin();
  expect([await started, workers[0].isTerminated]).toEqual([false, true]);
  port2.close();
});
