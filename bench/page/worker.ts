// The bench's worker, for suites whose figures are those of the engine's worker: a thread of its own, with nothing else
// to do.

import { expose } from 'comlink';
import type { BenchProgress, BenchRequest } from '../report';
import type { AskNeighbor } from './bench';
import { type Outcome, runSuite } from './run_suite';

const stop = new AbortController();

const api = {
  run: (request: BenchRequest, say: (progress: BenchProgress) => void, neighbor: AskNeighbor): Promise<Outcome> =>
    runSuite(request, say, stop.signal, neighbor),
  stop: (): void => stop.abort(),
};

export type BenchWorker = typeof api;

expose(api);
