// The code of the worker that comes with this build. A page that has it in a file fetches it once and keeps it: a
// worker that starts after a fault needs no network, and is of the same version, whatever the server has by then.
// Such a worker imports its other parts when it needs them, from files whose names have the hash of their content.
// Where that fails, as a page's policy may forbid it, the page starts one that has all parts in its file.

import { WorkerError } from '../../errors';
import { type WorkerFile, workerFile, workerText } from './worker_source';

let fetched: Promise<Blob> | null = null;
/** True once workers are whole. */
let isWhole = false;

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

/** Makes later workers whole, after one that missed a part, and returns whether they are. If not, that one goes on. */
export async function ownWholeWorker(): Promise<boolean> {
  if (!workerFile || isWhole) return isWhole;
  try {
    const whole = await fetchCode(workerFile.whole);
    fetched = Promise.resolve(whole);
    isWhole = true;
    return true;
  } catch {
    return false;
  }
}

/** The code behind a line that says where the other parts are: a worker from a blob has no address. */
async function fetchCode({ url, integrity }: WorkerFile): Promise<Blob> {
  const response = await fetch(url, { integrity }); // a file of another version is refused
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const place = `globalThis.vivaceParts=${JSON.stringify(new URL('.', url).href)};`;
  return new Blob([place, await response.arrayBuffer()], { type: 'text/javascript' });
}
