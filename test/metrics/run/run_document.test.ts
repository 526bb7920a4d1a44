// Documents of runs: the way there and back, what they hold, and files that hold anything else.

import { expect, test } from 'vitest';
import { runToCsv, runToJson } from '../../../src/metrics/run/export';
import { runOf } from '../../../src/metrics/run/kept_run';
import { RunFileError } from '../../../src/metrics/run/run_checks';
import { type RunData, rooflineOf } from '../../../src/metrics/run/run_data';
import type { RunDocument } from '../../../src/metrics/run/run_document';
import { readRun } from '../../../src/metrics/run/run_parse';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { exportConversations } from '../../../src/ui/conversation/conversation_file';
import { info } from '../../engine/doubles/heard_run';
import { mutateTree, printTree, treeOf } from '../../fuzz/cases/mutate_json';
import { Random } from '../../fuzz/random';
import { tokenEvent } from '../events';
import { fullRun } from './full_run';

const ROOFLINE = { readGBps: 3.5, clock: 'gpu' } as const;
const textOf = (run: RunData) => runToJson(run, null, ROOFLINE);

/** What charts, figures and comparisons read, without the functions of a record. */
function seen(run: RunData) {
  const { origin, info, label, isFirst, promptIds, tokenNumbers, gaps, marks, warnings, recoveries, prefill } = run;
  const { seed, usage, finishReason, metrics, ttftMs, tbt, decodeTokensPerSecond, stalls, done } = run;
  const heard = { info, promptIds, tokenNumbers, gaps, marks, recoveries, prefill, seed, usage, finishReason, done };
  return { origin, label, isFirst, warnings, metrics, ttftMs, tbt, decodeTokensPerSecond, stalls, ...heard };
}

test('a run read again is the run that was written', () => {
  const run = fullRun();
  const again = runOf(readRun(textOf(run)));
  const warnings = [...run.info!.warnings, ...run.warnings];
  expect(seen(again)).toEqual({ ...seen(run), warnings });
  expect(again.tokens[3]).toMatchObject({ pipelines: 2, text: ' t3', position: 12, workerMs: 0.25 });
  expect(again.tokens.map(({ paintedMs }) => paintedMs === null)).toEqual(run.tokens.map((t) => t.paintedMs === null));
  expect(textOf(again)).toBe(textOf(run));
  expect(runToCsv(again)).toBe(runToCsv(run));
});

test('a run of another machine keeps the memory speed that was measured there', () => {
  const here = { readGBps: 900, clock: 'gpu' } as const;
  const again = runOf(readRun(textOf(fullRun())));
  const elsewhere = { ...info, adapter: 'another GPU' };
  expect(JSON.parse(runToJson(again, elsewhere, rooflineOf(again, elsewhere, here))).roofline).toEqual(ROOFLINE);
  const unmeasured = runOf(readRun(runToJson(fullRun(), null, null)));
  expect(rooflineOf(unmeasured, elsewhere, here)).toBeNull();
  expect(rooflineOf(unmeasured, info, here)).toEqual(here);
});

test('the document tells what it takes to run it again, and the cause of each stall', () => {
  expect(JSON.parse(textOf(fullRun()))).toMatchObject({
    format: 'vivace-run',
    version: 1,
    name: 'A “run”',
    date: '2023-11-14T22:13:20.000Z',
    vivace: 'sources',
    browser: 'A browser',
    address: 'https://example.com/tiny.gguf',
    sampling: { temperature: 0.7, thinking: 'on', seed: 5 },
    seed: 5,
    promptIds: [1, 2],
    info: { kvCache: 'f16', activations: 'f32', contextLength: 512, model: { format: 'Q8_0' } },
    roofline: ROOFLINE,
    stalls: [{ token: 5, gapMs: 90, cause: 'recovery' }],
    tokens: { tbtMs: [null, 4, 4.25, 4, 90, 4, 4, 0, 4.5, 4], pipelines: [0, 0, 0, 2, 0, 0, 0, 0, 0, 0] },
  });
  expect(runToCsv(fullRun()).split('\n')[5]).toMatch(/^5,4,13,90,45,9.5,0.25,.*,80,0,recovery,local$/);
});

test('a stall for other answers is one when it is read again', () => {
  const run = new RunRecord({ info, now: () => 1000, onPaint: () => {} });
  for (const tbtMs of [null, 5, 5, 5, 5]) run.record(tokenEvent({ tbtMs }));
  run.record(tokenEvent({ tbtMs: 500, othersMs: 480 }));
  expect(run.stalls.map(({ cause }) => cause)).toEqual(['other answers']);
  expect(runOf(readRun(textOf(run))).stalls).toEqual(run.stalls);
});

test('a document keeps a long text that came as one token', () => {
  const run = new RunRecord({ info, now: () => 1000, onPaint: () => {} });
  run.record(tokenEvent({ text: 'x'.repeat(20_000) }));
  expect(runOf(readRun(textOf(run))).tokens[0].text).toHaveLength(20_000);
});

