// The legend names what is on the canvas, and nothing else.

import { expect, test } from 'vitest';
import { legendOf } from '../../../src/metrics/chart/legend';
import { inputOf, movedRun, runOf } from './runs';

const labels = (view: string, input: ReturnType<typeof inputOf>) => legendOf(view, input).map(({ label }) => label);

test('a run without gaps has no legend', () => {
  for (const view of ['tokens', 'context', 'histogram']) expect(legendOf(view, inputOf(runOf([])))).toEqual([]);
});

test('lines over tokens: percentiles with enough gaps, events, and stalls', () => {
  expect(labels('tokens', inputOf(runOf([5, 6])))).toEqual(['gap before each token', 'first token']);
  const run = runOf(Array<number>(100).fill(5));
  run.mark('recovery');
  const stalls = [{ token: 3, gapMs: 60, cause: 'busy' as const, sentence: 'Busy.' }];
  const pins = [{ letter: 'b' as const, run: runOf([1]) }];
  expect(labels('tokens', inputOf(run, { stalls, pins }))).toEqual([
    'gap before each token',
    'run B',
    'p50, p95, p99',
    'first token',
    'recovery',
    'stalls',
  ]);
});

test('the line over context is a running median, of pinned runs too', () => {
  const input = inputOf(runOf([5, 6]), { past: [runOf([3])], pins: [{ letter: 'a', run: runOf([1]) }] });
  expect(labels('context', input)).toEqual([
    'gap of this run',
    'gaps of earlier runs',
    'running median of 25 gaps',
    'median of run A',
  ]);
});

test('tokens of a server have an entry of their own, and a color', () => {
  const gaps = legendOf('tokens', inputOf(movedRun())).slice(0, 2);
  expect(gaps.map(({ ink, label }) => [ink, label])).toEqual([
    ['remote', 'gap before each token: server'],
    ['accent', 'gap before each token: this page'],
  ]);
  expect(labels('context', inputOf(movedRun())).slice(0, 2)).toEqual([
    'gap of this run: server',
    'gap of this run: this page',
  ]);
});

test('the histogram counts gaps', () => {
  expect(labels('histogram', inputOf(runOf([5, 6])))).toEqual(['number of gaps', 'p50']);
});
