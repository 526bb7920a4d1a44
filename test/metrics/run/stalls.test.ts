// Stalls of a run: the gaps that count, and the cause of each.

import { describe, expect, test } from 'vitest';
import type { RunMetrics, TokenEvent } from '../../../src/engine/protocol';
import { summarizeGaps } from '../../../src/engine/tbt';
import { type DoneEvent, MARK, type RunData } from '../../../src/metrics/run/run_data';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { findStalls } from '../../../src/metrics/run/stalls';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';
import { tokenEvent } from '../events';

const START = 1_000_000;

/**
 * A run with these gaps, ended without times of the GPU. `change` takes each token's index, from 0, and returns its
 * special fields.
 */
function runOf(
  gaps: readonly number[],
  change: (index: number, atMs: number, run: RunRecord) => Partial<TokenEvent> = () => ({}),
) {
  let now = START;
  const run = new RunRecord({ now: () => now, onPaint: () => {} });
  run.record({ type: 'prefill', done: 5, total: 5 });
  for (const [i, gap] of [null, ...gaps].entries()) {
    now += gap ?? 0;
    const workerMs = gap === null ? null : Math.min(gap, 0.1);
    run.record(tokenEvent({ atMs: now, tbtMs: gap, workerMs, ...change(i, now, run) }));
  }
  run.isEnded = true;
  return run;
}

/** The run with the GPU's own times of all steps. */
function timed(run: RunRecord, gpuMs: readonly number[]): RunRecord {
  const metrics = { tbtMs: run.tbt } as RunMetrics;
  run.record({ type: 'done', metrics } as DoneEvent);
  void run.stalls; // the panel asks between the two events, too
  run.record({ type: 'gpuTimes', gpuMs: summarizeGaps(gpuMs) });
  return run;
}

const even = (n: number, ms: number) => Array<number>(n).fill(ms);
/** 20 gaps of 2 ms, one of 60 ms before token 22, then 20 more. `LATE` is its index from 0. */
const GAPS = [...even(20, 2), 60, ...even(20, 2)];
const LATE = 21;
const causes = (run: RunData) => findStalls(run).map(({ token, cause }) => [token, cause]);

describe('what counts as a stall', () => {
  for (const [what, gaps, tokens] of [
    ['an even stream has none', even(30, 5), []],
    ['nor has one gap, or none', [500], []],
    ['8 ms beyond the median is not enough', [...even(9, 1), 9], []],
    ['a hair more is', [...even(9, 1), 9.01], [11]],
    ['on a slow machine three times the median is not enough', [...even(9, 100), 300], []],
    ['more than three times is', [...even(9, 100), 301], [11]],
  ] as const) {
    test(what, () => expect(findStalls(runOf(gaps)).map(({ token }) => token)).toEqual(tokens));
  }

  test('it has its length and a sentence', () => {
    const [stall] = runOf(GAPS).stalls;
    expect(stall).toMatchObject({ token: LATE + 1, gapMs: 60 });
    expect(stall!.sentence).toMatch(/^[A-Z0-9].*\.$/);
  });

  test('a run without tokens has none', () => expect(new RunRecord({ onPaint: () => {} }).stalls).toEqual([]));
});

test('a kept stall speaks the language of each moment', async () => {
  const [stall] = findStalls(runOf(GAPS, (i) => (i === LATE ? { pipelines: 1 } : {})));
  expect(stall?.sentence).toContain('A kernel was');
  await useLanguage('de', importTranslation);
  const german = stall?.sentence;
  await useLanguage('en', importTranslation);
  expect(german).toContain('Kernel wurde');
  expect(structuredClone(stall)).toEqual({ token: LATE + 1, gapMs: 60, cause: 'compile', sentence: stall?.sentence });
});

