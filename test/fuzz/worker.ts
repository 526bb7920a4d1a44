// Runs and judges cases in a process of its own, since an exhausted heap ends the process.

import { openSync, writeSync } from 'node:fs';
import { VivaceError } from '../../src/errors';
import { cpuMs } from '../cpu_time';
import { allocatedBytes } from './allocations';
import { BAD_LOADERS } from './bad_loaders';
import { readInput, writeInput } from './corpus_rows';
import { type Case, LOADERS } from './loaders';
import type { Task, WorkerMessage } from './protocol';
import { Random } from './random';
import { input } from './worker_input';

const MAX_MESSAGE = 1000;
const { limits, tasks } = input;
const begun = new Int32Array(1);
const progress = openSync(input.progress, 'r+');
let current = { loader: '', seed: 0 };

const post = (message: WorkerMessage) => process.send?.(message);
const fail = (why: string, mayRepeat = false) => post({ type: 'failure', failure: { ...current, why }, mayRepeat });

process.on('disconnect', () => process.exit()); // the parent has ended
process.channel?.unref(); // the listener would keep the process waiting
process.on('unhandledRejection', (reason) => fail(`left a rejection unhandled: ${describe(reason)}`));
process.on('uncaughtException', (error) => fail(`threw outside of its call: ${describe(error)}`));

for (const task of tasks) await runTask(task);

async function runTask({ loader: name, seeds, rows }: Task): Promise<void> {
  const loader = [...LOADERS, ...BAD_LOADERS].find((one) => one.name === name);
  if (!loader) throw new Error(`There is no loader "${name}".`);
  const counts: Record<string, number> = {};
  const start = cpuMs();
  let longestMs = 0;
  for (const seed of seeds) {
    current = { loader: name, seed };
    begun[0]++;
    writeSync(progress, begun, 0, 4, 0);
    const made = rows ? readInput(rows[seed] as never) : loader.makeInput(new Random(seed));
    if (input.writeInputs) {
      post({ type: 'input', input: writeInput(made) });
      continue;
    }
    const { outcome, ms } = await runCase(loader.prepare(made));
    longestMs = Math.max(longestMs, ms);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    await new Promise(setImmediate); // rejections left behind count for this case
  }
  post({ type: 'outcomes', outcomes: { loader: name, counts, cpuMs: cpuMs() - start, longestMs } });
}

async function runCase(run: Case): Promise<{ outcome: string; ms: number }> {
  const startBytes = allocatedBytes();
  const start = cpuMs();
  let outcome = 'loaded';
  try {
    await run();
  } catch (error) {
    outcome = judge(error);
  }
  const ms = cpuMs() - start;
  const megabytes = (allocatedBytes() - startBytes) / 2 ** 20;
  if (ms > limits.cpuMs) fail(`took ${ms.toFixed(0)} ms of CPU time (${outcome})`, true);
  if (megabytes > limits.megabytes) fail(`allocated ${megabytes.toFixed(0)} MB of array buffers (${outcome})`);
  return { outcome, ms };
}

function judge(error: unknown): string {
  if (!(error instanceof VivaceError)) {
    fail(`threw an untyped error: ${describe(error)}`);
    return 'untyped';
  }
  if (error.message.length > MAX_MESSAGE) {
    fail(`threw a message of ${error.message.length} characters: ${JSON.stringify(error.message.slice(0, 80))}`);
  }
  return error.code;
}

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return text.slice(0, 600);
}
