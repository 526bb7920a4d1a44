// What the chart's views make of runs, and the small rules around them: labels, ticks, keys, texts, pace.

import { describe, expect, test } from 'vitest';
import { spreadLabels } from '../../src/metrics/chart/chart_marks';
import { ContextView } from '../../src/metrics/chart/context_view';
import { HistogramView } from '../../src/metrics/chart/histogram_view';
import type { ChartInput, Picture } from '../../src/metrics/chart/picture';
import { describeToken, quoteText, spokenToken, worstStalls } from '../../src/metrics/chart/readout';
import { TokensView } from '../../src/metrics/chart/tokens_view';
import { waitAfter } from '../../src/metrics/panel/pacer';
import { RunRecord } from '../../src/metrics/run/run_record';

/** A run whose gaps are these, from a position on. */
function run(gaps: number[], from = 10): RunRecord {
  const record = new RunRecord({ now: () => 1005 });
  record.record({ type: 'prefill', done: from, total: from });
  [null, ...gaps].forEach((tbtMs, i) => {
    const workerMs = i === 0 ? null : 0.25;
    record.record({
      type: 'token',
      id: i,
      text: ` t${i}`,
      tbtMs,
      position: from + i,
      atMs: 1000,
      inFlightMs: 12,
      workerMs,
    });
  });
  return record;
}

function input(newest: RunRecord, more: Partial<ChartInput> = {}): ChartInput {
  return { run: newest, tbt: newest.tbt, stalls: [], pins: [], past: [], isLog: false, columns: 300, ...more };
}

const lines = ({ series }: Picture) => series.filter(({ kind }) => kind === 'line');
const pointsOf = ({ data: [xs, ys] }: Picture['series'][number]) => Array.from(xs, (x, i) => [x, ys[i]]);

describe('over tokens', () => {
  test('a gap stands over the number of its token, prefill before the first', () => {
    const picture = new TokensView().picture(input(run([5, 6, 7])));
    expect(pointsOf(lines(picture)[0])).toEqual([
      [2, 5],
      [3, 6],
      [4, 7],
    ]);
    expect(picture.lead).toBe('prefill 10 tokens');
    expect(picture.verticals[0]).toMatchObject({ x: 1, label: 'first token after 0.00 ms' });
    expect(picture.x.max).toBeGreaterThanOrEqual(24);
  });

  test('pinned runs lie over it with dashes of their own, the run itself does not twice', () => {
    const [newest, other, third] = [run([5, 6]), run([9, 9, 9]), run([1])];
    const pins = [
      { letter: 'a' as const, run: other },
      { letter: 'b' as const, run: third },
      { letter: 'c' as const, run: newest },
    ];
    const drawn = lines(new TokensView().picture(input(newest, { pins })));
    expect(drawn.map(({ ink }) => ink)).toEqual(['a', 'b', 'accent']);
    expect(new Set(drawn.map(({ dash }) => String(dash))).size).toBe(3);
  });

  test('a gap of 0 ms is lifted to where a logarithm can show it', () => {
    const { series, y } = new TokensView().picture(input(run([0, 6]), { isLog: true }));
    expect(series[0].data[1][0]).toBeGreaterThan(0);
    expect(y.min).toBeGreaterThan(0);
  });

  test('percentiles appear when there are enough gaps for them, and stalls wear rings', () => {
    const stalls = [{ token: 3, gapMs: 60, cause: 'busy' as const, sentence: 'Busy.' }];
    expect(new TokensView().picture(input(run([5, 6, 7]))).levels).toEqual([]);
    const { levels, rings } = new TokensView().picture(input(run([5, 60, 7, 8]), { stalls }));
    expect(levels.map(({ label }) => label)).toEqual(['p50']);
    for (const [n, labels] of [
      [19, ['p50']],
      [20, ['p50', 'p95']],
      [99, ['p50', 'p95']],
      [100, ['p50', 'p95', 'p99']],
    ] as const) {
      const { levels } = new TokensView().picture(input(run(Array<number>(n).fill(5))));
      expect(levels.map(({ label }) => label)).toEqual(labels);
    }
    expect(rings).toEqual([{ x: 3, y: 60 }]);
  });

  test('the pointer finds the nearest token', () => {
    const view = new TokensView();
    expect(view.spotNear(3)).toBeNull();
    view.picture(input(run([5, 6, 7])));
    expect(view.spotNear(3.4)).toMatchObject({ index: 1, x: 3, y: 6 });
    expect([view.spotNear(-5)?.index, view.spotNear(99)?.index]).toEqual([0, 2]);
  });
});

