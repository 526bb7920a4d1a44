// `npm run fuzz -- --minutes N`: looks for hostile files that break a loader, with fresh seeds. Prints each as the command that
// repeats it and adds it to test/fuzz/corpus.json, which `npm test` runs. Exit code 1 where something was found.

import path from 'node:path';
import { ROOT } from './lib/ensure.mjs';
import { UsageError } from './lib/flags.mjs';
import { toolMain } from './lib/tool_main.mjs';

/** @type {Record<string, import('./lib/flags.mjs').Flag>} */
const FLAGS = {
  minutes: { kind: 'number', value: 'N', help: 'how long to search (default 10); the round under way is ended' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first round (default: a new one)' },
};

await toolMain('npm run fuzz --', FLAGS, async ({ minutes = 10, seed = Math.floor(Math.random() * 2 ** 31) }) => {
  if (Number(minutes) < 0) throw new UsageError(`--minutes ${minutes}: not a time.`);
  const { runnerImport } = await import('vite');
  /** @type {{ module: typeof import('../test/fuzz/search.ts') }} */
  const { module } = await runnerImport(path.join(ROOT, 'test/fuzz/search.ts'), { configFile: false, root: ROOT });
  const found = await module.search({ seed: Number(seed), minutes: Number(minutes), say: console.log });
  process.exitCode = found.length > 0 ? 1 : 0;
});