test('a document keeps the place of each token', () => {
  const run = new RunRecord({ info, now: () => 1000, onPaint: () => {} });
  const server = { ...info, backend: 'remote' as const };
  run.record({ type: 'place', place: 'remote', info: server });
  for (const position of [4, 5]) run.record(tokenEvent({ position, tbtMs: 5 }));
  run.record({ type: 'place', place: 'local', info });
  run.record(tokenEvent({ position: 6, tbtMs: 5 }));
  const again = runOf(readRun(textOf(run)));
  expect([again.places, again.info?.backend]).toEqual([run.places, 'webgpu']);
  const lines = runToCsv(again).trim().split('\n');
  expect(lines.map((line) => line.split(',').at(-1))).toEqual(['place', 'remote', 'remote', 'local']);
  for (const places of [
    [
      { afterToken: 2, place: 'remote' },
      { afterToken: 1, place: 'local' },
    ],
    [{ afterToken: 0, place: 'moon' }],
    [{ place: 'local' }],
    {},
  ])
    expect(() => readRun(JSON.stringify({ ...JSON.parse(textOf(run)), places }))).toThrow(RunFileError);
});

test('a run without an end or without a model comes back too', () => {
  const stopped = new RunRecord({ now: () => 1000, onPaint: () => {} });
  stopped.record(tokenEvent({ position: 4 }));
  stopped.record(tokenEvent({ position: 5, tbtMs: 7 }));
  stopped.isEnded = true;
  expect(seen(runOf(readRun(textOf(stopped))))).toEqual(seen(stopped));
  const empty = new RunRecord({ onPaint: () => {} });
  expect(runOf(readRun(textOf(empty))).tokens).toEqual([]);
});

const refusal = (change: (document: RunDocument) => unknown) => {
  const document = JSON.parse(textOf(fullRun()));
  try {
    readRun(JSON.stringify(change(document)));
    return 'accepted';
  } catch (error) {
    return error instanceof RunFileError ? error.message : error;
  }
};

test('a file that is no run is refused in a sentence', () => {
  expect(() => readRun('{')).toThrow('This file is not a run that Vivace exported.');
  const cut = JSON.stringify({ format: 'vivace-run', version: 1, text: 'Once' }).slice(0, -3);
  expect(() => readRun(cut)).toThrow('This file is incomplete or damaged. Export it again, or copy it again.');
  expect(() => readRun('[]')).toThrow('This file is not a run that Vivace exported.');
  for (const file of [exportConversations([]), exportConversations([]).slice(0, 50)])
    expect(() => readRun(file)).toThrow('This file is not a run. It holds conversations: import it in their list.');
  expect(refusal((document) => ({ ...document, version: 2 }))).toBe(
    'This run comes from a newer version of Vivace. Reload the page to get that version.',
  );
  expect(refusal(({ tokens, ...rest }) => rest)).toBe('This is not a valid run: tokens is not an object.');
  const changed = (change: (document: RunDocument) => void) =>
    refusal((document) => {
      change(document);
      return document;
    });
  const cases: [reason: string, change: (document: RunDocument) => void][] = [
    ['lists of tokens differ in length', (d) => Object.assign(d, { ids: d.ids.slice(3) })],
    ['do not ascend', (d) => d.tokens.position.splice(4, 1, 2)],
    ['text is not that of its tokens', (d) => d.tokens.text.splice(0, 1, 'x')],
    ['an entry of tokens.tbtMs is not a number from 0', (d) => d.tokens.tbtMs.splice(2, 1, -1)],
    ['date is no date', (d) => Object.assign(d, { date: '2023-13-45T99:00:00Z' })],
    ['at most 500', (d) => Object.assign(d, { marks: Array(501).fill(d.marks[0]) })],
    ['info.model.name', (d) => Object.assign(d.info!.model, { name: 'x'.repeat(1001) })],
    ['sampling', (d) => Object.assign(d, { sampling: { a: [] } })],
  ];
  for (const [reason, change] of cases) expect(changed(change)).toContain(reason);
});

test('unknown fields are dropped, and names of object prototypes are no fields', () => {
  const text = textOf(fullRun()).replace('{', '{"__proto__":{"ids":[]},"constructor":1,"other":[{}],');
  expect(Object.keys(readRun(text)).sort()).toEqual(Object.keys(readRun(textOf(fullRun()))).sort());
});

test('2,000 damaged documents are each refused in a sentence, or give a run that can be written again', () => {
  const tree = treeOf(JSON.parse(textOf(fullRun())));
  let refused = 0;
  for (let seed = 0; seed < 2000; seed++) {
    const text = printTree(mutateTree(new Random(seed), tree));
    try {
      const run = runOf(readRun(text));
      expect(textOf(runOf(readRun(textOf(run)))), `seed ${seed}`).toBe(textOf(run));
    } catch (error) {
      expect(error, `seed ${seed}`).toBeInstanceOf(RunFileError);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(500);
  expect(refused).toBeLessThan(1900);
});
