// Steps that give up, at every place of an answer: no token is lost, repeated or changed.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Backend, MOST_SHARED } from '../../../../src/engine/backend/backend';
import type { EngineEvent, GenerateOptions } from '../../../../src/engine/protocol';
import { generate } from '../../../../src/engine/worker/generate';
import type { Session } from '../../../../src/engine/worker/request/session';
import { RunAhead } from '../../../../src/engine/worker/steps/run_ahead';
import { GAVE_UP } from '../../../../src/sampling/sampling';
import { testGpu } from '../../../gpu/test_device';
import { ask as askToy, numberSession, toyBackend, toyIds } from '../../doubles/loop_session';
import { ScriptBackend } from '../../doubles/script_backend';

const PROMPT = '0 1 2';
/** Position of the first decode step: the prompt's pass brings the token for it. */
const FIRST = 3;
const EOS = 30;

/** Tokens count on from the prompt, up to EOS. The steps at some positions give up so and so often. */
class WaveringBackend extends ScriptBackend {
  /** Positions of the calls of `stepGaveUp`. */
  readonly cleared: number[] = [];
  /** Positions of all steps. */
  readonly steps: number[] = [];
  isRaised = false;
  private readonly left: Map<number, number>;

  constructor(giveUps: Record<number, number>, delayMs = 0) {
    super(100, (position) => position, delayMs);
    this.left = new Map(Object.entries(giveUps).map(([position, times]) => [Number(position), times]));
  }

  override async decode(position: number): Promise<number> {
    if (position >= FIRST) this.steps.push(position);
    const left = this.left.get(position) ?? 0;
    if (!this.isRaised && left > 0) {
      this.left.set(position, left - 1);
      this.isRaised = true;
    }
    const givesUp = this.isRaised;
    const id = await super.decode(position);
    return givesUp ? GAVE_UP : id;
  }

  stepGaveUp(position: number): string | null {
    if (this.inFlight > 0) throw new Error(`${this.inFlight} steps are in flight`);
    this.cleared.push(position);
    this.isRaised = false;
    this.next = position;
    return `gave up, ${this.cleared.length}`;
  }
}

/** Steps share readbacks by four, eight in flight. */
function share(session: Session, backend: ScriptBackend): void {
  Object.assign(backend, {
    decodeMany: async (position: number, count: number) => {
      const ids = Array.from({ length: count }, (_, i) => backend.decode(position + i));
      return Uint32Array.from(await Promise.all(ids));
    },
  });
  session.runAhead = Object.assign(new RunAhead('auto', 8, MOST_SHARED), { depth: 8, shared: 4, arrived: () => {} });
}

function ask(backend: ScriptBackend, runAhead: number | 'shared', more: GenerateOptions = {}, stopped = () => false) {
  const session = numberSession(backend, [EOS]);
  if (runAhead === 'shared') share(session, backend);
  const events: EngineEvent[] = [];
  const options = { temperature: 0, ...(runAhead === 'shared' ? {} : { runAhead }), ...more };
  const again = () => generate(session, { prompt: PROMPT }, options, (some) => events.push(...some), stopped);
  const tokens = () => events.filter((event) => event.type === 'token');
  const warnings = () => events.filter((event) => event.type === 'warning');
  return { session, events, whole: again(), again, tokens, warnings };
}

const TO_EOS = Array.from({ length: EOS - FIRST + 1 }, (_, i) => FIRST + i);

