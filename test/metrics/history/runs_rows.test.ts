// The moment of a run as it stands in the list.

import { expect, test } from 'vitest';
import { formatMoment } from '../../../src/metrics/history/runs_rows';

test('a run of this year has no year, so that its row keeps to one line', () => {
  const now = new Date(2026, 10, 23, 16, 0).getTime();
  const moment = (...date: [number, number, number]) => formatMoment(new Date(...date, 8, 24, 56).getTime(), now);
  expect(moment(2026, 1, 3)).toMatch(/^Feb 3, 8:24:56\sAM$/);
  expect(moment(2025, 1, 3)).toMatch(/^Feb 3, 2025, 8:24:56\sAM$/);
});
