// The pictures that views make of runs, and the tokens that the pointer and the keyboard find in them.

import { describe, expect, test } from 'vitest';
import { ContextView } from '../../../../src/metrics/chart/views/context_view';
import { HistogramView } from '../../../../src/metrics/chart/views/histogram_view';
import type { Picture } from '../../../../src/metrics/chart/views/picture';
import { TokensView } from '../../../../src/metrics/chart/views/tokens_view';
import { RunRecord } from '../../../../src/metrics/run/run_record';
import { inputOf, movedRun, runOf } from '../runs';

const lines = ({ series }: Picture) => series.filter(({ kind }) => kind === 'line');
const pointsOf = ({ data: [xs, ys] }: Picture['series'][number]) => Array.from(xs, (x, i) => [x, ys[i]]);

test('a picture without a gap is empty, with one it is not', () => {
  for (const view of [new TokensView(), new ContextView(), new HistogramView()]) {
    expect(view.picture(inputOf(runOf([]))).isEmpty, view.id).toBe(true);
    expect(view.picture(inputOf(runOf([5]))).isEmpty, view.id).toBe(false);
  }
});

describe('over tokens', () => {
  test('a gap stands over the number of its token, prefill before the first', () => {
    const picture = new TokensView().picture(inputOf(runOf([5, 6, 7])));
    expect(pointsOf(lines(picture)[0])).toEqual([
      [2, 5],
      [3, 6],
      [4, 7],
    ]);
    expect(picture.lead).toBe('prefill 10 tokens');
    expect(picture.verticals[0]).toMatchObject({ x: 1, label: 'first token after 0.00 ms' });
    expect(picture.x.max).toBeGreaterThanOrEqual(24);
  });

  test('prefill of one token is singular', () => {
    const run = Object.assign(runOf([5]), { prefill: { done: 1, total: 1 } });
    expect(new TokensView().picture(inputOf(run)).lead).toBe('prefill 1 token');
  });

  test('pinned runs have their own dashes, and the newest run is drawn once', () => {
    const [newest, other, third] = [runOf([5, 6]), runOf([9, 9, 9]), runOf([1])];
    const pins = [
      { letter: 'a' as const, run: other },
      { letter: 'b' as const, run: third },
      { letter: 'c' as const, run: newest },
    ];
    const drawn = lines(new TokensView().picture(inputOf(newest, { pins })));
    expect(drawn.map(({ ink }) => ink)).toEqual(['a', 'b', 'accent']);
    expect(new Set(drawn.map(({ dash }) => String(dash))).size).toBe(3);
  });

  test('tokens of a server have their own color; the line goes on from the last of the place before', () => {
    const picture = new TokensView().picture(inputOf(movedRun()));
    expect(lines(picture).map((line) => [line.ink, pointsOf(line)])).toEqual([
      [
        'remote',
        [
          [2, 5],
          [3, 6],
        ],
      ],
      [
        'accent',
        [
          [3, 6],
          [4, 7],
          [5, 8],
          [6, 9],
        ],
      ],
    ]);
    const dots = picture.series.filter(({ kind }) => kind === 'points');
    expect(dots.map((series) => [series.ink, pointsOf(series).length])).toEqual([
      ['remote', 2],
      ['accent', 3],
    ]);
    expect(picture.verticals.map(({ x, label }) => [x, label]).slice(1)).toEqual([
      [1, 'server'],
      [3, 'this page'],
    ]);
    const zoomed = new TokensView().picture(inputOf(movedRun(), { zoom: { min: 5, max: 6 } }));
    expect(lines(zoomed).map((line) => pointsOf(line).length)).toEqual([0, 3]);
    const places = Array.from({ length: 500 }, (_, i) => ({ afterToken: i % 3, place: 'remote' as const }));
    const odd = Object.assign(movedRun(), { places: [...places, { afterToken: 9, place: 'local' as const }] });
    expect(lines(new TokensView().picture(inputOf(odd))).length).toBeLessThan(18);
  });

  test('a gap of 0 ms is lifted to where a logarithm can show it', () => {
    const { series, y } = new TokensView().picture(inputOf(runOf([0, 6]), { isLog: true }));
    expect(series[0].data[1][0]).toBeGreaterThan(0);
    expect(y.min).toBeGreaterThan(0);
  });

  test('percentiles appear when there are enough gaps for them, and stalls have arrows', () => {
    const stalls = [{ token: 3, gapMs: 60, cause: 'busy' as const, sentence: 'Busy.' }];
    expect(new TokensView().picture(inputOf(runOf([5, 6, 7]))).levels).toEqual([]);
    const { levels, stalls: marked } = new TokensView().picture(inputOf(runOf([5, 60, 7, 8]), { stalls }));
    expect(levels.map(({ label }) => label)).toEqual(['p50']);
    for (const [n, labels] of [
      [19, ['p50']],
      [20, ['p50', 'p95']],
      [99, ['p50', 'p95']],
      [100, ['p50', 'p95', 'p99']],
    ] as const) {
      const { levels } = new TokensView().picture(inputOf(runOf(Array<number>(n).fill(5))));
      expect(levels.map(({ label }) => label)).toEqual(labels);
    }
    expect(marked).toEqual([{ x: 3, y: 60 }]);
  });

  test('the pointer finds the nearest token', () => {
    const view = new TokensView();
    expect(view.spotNear(3)).toBeNull();
    view.picture(inputOf(runOf([5, 6, 7])));
    expect(view.spotNear(3.4)).toMatchObject({ index: 1, x: 3, y: 6 });
    expect([view.spotNear(-5)?.index, view.spotNear(99)?.index]).toEqual([0, 2]);
  });
});

