import { expect, test, vi } from 'vitest';
import { EmbedSession } from '../../src/embed/embed_session';
import { EnginePool } from '../../src/embed/engine_pool';

test('a question that comes as the chat goes off the page loads no model that nobody would let go of', async () => {
  const load = vi.fn(() => new Promise<never>(() => {}));
  const session = new EmbedSession('m', undefined, new EnginePool(load), {
    onState() {},
    onEngine() {},
    onWaiting() {},
  });
  await session.close();
  await expect(session.chat('Hello', '').next()).rejects.toThrow('taken off the page');
  await expect(session.load()).rejects.toThrow('taken off the page');
  expect(load).not.toHaveBeenCalled();
});
