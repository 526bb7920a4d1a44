// Runs inside the page that `bench` opens: one suite, one answer. ../terminal/run.mjs is the other end.

import { proxy, wrap } from 'comlink';
import { WorkerError } from '../../src/errors';
import { answerTerminal } from '../../tools/page/bridge';
import type { BenchProgress, BenchRequest, SuiteName } from '../report';
import { failureOf, type Outcome, runSuite } from './run_suite';
import type { BenchWorker } from './worker';
import SuiteWorker from './worker?worker&inline';

/** Suites that measure what the engine's worker would see. */
const IN_WORKER: readonly SuiteName[] = ['decode', 'prefill'];

answerTerminal<BenchRequest>((request, tell, signal) =>
  IN_WORKER.includes(request.suite) ? runInWorker(request, tell, signal) : runSuite(request, tell, signal),
);

async function runInWorker(
  request: BenchRequest,
  say: (progress: BenchProgress) => void,
  signal: AbortSignal,
): Promise<Outcome> {
  const thread = new SuiteWorker({ name: 'vivace-bench' });
  const worker = wrap<BenchWorker>(thread);
  signal.addEventListener('abort', () => void worker.stop());
  const death = new Promise<Outcome>((settle) => {
    thread.onerror = ({ message }) => settle(failureOf(new WorkerError(`The bench's worker failed: ${message}.`)));
  });
  try {
    return await Promise.race([worker.run(request, proxy(say)), death]); // a call to a dead worker never settles
  } finally {
    thread.terminate();
  }
}
