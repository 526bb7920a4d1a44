// Runs fuzz cases in child processes, and ends those that hang or exhaust their memory.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { allAtOnce } from '../../tools/lib/bundle/worker_plugin';
import type { Failure, Limits, Outcomes, Task, WorkerInput, WorkerMessage } from './protocol';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TICK_MS = 50;
/** Multiple of a case's CPU limit after which the case counts as hanging. The worker itself reports slower ends. */
const HANGS = 3;
/** Time without CPU use after which a case counts as waiting forever. */
const STALLS_MS = 120_000;
/** Exit code of Node when the last await never settles. */
const UNSETTLED = 13;

/** Bundles the worker and its imports into `folder`, since Node runs no TypeScript. Returns the module's path. */
export async function bundleWorker(folder: string): Promise<string> {
  const result = await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [allAtOnce()],
    build: { write: false, ssr: path.join(ROOT, 'test/fuzz/worker.ts'), target: 'node20', minify: false },
    ssr: { noExternal: true, target: 'node' },
  });
  const [{ output }] = [result].flat() as Rolldown.RolldownOutput[];
  if (output.length !== 1) throw new Error(`The worker became ${output.length} files; one was expected.`);
  const program = path.join(folder, 'worker.mjs');
  writeFileSync(program, output[0].code);
  return program;
}

/** The input of a case, in the form of a corpus row. */
export async function inputOf(program: string, loader: string, seed: number, limits: Limits): Promise<unknown> {
  const { round } = await runProcess(program, [{ loader, seeds: [seed] }], limits, true);
  if (round.inputs.length !== 1) throw new Error(`The case ${loader}:${seed} could not be made again.`);
  return round.inputs[0];
}

interface Round {
  /** Cases begun. */
  ran: number;
  failures: Failure[];
  /** Cases over a limit that they may keep when run alone. */
  doubts: Failure[];
  outcomes: Outcomes[];
  inputs: unknown[];
}

/**
 * Runs the tasks in a process, one case after another. A case that takes too long or ends the process is repeated alone
 * before it counts.
 */
export async function runTasks(
  program: string,
  tasks: Task[],
  limits: Limits,
): Promise<Omit<Round, 'doubts' | 'inputs'>> {
  const { ran, failures, doubts, outcomes } = await runRounds(program, tasks, limits);
  for (const { loader, seed } of doubts) {
    const rows = tasks.find((task) => task.loader === loader && task.seeds.includes(seed))?.rows;
    const again = await runRounds(program, [{ loader, seeds: [seed], rows }], limits);
    failures.push(...again.failures, ...again.doubts);
  }
  return { ran, failures, outcomes };
}

/** Starts a new process after each ended one, with the case after the one that ended it. */
async function runRounds(program: string, tasks: Task[], limits: Limits): Promise<Round> {
  const all: Round = { ran: 0, failures: [], doubts: [], outcomes: [], inputs: [] };
  for (let left = tasks; left.length > 0; ) {
    const { round, ended } = await runProcess(program, left, limits);
    all.ran += round.ran;
    all.failures.push(...round.failures);
    all.doubts.push(...round.doubts);
    all.outcomes.push(...round.outcomes);
    if (ended === null) break;
    const [loader, seed] = caseAt(left, round.ran - 1);
    all.doubts.push({ loader, seed, why: ended });
    left = tasksAfter(left, round.ran);
  }
  return all;
}

/** Runs one process to its end or to the first hanging case. */
function runProcess(
  program: string,
  tasks: Task[],
  limits: Limits,
  writeInputs = false,
): Promise<{ round: Round; ended: string | null }> {
  const folder = mkdtempSync(path.join(path.dirname(program), 'run-'));
  const progress = path.join(folder, 'progress');
  const input = path.join(folder, 'input.json');
  writeFileSync(progress, new Uint8Array(4));
  writeFileSync(input, JSON.stringify({ root: ROOT, limits, tasks, progress, writeInputs } satisfies WorkerInput));
  const begun = () => readFileSync(progress).readInt32LE(0);
  const child = fork(program, [input], { execArgv: [`--max-old-space-size=${limits.megabytes}`], silent: true });
  const round: Round = { ran: 0, failures: [], doubts: [], outcomes: [], inputs: [] };
  child.on('message', (message: WorkerMessage) => {
    if (message.type === 'outcomes') round.outcomes.push(message.outcomes);
    else if (message.type === 'input') round.inputs.push(message.input);
    else (message.mayRepeat ? round.doubts : round.failures).push(message.failure);
  });
  let said = '';
  child.stderr?.on('data', (text) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    let ended: string | null = null;
    const watch = watchdog(child, begun, limits, (why) => {
      ended = why;
      child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      clearInterval(watch);
      round.ran = begun();
      if (exitCode === UNSETTLED) ended ??= 'never settled';
      else if (exitCode !== 0)
        ended ??= `ended the process with ${signal ?? exitCode}: ${/FATAL.*/.exec(said)?.[0] ?? said}`;
      if (round.ran === 0) reject(new Error(`The worker did not begin: ${said}`));
      else resolve({ round, ended });
    });
  });
}

/** Calls `end` once, when the count of cases stands still for longer than a case may take. */
function watchdog(
  child: ChildProcess,
  begun: () => number,
  limits: Limits,
  end: (why: string) => void,
): NodeJS.Timeout {
  let last = { begun: 0, cpu: 0, wall: 0 };
  let done = false;
  return setInterval(() => {
    const wall = performance.now();
    const now = { begun: begun(), cpu: cpuMsOf(child) ?? wall, wall };
    if (now.begun !== last.begun) last = now;
    if (done || now.begun === 0) return;
    const cpuMs = now.cpu - last.cpu;
    const wallMs = now.wall - last.wall;
    done = cpuMs > HANGS * limits.cpuMs || wallMs > STALLS_MS;
    if (done) end(`did not end within ${cpuMs.toFixed(0)} ms of CPU time, ${wallMs.toFixed(0)} ms in all`);
  }, TICK_MS);
}

/** CPU time of a process on systems that report it (Linux, in ticks of 10 ms). */
function cpuMsOf({ pid }: ChildProcess): number | null {
  try {
    // The fields after the name in brackets, which may hold spaces: state is field 3, utime 14, stime 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return null;
  }
}

function caseAt(tasks: Task[], index: number): [loader: string, seed: number] {
  let at = index;
  for (const { loader, seeds } of tasks) {
    if (at < seeds.length) return [loader, seeds[at]];
    at -= seeds.length;
  }
  throw new Error(`There is no case ${index}.`);
}

function tasksAfter(tasks: Task[], begun: number): Task[] {
  let skip = begun;
  return tasks.flatMap((task) => {
    const left = task.seeds.slice(skip);
    skip = Math.max(0, skip - task.seeds.length);
    return left.length > 0 ? [{ ...task, seeds: left }] : [];
  });
}
