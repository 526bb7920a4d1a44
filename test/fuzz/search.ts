// Searches for hostile files that break a loader, in rounds with fresh seeds: `npm run fuzz`. Each kind of fault found
// becomes a row of corpus.json.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readCorpus, writeCorpus } from './corpus_rows';
import { LIMITS, planTasks, reproduction } from './plan';
import type { Failure } from './protocol';
import { bundleWorker, inputOf, runTasks } from './supervise';

export interface Search {
  /** Seed of the first round. Later rounds count up. */
  seed: number;
  minutes: number;
  say(line: string): void;
}

/** The failures found. The last round ends after the time is over. */
export async function search({ seed, minutes, say }: Search): Promise<Failure[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'vivace-fuzz-'));
  const found: Failure[] = [];
  const kinds = new Set<string>();
  try {
    const program = await bundleWorker(folder);
    const end = performance.now() + 60_000 * minutes;
    let cases = 0;
    for (let round = 0; round === 0 || performance.now() < end; round++) {
      const { ran, failures } = await runTasks(program, planTasks(seed + 100 * round), LIMITS);
      cases += ran;
      for (const failure of failures) {
        say(reproduction(failure));
        found.push(failure);
        const kind = `${failure.loader} ${failure.why.split('\n')[0].replace(/\d+/g, 'N').slice(0, 60)}`;
        if (kinds.has(kind)) continue;
        kinds.add(kind);
        await keep(program, failure);
      }
      say(`seed ${seed + 100 * round}: ${cases} cases so far, ${found.length} findings`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return found;
}

async function keep(program: string, { loader, seed, why }: Failure): Promise<void> {
  const input = await inputOf(program, loader, seed, LIMITS);
  writeCorpus([...readCorpus(), { loader, found: why.split('\n')[0].slice(0, 200), input }]);
}