describe('over context', () => {
  const past = [run([8, 8], 30), run([4, 4], 5)];

  test('gaps of all runs stand over their positions, with one median in the order of positions', () => {
    const picture = new ContextView().picture(input(run([6, 6], 20), { past }));
    const [before, now] = picture.series.filter(({ kind }) => kind === 'points');
    expect(pointsOf(before!)).toEqual([
      [6, 4],
      [7, 4],
      [31, 8],
      [32, 8],
    ]);
    expect(pointsOf(now!)).toEqual([
      [21, 6],
      [22, 6],
    ]);
    expect(Array.from(lines(picture)[0].data[0])).toEqual([6, 7, 21, 22, 31, 32]);
    expect(picture.x).toMatchObject({ min: 6, max: 32 });
  });

  test('the pointer finds tokens of earlier runs, too, the keyboard those of the newest', () => {
    const view = new ContextView();
    const newest = run([6, 6], 20);
    view.picture(input(newest, { past }));
    expect(view.spotNear(31.2, 0)).toMatchObject({ run: past[0], index: 0 });
    expect(view.spotNear(20, 0)).toMatchObject({ run: newest, index: 0 });
    expect([view.count(), view.spot(1).x]).toEqual([2, 22]);
  });

  test('where two runs had the same position, the nearer gap is found', () => {
    const view = new ContextView();
    const [low, high] = [run([2], 10), run([50], 10)];
    view.picture(input(low, { past: [high] }));
    expect(view.spotNear(11, 45)?.run).toBe(high);
    expect(view.spotNear(11, 5)?.run).toBe(low);
  });
});

describe('histogram', () => {
  test('counts all gaps, and a bin says which tokens it holds', () => {
    const view = new HistogramView();
    const { series, verticals } = view.picture(input(run([5, 5, 5, 5, 5, 5, 39])));
    const counts = Array.from(series[0].data[1]).slice(0, -1);
    expect(counts.reduce((a, b) => a + b)).toBe(7);
    expect(verticals.map(({ x, label }) => `${label} ${x}`)).toEqual(['p50 5']); // too few for p99
    const many = new HistogramView().picture(input(run(Array.from({ length: 100 }, (_, i) => (i < 90 ? 5 : 39)))));
    expect(many.verticals.map(({ x, label }) => `${label} ${x}`)).toEqual(['p50 5', 'p99 39']);
    expect(view.describe(view.spotNear(5.1)!.index)).toMatch(
      /^6 of 7 gaps \(85\.7 %\) from .* before token 2, 3, 4, 5, 6 …$/,
    );
    expect(view.describe(view.spotNear(20)!.index)).toMatch(/^No gap from/);
  });

  test('pinned runs share its bins', () => {
    const pins = [{ letter: 'a' as const, run: run([80, 90]) }];
    const { series } = new HistogramView().picture(input(run([5, 6]), { pins }));
    expect(series.map(({ data }) => data[0])).toEqual([series[0].data[0], series[0].data[0]]);
    expect(series[0].data[0].length).toBe(series[0].data[1].length);
  });
});

test('every view shows a run without a token', () => {
  for (const view of [new TokensView(), new ContextView(), new HistogramView()]) {
    for (const isLog of [false, true]) {
      const { x, y } = view.picture(input(new RunRecord(), { isLog }));
      expect(x.max).toBeGreaterThan(x.min);
      expect(y.max).toBeGreaterThan(y.min);
      expect([view.count(), view.spotNear(3, 3)]).toEqual([0, null]);
    }
  }
});

test('labels keep a line between them and stay within the plot', () => {
  expect(spreadLabels([10, 50, 90], 12, 0, 100)).toEqual([10, 50, 90]);
  expect(spreadLabels([50, 51, 52], 12, 0, 100)).toEqual([50, 62, 74]);
  expect(spreadLabels([98, 99, 100], 12, 0, 100)).toEqual([76, 88, 100]);
  expect(spreadLabels([], 12, 0, 100)).toEqual([]);
});

describe('readout', () => {
  test('a token with its stages, and its stall', () => {
    const stalls = [{ token: 3, gapMs: 60, cause: 'busy' as const, sentence: 'Busy.' }];
    const token = describeToken(run([5, 60]), 1, stalls)!;
    expect([token.gap, token.where, token.text, token.stall]).toEqual([
      '60.0 ms',
      'before token 3, position 12',
      '" t2"',
      'Busy.',
    ]);
    expect(token.stages.map(({ value }) => value)).toEqual(['12.0 ms', '–', '0.25 ms', '5.00 ms', '–']);
    expect(spokenToken(token)).toMatch(/^60\.0 ms before token 3.*in flight 12\.0 ms.*Busy\.$/);
    expect(describeToken(run([5]), 7, [])).toBeNull();
  });

  test('hostile texts are cut, and what would turn the line around is a number', () => {
    expect(quoteText('a\n"b\u202ec')).toBe(String.raw`"a\n\"b\u{202e}c"`);
    expect(quoteText('x'.repeat(1e6))).toBe(`"${'x'.repeat(39)}…`);
    expect(quoteText('\u001b[31m\ud83d\ude00')).toBe(String.raw`"\u001b[31m😀"`);
  });

  test('the worst stalls are the longest', () => {
    const stalls = [9, 40, 20, 30].map((gapMs, token) => ({ token, gapMs, cause: 'busy' as const, sentence: '' }));
    expect(worstStalls(stalls).map(({ gapMs }) => gapMs)).toEqual([40, 30, 20]);
  });
});

test('drawing keeps its pace, slows where it costs more or frames are late, and never stops', () => {
  const pace = { leastMs: 48, share: 0.01 };
  expect([waitAfter(0.1, false, pace), waitAfter(2, false, pace), waitAfter(2, true, pace)]).toEqual([48, 200, 400]);
  expect(waitAfter(500, true, pace)).toBe(1000);
});
