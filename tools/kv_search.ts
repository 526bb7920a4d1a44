// `npm run kv-search -- --histories N`: plays random histories of chats on one engine, and compares each answer with a
// fresh engine's. `npm test` plays a few of them. Exit code 1 where one differs.

import { newCounts, openHistories } from '../test/engine/chats/histories';
import { runTool } from './lib/terminal';

const FLAGS = {
  histories: { kind: 'count', value: 'N', help: 'how many histories (default 1000)' },
  steps: { kind: 'count', value: 'N', help: 'requests of each history (default 12)' },
  beside: { kind: 'count', value: 'N', help: 'most requests beside each other (default 4)' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first history (default 0)' },
} as const;

/** Histories between two lines of output. */
const ROUND = 50;

await runTool('npm run kv-search --', FLAGS, async ({ histories = 1000, steps = 12, beside = 4, seed = 0 }) => {
  const play = await openHistories();
  const counts = newCounts();
  for (let done = 0; done < histories; done++) {
    await play(seed + done, steps, counts, beside);
    const isLast = done + 1 === histories;
    if (!isLast && (done + 1) % ROUND > 0) continue;
    const { requests, promptTokens, cachedTokens, parked, stored, aborted, beside: shared, wrong } = counts;
    const share = Math.round((100 * cachedTokens) / promptTokens);
    console.log(
      `${done + 1} histories, ${requests} answers (${aborted} aborted, ${parked} of parked chats, ${stored} from storage, ${shared} beside others), ` +
        `${share} % of the prompts cached, ${wrong.length} wrong`,
    );
  }
  for (const wrong of counts.wrong) console.log(`  wrong: ${wrong}`);
  if (counts.wrong.length > 0) process.exitCode = 1;
});