describe('the cause', () => {
  const late = (change: Partial<TokenEvent>) => runOf(GAPS, (i) => (i === LATE ? change : {}));

  test('nothing known: the browser or the system', () => {
    expect(causes(runOf(GAPS))).toEqual([[LATE + 1, 'busy']]);
  });

  test('the tab was hidden during the gap, or from before it to its end', () => {
    const hidden = (from: number, to: number) => {
      const run = runOf(GAPS);
      run.marks.push({ afterToken: 0, atMs: from, label: MARK.hidden }, { afterToken: 0, atMs: to, label: MARK.shown });
      return causes(run);
    };
    const end = START + 100; // of the long gap, which lasts from + 40
    for (const [from, to] of [
      [50, 60],
      [10, 45],
      [90, 500],
    ]) {
      expect(hidden(START + from!, START + to!)).toEqual([[LATE + 1, 'hidden tab']]);
    }
    expect(hidden(START + 10, START + 39)).toEqual([[LATE + 1, 'busy']]);
    expect(hidden(end + 1, end + 9)).toEqual([[LATE + 1, 'busy']]);
  });

  test('the tab was hidden when the run began, or still is', () => {
    const marked = (label: string, atMs: number) => {
      const run = runOf(GAPS);
      run.marks.push({ afterToken: 0, atMs, label });
      return causes(run);
    };
    expect(marked(MARK.shown, START + 50)).toEqual([[LATE + 1, 'hidden tab']]);
    expect(marked(MARK.shown, START + 30)).toEqual([[LATE + 1, 'busy']]);
    expect(marked(MARK.hidden, START + 50)).toEqual([[LATE + 1, 'hidden tab']]);
  });

  test('tuning', () => {
    const run = runOf(GAPS);
    run.marks.push({ afterToken: 0, atMs: START + 50, label: MARK.tuning });
    expect(causes(run)).toEqual([[LATE + 1, 'tuning']]);
  });

  test('kernels compiled, and how many', () => {
    expect(causes(late({ pipelines: 3 }))).toEqual([[LATE + 1, 'compile']]);
    expect(late({ pipelines: 3 }).stalls[0].sentence).toContain('3 kernels');
    expect(late({ pipelines: 1 }).stalls[0].sentence).toContain('A kernel was');
  });

  test('the first gap after a prompt, unless the whole prompt was in the cache', () => {
    const gaps = [60, ...even(20, 2)];
    expect(causes(runOf(gaps))).toEqual([[2, 'prefill']]);
    expect(causes(Object.assign(runOf(gaps), { prefill: { done: 1, total: 1 } }))).toEqual([[2, 'busy']]);
  });

  test('a GPU step that was as long', () => {
    const steps = GAPS.map((gap) => 0.8 * gap);
    expect(causes(timed(runOf(GAPS), steps))).toEqual([[LATE + 1, 'GPU step']]);
    expect(findStalls(timed(runOf(GAPS), steps))[0].sentence).toContain('48.0 ms');
    expect(causes(timed(runOf(GAPS), even(41, 1.9)))).toEqual([[LATE + 1, 'busy']]);
  });

  test('a GPU step that held up the tokens that then came together', () => {
    const gaps = [...even(20, 2), 60, 0, 0.1, ...even(20, 2)];
    const steps = gaps.map((_, i) => (i === 22 ? 55 : 1.9));
    expect(causes(timed(runOf(gaps), steps))).toEqual([[22, 'GPU step']]);
  });

  test('other answers had their turn for most of it', () => {
    expect(causes(late({ othersMs: 40, pipelines: 1, workerMs: 31 }))).toEqual([[LATE + 1, 'other answers']]);
    expect(causes(late({ othersMs: 20, workerMs: 31 }))).toEqual([[LATE + 1, 'worker busy']]);
  });

  test('the worker was busy for most of it', () => {
    expect(causes(late({ workerMs: 31 }))).toEqual([[LATE + 1, 'worker busy']]);
    expect(causes(late({ workerMs: 29 }))).toEqual([[LATE + 1, 'busy']]);
  });

  const burst = (n: number) => [...even(20, 2), 60, ...even(n, 0.1), ...even(20, 2)];
  test('a late readback: as many tokens came together as the time was long', () => {
    const [stall] = findStalls(timed(runOf(burst(29)), even(70, 1.9)));
    expect(stall).toMatchObject({ token: 22, cause: 'readback late' });
    expect(stall!.sentence).toContain('30 tokens');
    expect(stall!.sentence).toContain('1.90 ms');
    expect(causes(runOf(burst(29)))).toEqual([[22, 'readback late']]); // also without a GPU clock
  });

  test('too few tokens came together for that', () => {
    expect(causes(runOf(burst(3)))).toEqual([[22, 'busy']]);
  });

  test('a browser that polls seldom: each wait is a late readback', () => {
    const gaps = Array.from({ length: 200 }, (_, i) => (i % 40 === 0 ? 100 : 0.1));
    expect(causes(runOf(gaps))).toEqual([
      [2, 'prefill'],
      [42, 'readback late'],
      [82, 'readback late'],
      [122, 'readback late'],
      [162, 'readback late'],
    ]);
  });

  describe('while the run goes on', () => {
    const live = (run: RunRecord) => Object.assign(run, { isEnded: false });

    test('is not known where the GPU’s times, which come last, decide it', () => {
      for (const change of [{}, { workerMs: 59 }]) {
        const run = live(late(change));
        expect(causes(run)).toEqual([[LATE + 1, 'not known yet']]);
        expect(run.stalls[0].sentence).toMatch(/when the answer is over/);
        // Without this time, the worker or nothing would have been the cause.
        expect(causes(timed(run, even(41, 59)))).toEqual([[LATE + 1, 'GPU step']]);
        expect(run.stalls[0].cause).toBe('GPU step'); // the live causes are dropped
      }
      expect(causes(live(runOf(burst(29))))).toEqual([[22, 'not known yet']]);
    });

    test('is known where it comes before any step of the GPU', () => {
      expect(causes(live(late({ pipelines: 3 })))).toEqual([[LATE + 1, 'compile']]);
      expect(causes(live(runOf([60, ...even(20, 2)])))).toEqual([[2, 'prefill']]);
    });

    test('is known on the cpu, which has no such times', () => {
      const run = live(late({ workerMs: 59 }));
      expect(causes(Object.assign(run, { info: { backend: 'cpu' } }))).toEqual([[LATE + 1, 'worker busy']]);
    });
  });

  test('the most certain of several fitting causes is named', () => {
    const run = late({ pipelines: 1, workerMs: 59 });
    expect(causes(timed(run, even(41, 59)))).toEqual([[LATE + 1, 'compile']]);
    run.marks.push({ afterToken: LATE, atMs: START + 50, label: MARK.hidden });
    expect(causes(run)).toEqual([[LATE + 1, 'hidden tab']]);
  });
});

test('a recovery explains its gap, says what was lost and what it cost, and has a mark', () => {
  const run = runOf(GAPS, (index, _, run) => {
    if (index !== LATE) return {};
    run.record({ type: 'interrupted', code: 'device-lost', message: 'Lost.' });
    run.record({ type: 'recovered', message: 'Back.', backend: 'cpu', pauseMs: 58 });
    return { pipelines: 3 };
  });
  expect(findStalls(run)).toEqual([
    {
      token: LATE + 1,
      gapMs: 60,
      cause: 'recovery',
      sentence: 'The GPU was lost; the model was loaded again on the CPU. The pause took 58.0 ms.',
    },
  ]);
  expect(run.marks).toEqual([{ afterToken: LATE, atMs: expect.any(Number), label: MARK.recovery }]);
});

test('a loss before the first token explains no gap', () => {
  const run = runOf(GAPS, (index, _, run) => {
    if (index !== 0) return {};
    run.record({ type: 'interrupted', code: 'worker', message: 'Lost.' });
    run.record({ type: 'recovered', message: 'Back.', backend: 'webgpu', pauseMs: 58 });
    return {};
  });
  expect(causes(run)).toEqual([[LATE + 1, 'busy']]);
});