for (const runAhead of [1, 8, 'shared'] as const) {
  describe(`with ${runAhead === 'shared' ? 'shared readbacks' : `run-ahead ${runAhead}`}, an answer is the same`, () => {
    const cases: [string, Record<number, number>][] = [
      ['in its middle', { 12: 1 }],
      ['in the pass of its prompt', { [FIRST - 1]: 1 }],
      ['at its first decode step', { [FIRST]: 1 }],
      ['at its second decode step', { [FIRST + 1]: 1 }],
      ['at its last token', { [EOS - 1]: 1 }],
      ['at two steps in a row', { 14: 1, 15: 1 }],
      ['twice at the same step', { 14: 2 }],
      ['at the beginning, in the middle and at the end', { [FIRST]: 1, 13: 1, [EOS - 1]: 1 }],
    ];
    for (const [name, giveUps] of cases) {
      test(name, async () => {
        const backend = new WaveringBackend(giveUps);
        const answer = ask(backend, runAhead);
        await answer.whole;
        expect(answer.tokens().map(({ id }) => id)).toEqual(TO_EOS);
        expect(answer.tokens().map(({ position }) => position)).toEqual(TO_EOS);
        const at = Object.entries(giveUps).flatMap(([position, times]) => Array(times).fill(Number(position)));
        expect(backend.cleared).toEqual(at);
        const message = (_: unknown, i: number) => ({
          type: 'warning',
          code: 'step-gave-up',
          message: `gave up, ${i + 1}`,
        });
        expect(answer.warnings()).toEqual(at.map(message));
        const done = answer.events.at(-1);
        if (done?.type !== 'done') throw new Error('no done');
        expect(done).toMatchObject({ finishReason: 'eos', usage: { completionTokens: TO_EOS.length } });
        expect(done.metrics.tbtMs.perToken).toEqual(
          answer
            .tokens()
            .slice(1)
            .map(({ tbtMs }) => tbtMs),
        );
        expect(done.metrics.perToken).toMatchObject({ dispatches: 43 }); // of all steps, those in vain among them
        for (const { inFlightMs } of answer.tokens()) expect(inFlightMs).toBeGreaterThanOrEqual(0);
        expect(answer.session.cachedIds).toEqual([0, 1, 2, ...TO_EOS.slice(0, -1)]);
        expect(backend.deepest).toBeLessThanOrEqual(runAhead === 'shared' ? 8 : runAhead);
      });
    }
  });
}

test('the warning comes between the tokens, after those of the same readback that are good', async () => {
  const answer = ask(new WaveringBackend({ 6: 1 }), 'shared');
  await answer.whole;
  const types = answer.events.map((event) => (event.type === 'token' ? event.id : event.type));
  expect(types.slice(types.indexOf(FIRST), types.indexOf(FIRST) + 6)).toEqual([3, 4, 5, 6, 'warning', 7]);
});

test('the step that gave up is queued by itself, and those dropped behind it again', async () => {
  const backend = new WaveringBackend({ 5: 1 });
  const answer = ask(backend, 4, { maxTokens: 6 });
  await answer.whole;
  expect(backend.steps).toEqual([3, 4, 5, 6, 7, 5, 6, 7]);
  expect(answer.tokens()).toHaveLength(6);
});

test('it is queued by itself where steps share readbacks, too', async () => {
  const backend = new WaveringBackend({ 12: 1 });
  const answer = ask(backend, 'shared');
  const decodeMany = vi.spyOn(backend as unknown as Required<Backend>, 'decodeMany');
  await answer.whole;
  const shared = decodeMany.mock.calls.filter(([position, count]) => position <= 12 && 12 < position + count);
  expect(shared).toHaveLength(1);
});

describe('the gap of its token', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('has both runs of the step; the time in flight is that of the second', async () => {
    const answer = ask(new WaveringBackend({ 6: 1 }, 5), 1, { maxTokens: 8 });
    await vi.advanceTimersByTimeAsync(1000);
    await answer.whole;
    expect(answer.tokens().map(({ tbtMs }) => tbtMs)).toEqual([null, 5, 5, 5, 10, 5, 5, 5]);
    for (const { inFlightMs } of answer.tokens().slice(1)) expect(inFlightMs).toBe(5);
  });

  test('is no lateness of readbacks to the run-ahead', async () => {
    const backend = new WaveringBackend({ 6: 1 }, 5);
    const session = numberSession(backend, [EOS]);
    const runAhead = new RunAhead(4, 8);
    session.runAhead = runAhead;
    const restart = vi.spyOn(runAhead, 'restart');
    const whole = generate(
      session,
      { prompt: PROMPT },
      { temperature: 0, runAhead: 4 },
      () => {},
      () => false,
    );
    await vi.advanceTimersByTimeAsync(1000);
    await whole;
    expect(restart).toHaveBeenCalledTimes(2); // for the answer, and after the pause
    expect(backend.deepest).toBe(4);
  });
});

