// `npm run fuzz -- --minutes N`: looks for hostile files and answers that break a loader, with fresh seeds. Prints each
// as the command that repeats it and adds it to test/fuzz/corpus.json, which `npm test` runs. Exit code 1 where
// something was found.

import { search } from '../../test/fuzz/search';
import { UsageError } from '../lib/command_line/flags';
import { runTool } from '../lib/command_line/terminal';

const FLAGS = {
  minutes: { kind: 'number', value: 'N', help: 'how long to search (default 10); the round under way is ended' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first round (default: a new one)' },
} as const;

const anySeed = () => Math.floor(Math.random() * 2 ** 31);

await runTool('npm run fuzz --', FLAGS, async ({ minutes = 10, seed = anySeed() }) => {
  if (minutes < 0) throw new UsageError(`--minutes ${minutes}: not a time.`);
  const found = await search({ seed, minutes, say: console.log });
  process.exitCode = found.length > 0 ? 1 : 0;
});
