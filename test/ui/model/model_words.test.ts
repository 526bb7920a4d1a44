// Loading progress and kept models in words.

import { expect, test } from 'vitest';
import { describeKept, describeUsage, describeUse } from '../../../src/ui/model/model_words';

const model = { location: 'l', name: 'n', bytes: 600e6, totalBytes: 1e9, isComplete: false, usedAt: 0 };

test('how much of a model is here, never all of what is not complete', () => {
  expect(describeKept(model)).toBe('60% of 1.0 GB here');
  expect(describeKept({ ...model, bytes: 1e9 - 1 })).toBe('99% of 1.0 GB here');
  expect(describeKept({ ...model, totalBytes: null })).toBe('600 MB here');
  expect(describeKept({ ...model, bytes: 1e9, isComplete: true })).toBe('1.0 GB');
});

test('when it was used last, by the calendar', () => {
  const now = new Date(2026, 4, 10, 0, 30).getTime();
  expect(describeUse(now, now)).toBe('last used today');
  expect(describeUse(now - 3600e3, now)).toBe('last used yesterday');
  expect(describeUse(now - 9 * 86400e3, now)).toBe('last used 9 days ago');
  for (const clock of [now + 5 * 86400e3, Number.MAX_SAFE_INTEGER])
    expect(describeUse(clock, now)).toBe('last used today');
});

test('all models together, and what the browser allows', () => {
  expect(describeUsage([model], null)).toBe('One model, 600 MB.');
  const usage = { usedBytes: 2e9, quotaBytes: 1e10 };
  expect(describeUsage([model, model], usage)).toBe(
    '2 models, 1.2 GB. This browser allows this site 10.0 GB; it uses 2.0 GB.',
  );
});
