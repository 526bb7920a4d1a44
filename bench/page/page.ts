// Runs inside the page that `bench` opens: one suite, one answer. ../terminal/run.mjs is the other end.

import { proxy, wrap } from 'comlink';
import { WorkerError } from '../../src/errors';
import { answerTerminal } from '../../tools/page/bridge';
import type { BenchProgress, BenchRequest, SuiteName } from '../report';
import type { AskNeighbor } from './bench';
import { keepBusy } from './neighbor';
import { failureOf, type Outcome, runSuite } from './run_suite';
import type { BenchWorker } from './worker';
import SuiteWorker from './worker?worker&inline';

/** Suites that measure what the engine's worker would see. */
const IN_WORKER: readonly SuiteName[] = ['decode', 'prefill', 'step', 'kv'];

/** The request of a page that keeps the GPU busy beside another. */
interface NeighborRequest {
  suite: 'neighbor';
}

const { vivaceNeighbor: askNeighbor } = globalThis as unknown as { vivaceNeighbor: AskNeighbor };

answerTerminal<BenchRequest | NeighborRequest>(async (request, tell, signal) => {
  if (request.suite === 'neighbor') return { neighbor: await keepBusy(tell, signal) };
  const whole = { ...request, model: new URL(request.model, location.href).href }; // a worker has no address
  return IN_WORKER.includes(request.suite)
    ? runInWorker(whole, tell, signal)
    : runSuite(whole, tell, signal, askNeighbor);
});

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
    const ran = worker.run(request, proxy(say), proxy(askNeighbor));
    return await Promise.race([ran, death]); // a call to a dead worker never settles
  } finally {
    thread.terminate();
  }
}
