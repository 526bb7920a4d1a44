// Hostile files: every case loads or throws a typed error, within a second of CPU time and 256 MB.
//   VIVACE_FUZZ_CASES=300000 npx vitest run test/fuzz/fuzz.test.ts        more of them
//   VIVACE_FUZZ_SEED=7 npx vitest run test/fuzz/fuzz.test.ts              the same ones again
//   VIVACE_FUZZ_CASE=gguf:123 npx vitest run test/fuzz/fuzz.test.ts       one of them, as a failure prints it

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Failure, Outcomes, Task } from './protocol';
import { caseSeed } from './random';
import { bundleWorker, runTasks } from './supervise';

const { VIVACE_FUZZ_SEED, VIVACE_FUZZ_CASES, VIVACE_FUZZ_CASE } = process.env;
const SEED = Number(VIVACE_FUZZ_SEED ?? Date.now() % 2 ** 31);
const LIMITS = { cpuMs: 1000, megabytes: 256 };

/** Cases of each loader, and the least share of them, in percent, that must still load: so deep does the fuzzing reach. */
const PLAN: Readonly<Record<string, { cases: number; loading: number }>> = {
  gguf: { cases: 5500, loading: 5 },
  safetensors: { cases: 5500, loading: 5 },
  json: { cases: 3500, loading: 5 },
  config: { cases: 3500, loading: 5 },
  tokenizer: { cases: 900, loading: 5 },
  'gguf vocabulary': { cases: 500, loading: 5 },
  template: { cases: 600, loading: 5 },
  model: { cases: 600, loading: 5 },
  large: { cases: 24, loading: 0 },
};
const PLANNED = Object.values(PLAN).reduce((sum, { cases }) => sum + cases, 0);
const SCALE = Number(VIVACE_FUZZ_CASES ?? PLANNED) / PLANNED;

const folder = mkdtempSync(path.join(tmpdir(), 'vivace-fuzz-'));
let program = '';
beforeAll(async () => {
  program = await bundleWorker(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

function reproduction({ loader, seed, why }: Failure): string {
  return `VIVACE_FUZZ_CASE='${loader}:${seed}' npx vitest run test/fuzz/fuzz.test.ts  # ${why}`;
}

/** How many cases of each loader ended how. */
function table(outcomes: readonly Outcomes[]): string {
  return outcomes
    .map(({ loader, counts, cpuMs, longestMs }) => {
      const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
      const shares = Object.entries(counts).sort((a, b) => b[1] - a[1]);
      const ended = shares.map(([how, n]) => `${how} ${((100 * n) / total).toFixed(1)} %`).join(', ');
      return `${loader}: ${ended} of ${total} in ${cpuMs.toFixed(0)} ms, the longest ${longestMs.toFixed(0)} ms`;
    })
    .join('\n');
}

test.skipIf(VIVACE_FUZZ_CASE)(
  `${Math.round(PLANNED * SCALE)} hostile files load or end in a typed error`,
  async () => {
    console.log(`VIVACE_FUZZ_SEED=${SEED}`);
    const tasks = Object.entries(PLAN).map(([loader, { cases }], l): Task => {
      const seeds = Array.from({ length: Math.round(cases * SCALE) }, (_, i) => caseSeed(SEED + l, i));
      return { loader, seeds };
    });
    const { ran, failures, outcomes } = await runTasks(program, tasks, LIMITS);
    console.log(table(outcomes));
    expect(failures.map(reproduction)).toEqual([]);
    expect(ran).toBe(tasks.reduce((sum, { seeds }) => sum + seeds.length, 0));
    for (const { loader, counts } of outcomes) {
      const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
      expect((counts.loaded ?? 0) / total, loader).toBeGreaterThanOrEqual((PLAN[loader]?.loading ?? 0) / 100);
    }
  },
  300_000 * Math.max(1, SCALE),
);

test('there are 20,000 at least', () => {
  expect(PLANNED).toBeGreaterThanOrEqual(20_000);
});

test.runIf(VIVACE_FUZZ_CASE)(`the case ${VIVACE_FUZZ_CASE}`, async () => {
  const [loader, seed] = (VIVACE_FUZZ_CASE ?? '').split(':');
  const { failures, outcomes } = await runTasks(program, [{ loader, seeds: [Number(seed)] }], LIMITS);
  console.log(table(outcomes));
  expect(failures).toEqual([]);
});

describe('the harness finds', () => {
  const limits = { cpuMs: 200, megabytes: 64 };
  test.each([
    ['is slow', /took \d+ ms of CPU time/],
    ['hangs', /did not end/],
    ['never settles', /never settled/],
    ['throws untyped', /untyped error: TypeError/],
    ['says too much', /message of 20\d\d characters/],
    ['leaves a rejection', /rejection unhandled/],
    ['fills the heap', /heap out of memory/],
    ['allocates a lot', /allocated 2048 MB/],
  ])('a loader that %s', async (loader, why) => {
    const { ran, failures, outcomes } = await runTasks(
      program,
      [
        { loader: 'good', seeds: [1, 2] },
        { loader, seeds: [3] },
        { loader: 'good', seeds: [4] },
      ],
      limits,
    );
    expect(ran).toBe(4);
    expect(failures).toEqual([{ loader, seed: 3, why: expect.stringMatching(why) }]);
    expect(outcomes.filter((one) => one.loader === 'good')).toHaveLength(2);
  });
});