describe('over context', () => {
  test('dots of a server have their own color', () => {
    const { series } = new ContextView().picture(inputOf(movedRun()));
    const dots = series.filter(({ kind, ink }) => kind === 'points' && ink !== 'muted');
    expect(dots.map((each) => [each.ink, pointsOf(each).length])).toEqual([
      ['remote', 2],
      ['accent', 3],
    ]);
  });

  const past = [runOf([8, 8], 30), runOf([4, 4], 5)];

  test('gaps of all runs stand over their positions, with one median in the order of positions', () => {
    const picture = new ContextView().picture(inputOf(runOf([6, 6], 20), { past }));
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

  test('the pointer finds tokens of all runs, the keyboard those of the newest', () => {
    const view = new ContextView();
    const newest = runOf([6, 6], 20);
    view.picture(inputOf(newest, { past }));
    expect(view.spotNear(31.2, 0)).toMatchObject({ run: past[0], index: 0 });
    expect(view.spotNear(20, 0)).toMatchObject({ run: newest, index: 0 });
    expect([view.count(), view.spot(1).x]).toEqual([2, 22]);
  });

  test('where two runs had the same position, the nearer gap is found', () => {
    const view = new ContextView();
    const [low, high] = [runOf([2], 10), runOf([50], 10)];
    view.picture(inputOf(low, { past: [high] }));
    expect(view.spotNear(11, 45)?.run).toBe(high);
    expect(view.spotNear(11, 5)?.run).toBe(low);
  });
});

test('every view shows a run without a token', () => {
  for (const view of [new TokensView(), new ContextView(), new HistogramView()]) {
    for (const isLog of [false, true]) {
      const { x, y } = view.picture(inputOf(new RunRecord(), { isLog }));
      expect(x.max).toBeGreaterThan(x.min);
      expect(y.max).toBeGreaterThan(y.min);
      expect([view.count(), view.spotNear(3, 3)]).toEqual([0, null]);
    }
  }
});

describe('a part of the axis', () => {
  const gaps = Array.from({ length: 100 }, (_, i) => (i === 80 ? 500 : 5 + (i % 3)));

  test('over tokens it has its own gaps and its own height, and stays while the run grows', () => {
    const view = new TokensView();
    const zoom = { min: 20, max: 40 };
    const picture = view.picture(inputOf(runOf(gaps), { zoom }));
    expect([picture.x, picture.whole]).toEqual([zoom, { min: 1, max: 101 }]);
    expect(picture.y.max).toBeLessThan(10); // the peak is elsewhere
    const drawn = Array.from(lines(picture)[0].data[0]);
    expect([drawn[0], drawn.at(-1)]).toEqual([19, 41]); // lines go on to the neighbors out of sight
    expect(picture.lead).toBe('');
    expect(view.gapsWithin(zoom)).toEqual(gaps.slice(18, 39));
    expect(view.nameRange(zoom)).toBe('Tokens 20 to 40 of 101');
    expect(view.picture(inputOf(runOf([...gaps, 5, 5]), { zoom })).x).toEqual(zoom);
  });

  test('over context it counts positions', () => {
    const view = new ContextView();
    const zoom = { min: 30, max: 40 };
    const picture = view.picture(inputOf(runOf(gaps, 10), { zoom }));
    expect(picture.x).toEqual(zoom);
    expect(view.gapsWithin(zoom)).toEqual(gaps.slice(19, 30));
  });

  test('of the histogram it has finer bins, which count only the gaps in it', () => {
    const view = new HistogramView();
    const zoom = { min: 4, max: 8 };
    for (const isLog of [false, true]) {
      view.picture(inputOf(runOf(gaps), { zoom, isLog }));
      expect(view.gapsWithin(zoom)).toHaveLength(99);
      const bins = Array.from({ length: view.count() }, (_, i) => view.spot(i));
      expect(bins.reduce((sum, { y }) => sum + y, 0)).toBe(99);
      expect(view.count()).toBe(40);
      expect(bins.every(({ x }) => x > 4 && x < 8)).toBe(true);
    }
  });
});
