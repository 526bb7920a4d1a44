// Parts of the page's code that never come, as on a line that stalls: who stops waiting for them has stopped.

import { afterEach, expect, test, vi } from 'vitest';
import { Engine } from '../../../src/engine/engine';
import { answers } from '../../../src/engine/page/answers';
import type { EngineHost } from '../../../src/engine/page/host/host';

vi.mock('../../../src/engine/page/worker_code/own_worker', () => ({ ownWorker: () => new Promise(() => {}) }));
vi.mock('../../../src/shared/part', async (original) => ({
  ...(await original<object>()),
  arrived: () => new Promise(() => {}),
}));

afterEach(() => vi.unstubAllGlobals());

test('a load that is canceled before the code of its worker is here', async () => {
  const cancel = new AbortController();
  const loading = Engine.load('https://example.org/model.gguf', { signal: cancel.signal });
  cancel.abort(new Error('canceled'));
  await expect(loading).rejects.toThrow('canceled');
});

test.each(['stopped', 'left'])('an answer that is %s before the part for its constraint is here', async (how) => {
  const host = { info: {}, form: null, running: new Set(), whenReady: () => () => {} } as unknown as EngineHost;
  const stop = new AbortController();
  const options = { constraint: { kind: 'json_object' }, signal: stop.signal } as const;
  const answer = answers(host, { metrics: null }, { prompt: 'a' }, options);
  const first = answer.next();
  await new Promise((resolve) => setImmediate(resolve));
  if (how === 'left') await answer.return();
  else stop.abort();
  const { value } = await first;
  expect(value).toEqual(how === 'left' ? undefined : expect.objectContaining({ type: 'done', finishReason: 'abort' }));
  expect((await answer.next()).done).toBe(true);
});
