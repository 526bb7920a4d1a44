// Labels beside the lines of a chart keep their distance, and the label of prefill stays in its bar.

import type uPlot from 'uplot';
import { expect, test } from 'vitest';
import { type Colors, paintMarks, spreadLabels } from '../../../../src/metrics/chart/plot/chart_marks';
import type { Picture } from '../../../../src/metrics/chart/views/picture';

test('labels keep a line between them and stay within the plot', () => {
  expect(spreadLabels([10, 50, 90], 12, 0, 100)).toEqual([10, 50, 90]);
  expect(spreadLabels([50, 51, 52], 12, 0, 100)).toEqual([50, 62, 74]);
  expect(spreadLabels([98, 99, 100], 12, 0, 100)).toEqual([76, 88, 100]);
  expect(spreadLabels([], 12, 0, 100)).toEqual([]);
});

test('a label of prefill that is longer than the chart is high is condensed', () => {
  const written: unknown[][] = [];
  const known: Record<string | symbol, unknown> = { fillText: (...args: unknown[]) => written.push(args) };
  const ctx = new Proxy(known, { get: (target, name) => target[name] ?? (() => {}) });
  const plot = { ctx, bbox: { left: 40, top: 10, width: 200, height: 100 } } as unknown as uPlot;
  const picture = { lead: 'prefill', verticals: [], levels: [], stalls: [] } as unknown as Picture;
  paintMarks(plot, picture, { colors: {} as Colors, font: { px: 12, family: 'serif' }, ratio: 1 });
  expect(written).toEqual([['prefill', 0, 1, 88]]);
});
