// The readout of one token, and the list of stalls.

import { describe, expect, test } from 'vitest';
import { bySentence, describeToken, longestFirst, renderStalls, spokenToken } from '../../../src/metrics/chart/readout';
import type { Stall } from '../../../src/metrics/run/run_data';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { tokenEvent } from '../events';
import { runOf } from './runs';

describe('readout', () => {
  test('a token with its stages, and its stall', () => {
    const stalls = [{ token: 3, gapMs: 60, cause: 'busy' as const, sentence: 'Busy.' }];
    const token = describeToken(runOf([5, 60]), 1, stalls)!;
    expect([token.gap, token.where, token.text, token.stall]).toEqual([
      '60.0 ms',
      'before token 3, position 12',
      '" t2"',
      'Busy.',
    ]);
    expect(token.stages.map(({ value }) => value)).toEqual(['12.0 ms', '–', '0.25 ms', '5.00 ms', '–']);
    expect(spokenToken(token)).toMatch(/^60\.0 ms before token 3.*in flight 12\.0 ms.*Busy\.$/);
    expect(describeToken(runOf([5]), 7, [])).toBeNull();
  });

  const textOf = (text: string) => {
    const run = new RunRecord();
    run.record(tokenEvent({ text, tbtMs: 5 }));
    return describeToken(run, 0, [])?.text;
  };

  test('hostile texts are cut, and characters that change the direction become numbers', () => {
    expect(textOf('a\n"b\u202ec')).toBe(String.raw`"a\n\"b\u{202e}c"`);
    expect(textOf('x'.repeat(1e6))).toBe(`"${'x'.repeat(39)}…`);
    expect(textOf('\u001b[31m\ud83d\ude00')).toBe(String.raw`"\u001b[31m😀"`);
  });

  test('all stalls are listed, the longest first', () => {
    const stalls = [9, 40, 20, 30].map((gapMs, token) => ({ token, gapMs, cause: 'busy' as const, sentence: '' }));
    expect(longestFirst(stalls).map(({ gapMs }) => gapMs)).toEqual([40, 30, 20, 9]);
  });
});

test('stalls with one sentence stand together, in the order of their first', () => {
  const stall = (token: number, sentence: string) => ({ token, gapMs: 1, cause: 'busy', sentence }) as const;
  const groups = bySentence([stall(1, 'Busy.'), stall(2, 'Hidden.'), stall(3, 'Busy.')]);
  expect(groups.map((same) => same.map(({ token }) => token))).toEqual([[1, 3], [2]]);
});

test('of the stalls of a file, which may be all of its tokens, the longest have buttons', () => {
  const stalls = Array.from({ length: 1000 }, (_, token) => ({
    token,
    gapMs: token,
    cause: 'busy',
    sentence: 'Busy.',
  }));
  const made = JSON.stringify(renderStalls(stalls as unknown as Stall[], () => {}));
  expect(made).toContain('1000 stalls');
  expect(made.match(/before token \d+/g)).toHaveLength(100);
  expect(made).toContain('before token 999.');
  expect(made).not.toContain('before token 899.');
});
