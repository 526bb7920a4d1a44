// The store of runs: its bounds, its order, names and pins, damaged values, and storage that fails.

import { expect, test } from 'vitest';
import { RunStore } from '../../../src/metrics/history/run_store';
import { figureParts, type RunSummary, summarize, whatParts } from '../../../src/metrics/history/run_summary';
import { runToJson } from '../../../src/metrics/run/export';
import { runOf } from '../../../src/metrics/run/kept_run';
import { readRun } from '../../../src/metrics/run/run_parse';
import { type KeyValueTable, memoryTable } from '../../../src/shared/key_value_table';
import { fullRun } from '../run/full_run';

const idOf = (n: number) => n.toString(16).padStart(32, '0');
const text = runToJson(fullRun(), null, null);

/** A run as the panel keeps it. Run n began n seconds into 1970. */
function runAt(n: number, more: Partial<RunSummary> = {}) {
  const run = runOf({ ...readRun(text), id: idOf(n), name: '', date: new Date(1000 * n).toISOString() });
  const written = runToJson(run, null, null);
  return { summary: { ...summarize(run, written.length, null), ...more }, text: written };
}

/** The same table, whose writes come late: after many turns of other work. */
function slow(table: KeyValueTable): KeyValueTable {
  const update: KeyValueTable['update'] = async (keys, change) => {
    await new Promise(setImmediate);
    return table.update(keys, change);
  };
  return { ...table, update };
}

const listed = async (store: RunStore) => (await store.list()).map(({ id }) => Number.parseInt(id, 16));

test('runs are listed newest first, and come back whole', async () => {
  const store = new RunStore(null);
  for (const n of [2, 3, 1]) await store.keep([runAt(n)]);
  expect(await listed(store)).toEqual([3, 2, 1]);
  const run = await store.load(idOf(2));
  expect(run?.tokens.length).toBe(10);
  expect(run?.stalls).toEqual(fullRun().stalls);
  expect(await store.load(idOf(9))).toBeNull();
});

test('the oldest runs go first, pinned ones stay, and nothing of them is left', async () => {
  const table = memoryTable();
  const store = new RunStore(table, { runs: 3, size: 1e9 });
  await store.keep([runAt(1, { pin: 'a' })]);
  for (const n of [2, 3, 4, 5]) await store.keep([runAt(n)]);
  expect(await listed(store)).toEqual([5, 4, 1]);
  expect((await table.keys('run/')).sort()).toEqual([1, 4, 5].map((n) => `run/${idOf(n)}`));
});

test('the size of all runs is bounded, and one that is too large is not kept', async () => {
  const { length } = runAt(1).text;
  const store = new RunStore(memoryTable(), { runs: 100, size: 2.5 * length });
  for (const n of [1, 2, 3]) await store.keep([runAt(n)]);
  expect(await listed(store)).toEqual([3, 2]);
  await store.keep([{ ...runAt(4), text: 'x'.repeat(3 * length) }]);
  expect(await listed(store)).toEqual([3, 2]);
});

test('a name outlasts that the run is kept again, and comes with the run', async () => {
  const store = new RunStore(memoryTable());
  await store.keep([runAt(1)]);
  await store.edit(idOf(1), { name: 'Eager' });
  await store.keep([runAt(1)]);
  expect((await store.list())[0].name).toBe('Eager');
  expect((await store.load(idOf(1)))?.origin.name).toBe('Eager');
});

test('changes at the same time lose nothing', async () => {
  const store = new RunStore(memoryTable());
  await store.keep([runAt(1)]);
  await Promise.all([
    ...[2, 3].map((n) => store.keep([runAt(n)])),
    store.edit(idOf(1), { name: 'Eager' }),
    store.edit(idOf(3), { pin: 'a' }),
    store.keep([runAt(1)]),
  ]);
  expect((await store.list()).map(({ id, name, pin }) => [id, name, pin])).toEqual([
    [idOf(3), '', 'a'],
    [idOf(2), '', null],
    [idOf(1), 'Eager', null],
  ]);
});

test('a run that another tab wrote meanwhile stays, with the name that it got there', async () => {
  const table = memoryTable();
  const [here, there] = [new RunStore(slow(table)), new RunStore(table)];
  await there.keep([runAt(1)]);
  const kept = here.keep([runAt(2)]);
  await there.keep([runAt(3)]);
  await there.edit(idOf(1), { name: 'Eager' });
  await kept;
  expect((await here.list()).map(({ id, name }) => [id, name])).toEqual([
    [idOf(3), ''],
    [idOf(2), ''],
    [idOf(1), 'Eager'],
  ]);
});

test('a run without its line can be named', async () => {
  const table = memoryTable();
  const store = new RunStore(table);
  await store.keep([runAt(1)]);
  await table.putNow('index', []);
  await store.edit(idOf(1), { name: 'Eager' });
  expect((await store.list())[0]?.name).toBe('Eager');
});

test('deleted runs can be put back', async () => {
  const store = new RunStore(memoryTable());
  for (const n of [1, 2]) await store.keep([runAt(n)]);
  await store.edit(idOf(2), { name: 'Two' });
  const removed = await store.remove([idOf(2)]);
  expect(await listed(store)).toEqual([1]);
  await store.keep(removed);
  expect((await store.list())[0]).toMatchObject({ id: idOf(2), name: 'Two' });
});

test('a damaged index is made again, and a damaged run is no run', async () => {
  const table = memoryTable();
  const store = new RunStore(table);
  for (const n of [1, 2]) await store.keep([runAt(n)]);
  await table.putNow('index', [{ id: 5 }, 'x']);
  await table.putNow(`run/${idOf(3)}`, { no: 'text' });
  await table.putNow(`run/${idOf(4)}`, '{"format":"vivace-run","version":1}');
  expect(await listed(store)).toEqual([2, 1]);
  expect(await store.load(idOf(4))).toBeNull();
});

test('where storage fails, runs last as long as the page', async () => {
  const fails = () => Promise.reject(new DOMException('No.', 'QuotaExceededError'));
  const broken: KeyValueTable = { get: fails, update: fails, putNow: fails, putLast: fails, keys: fails };
  const store = new RunStore(broken);
  expect(store.isKept).toBe(true);
  await store.keep([runAt(1)]);
  expect(store.isKept).toBe(false);
  expect(await listed(store)).toEqual([1]);
});

test('a run that ends while storage fails at something else is not lost', async () => {
  const fails = async (): Promise<never> => {
    await new Promise(setImmediate);
    throw new DOMException('No.', 'UnknownError');
  };
  const broken: KeyValueTable = { get: fails, update: fails, putNow: fails, putLast: () => {}, keys: fails };
  const store = new RunStore(broken);
  const [, before] = await Promise.all([store.keep([runAt(1)]), store.list()]);
  expect(before.length).toBeLessThan(2);
  expect(await listed(store)).toEqual([1]);
});

test('the line of a run has no p99 of too few gaps', () => {
  const { summary } = runAt(1);
  expect(figureParts(summary)).toEqual(['p50 4.00 ms', '95.3 tok/s']);
  expect(figureParts({ ...summary, gaps: 100 })).toContain('p99 90.0 ms');
});

test('the line of a run says what ran, as far as it is known', () => {
  const { summary } = runAt(1);
  const texts = { step: (name: string) => `${name} step`, tokens: (n: number) => `${n} tokens` };
  expect(whatParts(summary, texts)).toEqual(['storyteller', 'fused_decode', 'fused step', '10 tokens']);
  expect(whatParts({ ...summary, step: '', attention: '' }, texts)).toEqual(['storyteller', '10 tokens']);
});
