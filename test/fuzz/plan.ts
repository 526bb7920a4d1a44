// The number of cases per loader in a round, and the limits of each case.

import type { Failure, Limits, Outcomes, Task } from './protocol';
import { caseSeed } from './random';

export const LIMITS: Limits = { cpuMs: 1000, megabytes: 256 };

/**
 * Cases per loader, and the least percentage of them that must still load, which shows how deep the fuzzing reaches.
 */
export const PLAN: Readonly<Record<string, { cases: number; loading: number }>> = {
  gguf: { cases: 480, loading: 5 },
  safetensors: { cases: 480, loading: 5 },
  json: { cases: 300, loading: 5 },
  config: { cases: 300, loading: 5 },
  tokenizer: { cases: 180, loading: 5 },
  'gguf vocabulary': { cases: 80, loading: 5 },
  template: { cases: 100, loading: 5 },
  model: { cases: 80, loading: 5 },
  markdown: { cases: 400, loading: 100 },
  constraint: { cases: 200, loading: 5 },
  large: { cases: 8, loading: 0 },
};

/** The cases of a round, which follow from one seed. */
export function planTasks(seed: number): Task[] {
  return Object.entries(PLAN).map(([loader, { cases }], l) => ({
    loader,
    seeds: Array.from({ length: cases }, (_, i) => caseSeed(seed + l, i)),
  }));
}

export function reproduction({ loader, seed, why }: Failure): string {
  return `VIVACE_FUZZ_CASE='${loader}:${seed}' npx vitest run test/fuzz/fuzz.test.ts  # ${why}`;
}

/** A table of outcomes per loader. */
export function table(outcomes: readonly Outcomes[]): string {
  return outcomes
    .map(({ loader, counts, cpuMs, longestMs }) => {
      const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
      const shares = Object.entries(counts).sort((a, b) => b[1] - a[1]);
      const ended = shares.map(([how, n]) => `${how} ${((100 * n) / total).toFixed(1)} %`).join(', ');
      return `${loader}: ${ended} of ${total} in ${cpuMs.toFixed(0)} ms, the longest ${longestMs.toFixed(0)} ms`;
    })
    .join('\n');
}
