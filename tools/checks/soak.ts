// `npm run soak -- --minutes N`: random faults against random work in headless Chromium, compared with an undisturbed
// engine. Prints a command that repeats each finding. Exit code 1 where something was found.

import { UsageError } from '../lib/command_line/flags';
import { runTool } from '../lib/command_line/terminal';
import { newTally, Soak, summary } from './soak/run';
import { CHAIN, STORYTELLER } from './soak/site';

const FLAGS = {
  minutes: { kind: 'number', value: 'N', help: 'how long (default 10); the round under way is ended; 0: one round' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first round (default: a new one); later rounds count up' },
  losses: { kind: 'count', value: 'N', help: 'until N losses of the device have happened, and no other fault' },
  model: { kind: 'text', words: ['chain', 'storyteller'], help: 'default chain, a model of known texts' },
  verbose: { kind: 'switch', help: 'a line for each task' },
} as const;

const anySeed = () => Math.floor(Math.random() * 2 ** 31);
/** Rounds of one browser: a fresh one starts with an empty GPU process. */
const ROUNDS_A_BROWSER = 25;

await runTool('npm run soak --', FLAGS, async (flags) => {
  const { minutes = 10, seed = anySeed(), losses, verbose } = flags;
  if (minutes < 0) throw new UsageError(`--minutes ${minutes}: not a time.`);
  const menu = losses === undefined ? 'all' : 'losses';
  const model = flags.model === 'storyteller' ? STORYTELLER : CHAIN;
  const tally = newTally();
  const end = performance.now() + 60_000 * minutes;
  const lossesSoFar = () => tally.faults.get('gpu-destroy')?.happened ?? 0;
  const goesOn = () => (losses === undefined ? performance.now() < end : lossesSoFar() < losses);
  for (let round = 0; round === 0 || goesOn(); ) {
    const soak = await Soak.open({ seed, menu, model, say: verbose ? console.log : undefined });
    try {
      for (let i = 0; i < ROUNDS_A_BROWSER && (round === 0 || goesOn()); i++, round++) {
        const before = tally.findings.length;
        await soak.round(seed + round, tally);
        for (const finding of tally.findings.slice(before)) console.log(finding);
        console.log(`seed ${seed + round}: ${tally.tasks} tasks so far, ${tally.findings.length} findings`);
      }
    } finally {
      await soak.close();
    }
  }
  for (const line of summary(tally)) console.log(line);
  process.exitCode = tally.findings.length > 0 ? 1 : 0;
});
