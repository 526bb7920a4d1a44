// Told tokens are replayed by the steps that made them: where a prefill rounds otherwise than steps, the text stays.

import { describe, expect, test, vi } from 'vitest';
import type { Stopped } from '../../../src/engine/backend/backend';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { NotFiniteError } from '../../../src/errors';
import { GAVE_UP, NO_TOKEN } from '../../../src/sampling/sampling';
import { numberSession } from '../doubles/loop_session';
import { ScriptBackend } from '../doubles/script_backend';

const PROMPT = [1, 2, 3];
const OPTIONS: GenerateOptions = { temperature: 0, maxTokens: 20, runAhead: 4 };

/** Each id depends on how many positions before it a prefill ran: rounding, made coarse. */
class RoundingBackend extends ScriptBackend {
  stepBoundMs?: number;
  prefilled = 0;
  /** Ids from this position on come out otherwise, as on another GPU. */
  otherFrom = Number.POSITIVE_INFINITY;

  constructor() {
    super(100, (position) => (position * 7 + this.prefilled + (position >= this.otherFrom ? 1 : 0)) % 200);
  }

  override prefill(ids: Uint32Array, position: number, onProgress: (done: number) => void, stopped: Stopped) {
    if (this.inFlight > 0) throw new Error('steps are in flight');
    this.prefilled = position + ids.length;
    return super.prefill(ids, position, onProgress, stopped);
  }
}

function ask(backend: RoundingBackend, told: readonly number[] | null, stopped = () => false) {
  const session = numberSession(backend);
  const events: EngineEvent[] = [];
  const resumed = told ? { promptIds: PROMPT, ids: told } : undefined;
  const whole = generate(session, { ids: PROMPT }, OPTIONS, (some) => events.push(...some), stopped, resumed);
  const tokens = () => events.filter((event) => event.type === 'token');
  const done = () => events.findLast((event) => event.type === 'done');
  return { session, events, whole, tokens, ids: () => tokens().map(({ id }) => id), done };
}

async function undisturbed(): Promise<number[]> {
  const answer = ask(new RoundingBackend(), null);
  await answer.whole;
  return answer.ids();
}

describe('a resumed answer', () => {
  test('has the text of the undisturbed one, and no times of the replay', async () => {
    const whole = await undisturbed();
    for (const count of [1, 2, 7, 19]) {
      const backend = new RoundingBackend();
      const rest = ask(backend, whole.slice(0, count));
      await rest.whole;
      expect(rest.ids()).toEqual(whole.slice(count));
      expect(backend.prefills).toEqual([{ position: 0, length: 3 }]);
      expect(rest.tokens()[0].tbtMs).toBeNull();
      expect(rest.done()?.metrics.tbtMs.perToken).toHaveLength(20 - count - 1);
      expect(rest.done()?.metrics.perToken?.dispatches).toBe(43);
      expect(rest.session.cachedIds).toEqual([...PROMPT, ...whole.slice(0, -1)]);
    }
  });

  test.each([0, 1, 5, 9])('prefills its told ids from number %i on, where a step brings another', async (at) => {
    const told = (await undisturbed()).slice(0, 10);
    const backend = new RoundingBackend();
    backend.otherFrom = 3 + at;
    const decode = vi.spyOn(backend, 'decode');
    const rest = ask(backend, told);
    await rest.whole;
    expect(backend.prefills[1]).toEqual({ position: 3 + at, length: 10 - at });
    expect(rest.tokens().map(({ position }) => position)).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
    expect(rest.done()?.usage).toMatchObject({ promptTokens: 3, completionTokens: 20 });
    expect(rest.session.cachedIds).toEqual([...PROMPT, ...told, ...rest.ids().slice(0, -1)]);
    expect(decode.mock.calls.length).toBeLessThan(30);
  });

  test('of many slow tokens is prefilled at once', async () => {
    const told = (await undisturbed()).slice(0, 10);
    for (const [stepBoundMs, length] of [
      [201, 13],
      [200, 3],
    ]) {
      // biome-ignore format: pairs
      const backend = new RoundingBackend();
      backend.stepBoundMs = stepBoundMs;
      await ask(backend, told).whole;
      expect(backend.prefills).toEqual([{ position: 0, length }]);
    }
  });

  test('stopped in its replay ends with what was told', async () => {
    const told = (await undisturbed()).slice(0, 10);
    const backend = new RoundingBackend();
    const decode = vi.spyOn(backend, 'decode');
    const rest = ask(backend, told, () => decode.mock.calls.length > 5);
    await rest.whole;
    expect(rest.ids()).toEqual([]);
    expect(rest.done()).toMatchObject({ finishReason: 'abort', usage: { completionTokens: 10 } });
    expect(decode.mock.calls.length).toBeLessThan(10);
  });

  test('repeats a step that gives up in the replay', async () => {
    const whole = await undisturbed();
    const backend = new RoundingBackend();
    let left = 1;
    const { script } = backend;
    backend.script = (position) => (position >= 7 && left > 0 ? GAVE_UP : script(position));
    Object.assign(backend, {
      stepGaveUp: (position: number) => {
        left--;
        Object.assign(backend, { next: position });
        return 'gave up';
      },
    });
    const rest = ask(backend, whole.slice(0, 10));
    await rest.whole;
    expect(rest.ids()).toEqual(whole.slice(10));
    expect(rest.events.filter(({ type }) => type === 'warning')).toHaveLength(1);
  });

  test('names the position of a NaN in the replay', async () => {
    const told = (await undisturbed()).slice(0, 10);
    const backend = new RoundingBackend();
    const { script } = backend;
    backend.script = (position) => (position === 7 ? NO_TOKEN : script(position));
    const rest = ask(backend, told);
    await expect(rest.whole).rejects.toThrow(NotFiniteError);
    await expect(rest.whole).rejects.toMatchObject({ position: 7 });
    expect(rest.session.cachedIds).toEqual([]);
  });
});
