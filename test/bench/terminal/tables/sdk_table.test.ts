// What clients cost the main thread, as a table, in one browser and in several.

import { expect, test } from 'vitest';
import type { BenchReport, SdkRow } from '../../../../bench/report';
import { mergeBrowsers } from '../../../../bench/terminal/browsers';
import { benchTables } from '../../../../bench/terminal/tables/tables';
import { AROUND } from '../reports';

/** Answers of 500 tokens in one second, with so much work for each token. */
const row = (reader: string, taskUs: readonly number[], chunks: number | null): SdkRow => ({
  reader,
  answers: taskUs.map((us) => ({ tokens: 500, chunks, ms: 1000, taskMs: us / 2 })),
});

const reportOf = (rows: SdkRow[], sameText = true): BenchReport => ({
  ...AROUND,
  suite: 'sdk',
  model: 'a model',
  sameText,
  rows,
});

test('the median, the lowest and the highest of the work for a token, and the tokens of a chunk', () => {
  const text = benchTables(reportOf([row('events', [20, 12.5, 14], null), row('a client', [90, 80], 200)]));
  const [title, head, events, client, verdict] = text.split('\n\n')[1].split('\n');
  expect(title).toMatch(/^a model, 500 tokens an answer; microseconds of the main thread a token/);
  expect(head).toMatch(/^reader +rounds +tok\/s +us +lowest +highest +tokens a chunk$/);
  expect(events).toMatch(/^events +3 +500 +14\.0 +12\.5 +20\.0 +-$/);
  expect(client).toMatch(/^a client +2 +500 +90\.0 +80\.0 +90\.0 +2\.50$/);
  expect(verdict).toBe('All texts are the same.');
});

test('answers of several lengths and other texts are told; a row without answers has no figures', () => {
  const short = { tokens: 7, chunks: 7, ms: 100, taskMs: 1 };
  const text = benchTables(reportOf([row('events', [20], null), { reader: 'cut', answers: [short] }], false));
  expect(text).toContain('500 or 7 tokens an answer');
  expect(text).toMatch(/\nThe texts differ\.$/);
  const none = benchTables(reportOf([{ reader: 'events', answers: [] }], false));
  expect(none).toMatch(/\nevents +0 +- +- +- +- +-$/);
  expect(none).toContain('no tokens an answer');
});

test('the rounds of all browsers count, and one browser with other texts is told', () => {
  const [first, second] = [[row('a', [10], 1), row('b', [30], 1)], [row('a', [11], 1)]];
  expect(mergeBrowsers([reportOf(first), { ...reportOf(second, false), interrupted: true }])).toEqual({
    ...reportOf([row('a', [10, 11], 1), row('b', [30], 1)], false),
    interrupted: true,
  });
});
