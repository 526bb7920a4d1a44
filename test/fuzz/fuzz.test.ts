// Hostile files: every case loads or throws a typed error, within a second of CPU time and 256 MB. The cases follow
// from one seed. `npm run fuzz` searches with other seeds, and every fault it ever found is a row of corpus.json.
//   VIVACE_FUZZ_CASE=gguf:123 npx vitest run test/fuzz/fuzz.test.ts       one case, as a failure prints it
//   VIVACE_FUZZ_CASE=corpus:3 npx vitest run test/fuzz/fuzz.test.ts       one row of the corpus

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CorpusRow, readCorpus, readInput, writeInput } from './corpus_rows';
import { LIMITS, PLAN, planTasks, reproduction, table } from './plan';
import type { Task } from './protocol';
import { bundleWorker, runTasks } from './supervise';

const { VIVACE_FUZZ_CASE } = process.env;
const SEED = 1;

const folder = mkdtempSync(path.join(tmpdir(), 'vivace-fuzz-'));
let program = '';
beforeAll(async () => {
  program = await bundleWorker(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const rowTask = ({ loader, input }: CorpusRow, row: number): Task => ({ loader, seeds: [row], rows: { [row]: input } });

test.skipIf(VIVACE_FUZZ_CASE)('hostile files load or end in a typed error', async () => {
  const tasks = planTasks(SEED);
  const { ran, failures, outcomes } = await runTasks(program, tasks, LIMITS);
  console.log(table(outcomes));
  expect(failures.map(reproduction)).toEqual([]);
  expect(ran).toBe(tasks.reduce((sum, { seeds }) => sum + seeds.length, 0));
  for (const { loader, counts } of outcomes) {
    const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
    expect((counts.loaded ?? 0) / total, loader).toBeGreaterThanOrEqual((PLAN[loader]?.loading ?? 0) / 100);
  }
});

test.skipIf(VIVACE_FUZZ_CASE)('so does every file that once broke a loader', async () => {
  const rows = readCorpus();
  const { ran, failures } = await runTasks(program, rows.map(rowTask), LIMITS);
  expect(failures.map(({ seed, why }) => `corpus:${seed}, found for "${rows[seed].found}": ${why}`)).toEqual([]);
  expect(ran).toBe(rows.length);
});

test.runIf(VIVACE_FUZZ_CASE)(`the case ${VIVACE_FUZZ_CASE}`, async () => {
  const [loader, seed] = (VIVACE_FUZZ_CASE ?? '').split(':');
  const task =
    loader === 'corpus' ? rowTask(readCorpus()[Number(seed)], Number(seed)) : { loader, seeds: [Number(seed)] };
  const { failures, outcomes } = await runTasks(program, [task], LIMITS);
  console.log(table(outcomes));
  expect(failures).toEqual([]);
});

test('a row of the corpus returns the written input', () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
  );
  const lists = fc.oneof(fc.int32Array(), fc.float32Array());
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.tuple(fc.string(), fc.nat(300))).map((runs) => runs.map(([piece, n]) => piece.repeat(n)).join('')),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof(text, bytes, lists, fc.double(), fc.bigInt(), fc.boolean(), fc.constantFrom(null, undefined)),
      fc.array(tie('value')),
      fc.array(fc.tuple(fc.string(), tie('value'))).map((entries) => new Map(entries)),
      fc.array(fc.tuple(fc.string(), tie('value'))).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  fc.assert(
    fc.property(value, (input) => {
      expect(readInput(JSON.parse(JSON.stringify(writeInput(input))))).toEqual(input);
    }),
  );
});

/** Loaders with one fault each, and the harness's expected message. */
const FAULTS: readonly [loader: string, why: RegExp][] = [
  ['is slow', /took \d+ ms of CPU time/],
  ['throws untyped', /untyped error: TypeError/],
  ['says too much', /message of 20\d\d characters/],
  ['leaves a rejection', /rejection unhandled/],
  ['allocates a lot', /allocated 2048 MB/],
  ['fills the heap', /heap out of memory/],
  ['hangs', /did not end/],
  ['never settles', /never settled/],
];

test('the harness finds each kind of fault and continues after it', async () => {
  const faults = FAULTS.map(([loader], i): Task => ({ loader, seeds: [10 + i] }));
  const tasks = [{ loader: 'good', seeds: [1, 2] }, ...faults, { loader: 'good', seeds: [3] }];
  const { ran, failures, outcomes } = await runTasks(program, tasks, { cpuMs: 1000, megabytes: 64 });
  expect(ran).toBe(3 + FAULTS.length);
  expect(failures.toSorted((a, b) => a.seed - b.seed)).toEqual(
    FAULTS.map(([loader, why], i) => ({ loader, seed: 10 + i, why: expect.stringMatching(why) })),
  );
  expect(outcomes.filter((one) => one.loader === 'good')).toHaveLength(2);
});
