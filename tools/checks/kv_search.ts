// `npm run kv-search -- --histories N`: plays random histories of chats on one engine, and compares each answer with a
// fresh engine's. `npm test` plays a few of them. Exit code 1 where one differs. `--gpu` plays them on the GPU, where
// requests beside each other step in a batch.

import { spawnSync } from 'node:child_process';
import type { KvType } from '../../src/attention/kv_layout';
import { faultsOf, historiesOf, newCounts } from '../../test/engine/chats/histories';
import { batchHistories, cpuHistories } from '../../test/engine/chats/history_engines';
import { UsageError } from '../lib/command_line/flags';
import { runTool } from '../lib/command_line/terminal';
import { softwareVulkan } from '../lib/ensure.mjs';

const FLAGS = {
  histories: { kind: 'count', value: 'N', help: 'how many histories (default 1000)' },
  steps: { kind: 'count', value: 'N', help: 'requests of each history (default 12)' },
  beside: { kind: 'count', value: 'N', help: 'most requests beside each other (default 4)' },
  seed: { kind: 'whole', value: 'N', help: 'seed of the first history (default 0)' },
  gpu: { kind: 'switch', help: 'on the GPU, in batches' },
  kv: { kind: 'text', words: ['f32', 'f16', 'q8'], help: 'keys and values on the GPU (default f32)' },
} as const;

/** Histories between two lines of output. */
const ROUND = 50;
/** The same on the GPU, which takes seconds for one. */
const GPU_ROUND = 5;

await runTool('npm run kv-search --', FLAGS, async ({ histories = 1000, steps = 12, beside = 4, seed = 0, ...on }) => {
  const { gpu, kv } = on;
  if (kv && !gpu) throw new UsageError('--kv needs --gpu: the CPU keeps f32.');
  const { argv, env } = process;
  const vulkan = gpu ? softwareVulkan() : {};
  if (Object.keys(vulkan).length > 0) {
    // The loader of shared libraries reads its variables when a process starts.
    const again = ['tools/run.mjs', 'tools/checks/kv_search.ts', ...argv.slice(2)];
    const { status } = spawnSync(argv[0], again, { env: { ...env, ...vulkan }, stdio: 'inherit' });
    process.exitCode = status ?? 1;
    return;
  }
  const play = historiesOf(gpu ? await onGpu(kv) : await cpuHistories());
  const counts = newCounts();
  for (let done = 0; done < histories; done++) {
    await play(seed + done, steps, counts, beside);
    const isLast = done + 1 === histories;
    if (!isLast && (done + 1) % (gpu ? GPU_ROUND : ROUND) > 0) continue;
    const { requests, promptTokens, cachedTokens, parked, stored, aborted, beside: shared, together } = counts;
    const share = Math.round((100 * cachedTokens) / promptTokens);
    console.log(
      `${done + 1} histories, ${requests} answers (${aborted} aborted, ${parked} of parked chats, ${stored} from storage, ${shared} beside others), ${together} steps of several, ` +
        `${share} % of the prompts cached, ${faultsOf(counts).length} wrong`,
    );
  }
  if (counts.moved > 0)
    console.log(
      `  a key or value that was rounded otherwise moved ${counts.moved} of ${counts.logged} answers with log probabilities`,
    );
  const faults = faultsOf(counts);
  for (const fault of faults) console.log(`  wrong: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
});

async function onGpu(kv?: KvType) {
  const { testGpu } = await import('../../test/gpu/test_device');
  return batchHistories(await testGpu(), kv);
}
