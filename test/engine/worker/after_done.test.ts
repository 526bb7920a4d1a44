// What follows the last token: `done` waits for nothing, the GPU's times come after it, and the next request waits for
// the steps past the end and reports what failed there.

import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { DeviceLostError } from '../../../src/errors';
import { numberSession } from '../doubles/loop_session';
import { ScriptBackend } from '../doubles/script_backend';

/** Tokens count on from the prompt 0 1 2. What comes after the answer, `held`, waits for the test. */
class HeldBackend extends ScriptBackend {
  isHeld = true;
  private readonly released: Promise<void>;
  private settle: { resolve: () => void; reject: (error: Error) => void } = { resolve() {}, reject() {} };

  /** @param lastId the answer's last token */
  constructor(
    private readonly lastId: number,
    delayMs = 0,
  ) {
    super(100, (position) => position, delayMs);
    this.released = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.released.catch(() => {});
  }

  release(error?: Error): void {
    this.isHeld = false;
    if (error) this.settle.reject(error);
    else this.settle.resolve();
  }

  override async decode(position: number): Promise<number> {
    const isPastEnd = this.isHeld && position >= this.lastId;
    const id = super.decode(position);
    if (isPastEnd) await this.released;
    return id;
  }

  override async stepTimes(): Promise<number[]> {
    if (this.isHeld) await this.released;
    return super.stepTimes();
  }
}

function ask(session: ReturnType<typeof numberSession>, options: GenerateOptions, stopped = () => false) {
  const events: EngineEvent[] = [];
  const times: number[] = [];
  let tell = () => {};
  const done = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const emit = (some: readonly EngineEvent[]) => {
    events.push(...some);
    for (const _ of some) times.push(performance.now());
    if (some.at(-1)?.type === 'done') tell();
  };
  const state = { isOver: false };
  const whole = generate(session, { prompt: '0 1 2' }, { temperature: 0, ...options }, emit, stopped).finally(() => {
    state.isOver = true;
  });
  whole.catch(() => {});
  const ids = () => events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
  return { events, times, done, whole, state, ids };
}

const macrotask = () => new Promise((resolve) => setImmediate(resolve));
const typesBesideTokens = (events: readonly EngineEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== 'token' && type !== 'prefill');

afterEach(() => void vi.useRealTimers());

describe('`done` comes with the last token, whatever the GPU still does', () => {
  const ends = {
    'an end token': { options: {}, eosIds: [9], reason: 'eos' },
    'a stop text': { options: { stop: [' 9'] }, eosIds: [], reason: 'stop' },
    'a stop by the reader': { options: {}, eosIds: [], reason: 'abort' },
    'the number of tokens': { options: { maxTokens: 7 }, eosIds: [], reason: 'length' },
  };
  for (const [name, { options, eosIds, reason }] of Object.entries(ends)) {
    for (const gpuTimes of [false, true]) {
      test(`${name}, ${gpuTimes ? 'timed' : 'untimed'}`, async () => {
        const backend = new HeldBackend(9);
        const session = numberSession(backend, eosIds);
        let checks = 0; // the loop checks before the prompt, before its pass and after each token
        const stopped = () => reason === 'abort' && ++checks > 8;
        const answer = ask(session, { runAhead: 4, gpuTimes, ...options }, stopped);
        await answer.done;
        expect(answer.ids()).toEqual([3, 4, 5, 6, 7, 8, 9]);
        expect(answer.events.at(-1)).toMatchObject({ type: 'done', finishReason: reason });
        await macrotask();
        const waits = gpuTimes || reason !== 'length';
        expect(answer.state.isOver).toBe(!waits);
        backend.release();
        await answer.whole;
        expect(typesBesideTokens(answer.events)).toEqual(gpuTimes ? ['start', 'done', 'gpuTimes'] : ['start', 'done']);
      });
    }
  }

  test('no time passes between the two', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    const backend = new HeldBackend(9, 5);
    const answer = ask(numberSession(backend, [9]), { runAhead: 4, gpuTimes: true });
    await vi.advanceTimersByTimeAsync(1000);
    expect(answer.events.at(-1)?.type).toBe('done');
    const [last, done] = answer.times.slice(-2);
    expect(done).toBe(last);
    expect(last).toBeLessThan(1000);
  });
});

test('the metrics of `done` are those of the arrivals; the times come after, one for each gap', async () => {
  const backend = new HeldBackend(9);
  const answer = ask(numberSession(backend, [9]), { runAhead: 4, gpuTimes: true });
  await answer.done;
  const done = answer.events.at(-1);
  if (done?.type !== 'done') throw new Error('no done');
  expect('gpuMs' in done.metrics).toBe(false);
  expect(done.metrics.tbtMs.perToken).toHaveLength(6);
  expect(done.metrics.perToken).toEqual({ dispatches: 43, submits: 1, syncs: 1, bytesRead: 4 });
  backend.release();
  await answer.whole;
  const times = answer.events.at(-1);
  expect(times).toMatchObject({ type: 'gpuTimes', gpuMs: { perToken: [0, 1, 2, 3, 4, 5] } });
});

test('an answer of one token has no step to time, and says so', async () => {
  const answer = ask(numberSession(new HeldBackend(3)), { maxTokens: 1, gpuTimes: true });
  await answer.whole;
  expect(answer.events.at(-1)).toEqual({ type: 'gpuTimes', gpuMs: null });
});

describe('a failure after `done`', () => {
  for (const gpuTimes of [false, true]) {
    test(`is what the next request reports, ${gpuTimes ? 'timed' : 'untimed'}; nothing is unhandled`, async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const backend = new HeldBackend(9);
      const session = numberSession(backend, [9]);
      const answer = ask(session, { runAhead: 4, gpuTimes });
      await answer.done;
      backend.release(new DeviceLostError('a test'));
      await answer.whole; // this answer is complete
      expect(typesBesideTokens(answer.events)).toEqual(gpuTimes ? ['start', 'done', 'gpuTimes'] : ['start', 'done']);
      if (gpuTimes) expect(answer.events.at(-1)).toEqual({ type: 'gpuTimes', gpuMs: null });
      const next = ask(session, { maxTokens: 2 });
      await expect(next.whole).rejects.toMatchObject({ code: 'device-lost' });
      expect(next.events).toEqual([]);
      const third = ask(session, { maxTokens: 2 }); // the backend decides from here on
      await third.whole;
      expect(third.ids()).toEqual([3, 4]);
      await macrotask();
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    });
  }
});

test('the next request finds the cached ids of the answer, without the steps past its end', async () => {
  const backend = new HeldBackend(9);
  const session = numberSession(backend, [9]);
  const answer = ask(session, { runAhead: 4 });
  await answer.done;
  backend.release();
  await answer.whole;
  expect(session.cachedIds).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});
