// Labels beside the lines of a chart keep their distance.

import { expect, test } from 'vitest';
import { spreadLabels } from '../../../src/metrics/chart/chart_marks';

test('labels keep a line between them and stay within the plot', () => {
  expect(spreadLabels([10, 50, 90], 12, 0, 100)).toEqual([10, 50, 90]);
  expect(spreadLabels([50, 51, 52], 12, 0, 100)).toEqual([50, 62, 74]);
  expect(spreadLabels([98, 99, 100], 12, 0, 100)).toEqual([76, 88, 100]);
  expect(spreadLabels([], 12, 0, 100)).toEqual([]);
});