describe('it is an error', () => {
  test('if the backend cannot repeat a step', async () => {
    const backend = new WaveringBackend({ 12: 1 });
    Object.assign(backend, { stepGaveUp: undefined });
    const answer = ask(backend, 8);
    await expect(answer.whole).rejects.toMatchObject({
      code: 'gpu-program',
      message: expect.stringMatching(/once at position 12.*"plain"/),
    });
    expect(answer.tokens().map(({ id }) => id)).toEqual(TO_EOS.slice(0, 12 - FIRST + 1));
  });

  test('if a step gives up more than three times, and the next request runs', async () => {
    const backend = new WaveringBackend({ 12: 4 });
    const answer = ask(backend, 8);
    await expect(answer.whole).rejects.toMatchObject({
      code: 'gpu-program',
      message: expect.stringMatching(/4 times in a row at position 12/),
    });
    expect([answer.warnings().length, backend.cleared.length]).toEqual([3, 4]);
    answer.events.length = 0;
    await answer.again();
    expect(answer.tokens().map(({ id }) => id)).toEqual(TO_EOS);
  });

  test('if the device fails with the steps that are dropped', async () => {
    const backend = new WaveringBackend({ 12: 1 });
    const decode = backend.decode.bind(backend);
    backend.decode = async (position) => {
      const id = await decode(position);
      if (position === 14) throw new Error('lost');
      return id;
    };
    await expect(ask(backend, 8).whole).rejects.toThrow('lost');
    expect(backend.cleared).toEqual([]);
  });
});

test('a stop meanwhile ends the answer, and what gave up is cleared for the next', async () => {
  const backend = new WaveringBackend({ 12: 1 });
  const answer = ask(backend, 8, {}, () => backend.cleared.length > 0);
  await answer.whole;
  expect(answer.events.at(-1)).toMatchObject({ type: 'done', finishReason: 'abort' });
  expect(answer.tokens().map(({ id }) => id)).toEqual(TO_EOS.slice(0, 12 - FIRST + 1));
  expect([backend.isRaised, backend.cleared]).toEqual([false, [12]]);
  expect(answer.session.gaveUp).toBeNull(); // it has been told
});

for (const runAhead of [8, 'shared'] as const) {
  for (const at of [EOS, EOS + 1]) {
    test(`a step past the end that gives up (${at}, ${runAhead}) is cleared, and told with the next answer`, async () => {
      const backend = new WaveringBackend({ [at]: 1 });
      const answer = ask(backend, runAhead);
      await answer.whole;
      expect([backend.cleared, backend.isRaised, answer.warnings()]).toEqual([[at], false, []]);
      answer.events.length = 0;
      await answer.again();
      expect(answer.warnings()).toHaveLength(1);
      expect(answer.tokens().map(({ id }) => id)).toEqual(TO_EOS);
      answer.events.length = 0;
      await answer.again();
      expect(answer.warnings()).toEqual([]);
    });
  }
}

test('on a GPU the step times are those of the repetitions, one for each token', async () => {
  const gpu = await testGpu();
  const backend = await toyBackend(gpu, 100);
  let isRaised = false;
  let steps = 0;
  const decode = backend.decode.bind(backend);
  backend.decode = async (position) => {
    isRaised ||= ++steps === 20;
    const givesUp = isRaised;
    const id = await decode(position);
    return givesUp ? GAVE_UP : id;
  };
  const gaveUp = backend.stepGaveUp.bind(backend);
  backend.stepGaveUp = (position) => {
    isRaised = false;
    return gaveUp(position);
  };
  const options = { temperature: 0, runAhead: 8, maxTokens: 60, gpuTimes: true };
  const { ids, gpuMs } = await askToy(numberSession(backend), { prompt: '17 4 99' }, options);
  expect(ids).toEqual(toyIds([17, 4, 99], 60));
  expect(steps).toBeGreaterThan(59);
  if (gpu.can.timestamps) {
    expect(gpuMs?.perToken).toHaveLength(59);
    expect(await backend.stepTimes()).toHaveLength(59);
  }
});
