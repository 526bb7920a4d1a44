// One load of a model in one worker.

import { expose, proxy, type TransferHandler, transferHandlers } from 'comlink';
import { callError, fromFailure } from '../../failure';
import type {
  ArithmeticChoice,
  EngineInfo,
  LoadOptions,
  LoadProgress,
  LoadResult,
  ModelLocation,
  StartThread,
} from '../../protocol';
import type { Connection } from './connection';
import { askToKeep } from './model_cache';
import { Threads } from './threads';

/** The inputs of a load, kept so that the model can be loaded again. */
export interface LoadInput {
  location: ModelLocation;
  options: LoadOptions;
  workerUrl?: string;
  /** No threads beside the worker that loads. */
  isAlone?: boolean;
  /** The arithmetic of the model before it was lost. */
  before?: ArithmeticChoice;
}

/** A port marked by `proxy` goes to the worker as comlink's own proxies do, which nobody can close. */
transferHandlers.set('proxy', {
  ...(transferHandlers.get('proxy') as TransferHandler<object, MessagePort>),
  serialize: (port) => [port as MessagePort, [port as MessagePort]],
});

/** A function for the worker to call, until `signal` aborts. */
function callable<T extends (...given: never[]) => unknown>(callback: T, signal: AbortSignal): T {
  const { port1, port2 } = new MessageChannel();
  expose(callback, port1);
  signal.addEventListener('abort', () => port1.close());
  return proxy(port2) as unknown as T;
}

/**
 * Loads the model in the worker of `connection`. Closes the connection after an error. An abort ends the wait at
 * once, and the worker when it has put its storage in order.
 * @throws the error of the load; `connection.lost`; ThreadLost; the reason of `signal`; InvalidRequestError for what
 * cannot be sent to a worker, such as a URL
 */
export async function loadIn(
  connection: Connection,
  { location, options, workerUrl, isAlone, before }: LoadInput,
  onProgress: (progress: LoadProgress & { goOnAlone?(): void }) => unknown,
  signal: AbortSignal,
): Promise<EngineInfo> {
  if (signal.aborted) connection.close();
  signal.throwIfAborted();
  const { worker } = connection;
  const over = new AbortController();
  const threads = new Threads(connection.gone, workerUrl, signal);
  const goOnAlone = () => void worker.goOnAlone();
  const report = (progress: LoadProgress) => {
    connection.hear();
    if (!signal.aborted) return onProgress(progress.waitsMs === undefined ? progress : { ...progress, goOnAlone });
  };
  let cancel = () => {};
  const canceled = new Promise<never>((_, reject) => {
    cancel = () => reject(signal.reason);
    signal.addEventListener('abort', cancel);
  });
  const start: StartThread = async (port, task) => !isAlone && threads.start(port, task);
  const heard = (callback: (...given: never[]) => unknown) => callable(callback, over.signal) as never;
  const loading = worker.load(location, options, heard(report), heard(start), before) as Promise<LoadResult>;
  connection.isLoading = true;
  try {
    const result = await Promise.race([connection.alive(loading), threads.lost, canceled]);
    if ('type' in result) {
      throw result.details.isPartMissing ? await connection.explain(result) : fromFailure(result);
    }
    signal.throwIfAborted();
    if (result.isKept) void askToKeep();
    connection.form = result.form ?? null;
    return result.info;
  } catch (error) {
    if (signal.aborted) {
      void worker.cancelLoad();
      void connection.closeAfter(loading).finally(() => over.abort());
    } else connection.close();
    throw callError(error);
  } finally {
    if (!signal.aborted) over.abort();
    connection.isLoading = false;
    threads.endLoad();
    signal.removeEventListener('abort', cancel);
  }
}
