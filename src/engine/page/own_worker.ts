// The code of the worker that comes with this build. A page that has it in a file fetches it once and keeps it: a
// worker that starts after a fault needs no network, and is of the same version, whatever the server has by then.

import { WorkerError } from '../../errors';
import { workerFile, workerText } from './worker_source';

let fetched: Promise<Blob> | null = null;

/**
 * The code as a file for `new Worker`.
 * @throws WorkerError if it could not be fetched; the next call tries again
 */
export async function ownWorker(): Promise<Blob> {
  if (!workerFile) return new Blob([workerText], { type: 'text/javascript' });
  fetched ??= fetchCode(workerFile);
  try {
    return await fetched;
  } catch {
    fetched = null;
    throw new WorkerError("The engine's worker could not be fetched. Check the connection, then reload the page.", {
      canRetry: true,
    });
  }
}

async function fetchCode({ url, integrity }: { url: string; integrity: string }): Promise<Blob> {
  const response = await fetch(url, { integrity }); // a file of another version is refused
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return new Blob([await response.arrayBuffer()], { type: 'text/javascript' });
}
