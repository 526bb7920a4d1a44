// The pause of a hidden page: what is in flight arrives, nothing new is queued until its end, and a stop ends the
// request at once.

import { expect, test } from 'vitest';
import type { Stopped } from '../../../../src/engine/backend/backend';
import type { EngineEvent } from '../../../../src/engine/protocol';
import { embed } from '../../../../src/engine/worker/embed';
import { generate } from '../../../../src/engine/worker/generate';
import type { Session } from '../../../../src/engine/worker/request/session';
import { Pause } from '../../../../src/engine/worker/turns/pause';
import { numberSession } from '../../doubles/loop_session';
import { ScriptBackend } from '../../doubles/script_backend';
import { SteppedBackend, until } from '../../doubles/stepped_backend';

const PROMPT = { prompt: '1 2 3' };

function paused(backend: ScriptBackend) {
  const pause = new Pause();
  const session: Session = { ...numberSession(backend), pause };
  const events: EngineEvent[] = [];
  const state = { stopped: false, ended: false };
  const stop = () => {
    state.stopped = true;
    pause.wake();
  };
  const start = (options = {}) => {
    const emit = (some: readonly EngineEvent[]) => void events.push(...some);
    const whole = generate(session, PROMPT, { temperature: 0, maxTokens: 12, ...options }, emit, () => state.stopped);
    return whole.finally(() => {
      state.ended = true;
    });
  };
  const ids = () => events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
  return { pause, session, events, state, stop, start, ids };
}

/** Time for everything that is in flight. */
async function rest(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
}

/** Lets steps run ahead, and holds each until the test lets it go. */
class DeepBackend extends SteppedBackend {
  override readonly maxRunAhead = 8;
}

for (const runAhead of [1, 4]) {
  test(`lets steps in flight arrive and queues none, run-ahead ${runAhead}`, async () => {
    const backend = new DeepBackend();
    const { pause, start, ids, events, state } = paused(backend);
    const whole = start({ runAhead });
    backend.go(3);
    await until(() => ids().length === 3);
    pause.set(true);
    backend.go(100);
    await rest();
    const held = ids();
    expect([held.length, backend.counters.submits]).toEqual([3 + runAhead, 3 + runAhead]);
    pause.set(true); // told twice
    await rest();
    expect([ids(), state.ended]).toEqual([held, false]);
    pause.set(false);
    await whole;
    expect(ids()).toEqual(Array.from({ length: 12 }, (_, i) => 3 + i));
    expect(events.at(-1)).toMatchObject({ type: 'done', finishReason: 'length' });
  });
}

test('that begins before a request runs nothing of it until the end', async () => {
  const backend = new ScriptBackend(100, (position) => position);
  const { pause, start, ids } = paused(backend);
  pause.set(true);
  const whole = start();
  await rest();
  expect(backend.prefills).toEqual([]);
  pause.set(false);
  await whole;
  expect(ids()).toHaveLength(12);
});

test('stops before the next chunk of a prompt', async () => {
  class Chunked extends ScriptBackend {
    chunks = 0;
    override async prefill(ids: Uint32Array, position: number, onProgress: (done: number) => void, stopped: Stopped) {
      for (; this.chunks < 3; this.chunks++) {
        await new Promise((resolve) => setTimeout(resolve));
        if (await stopped()) return { token: null, ran: 0 };
      }
      return super.prefill(ids, position, onProgress, () => false);
    }
  }
  const backend = new Chunked(100, (position) => position);
  const { pause, start, ids } = paused(backend);
  const whole = start();
  await until(() => backend.chunks === 1);
  pause.set(true);
  await rest();
  expect(backend.chunks).toBe(1);
  pause.set(false);
  await whole;
  expect(ids()).toHaveLength(12);
});

test.each(['before the prompt', 'between steps'])('is no reason to wait for a stop, %s', async (when) => {
  const backend = new DeepBackend();
  const { pause, start, ids, events, stop } = paused(backend);
  if (when === 'before the prompt') pause.set(true);
  const whole = start({ runAhead: 1 });
  backend.go(3);
  if (when === 'between steps') await until(() => ids().length === 3);
  pause.set(true);
  backend.go(1);
  await rest();
  stop();
  await whole;
  const told = when === 'between steps' ? 4 : 0;
  expect(ids()).toHaveLength(told);
  expect(events.at(-1)).toMatchObject({ finishReason: 'abort', usage: { completionTokens: told } });
});

test('holds the texts of an embedding back, and a stop ends it', async () => {
  const backend = new ScriptBackend(100, (position) => position);
  const { pause, session, stop, state } = paused(backend);
  pause.set(true);
  const embedded = embed(session, ['1 2', '3'], {}, () => state.stopped);
  await rest();
  expect(backend.embedded).toEqual([]);
  stop();
  await expect(embedded).rejects.toMatchObject({ name: 'AbortError' });
});
