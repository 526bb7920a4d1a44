// The code of the worker that comes with this build. A page fetches it once and keeps it: a worker that starts after a
// fault needs no network, and is of the same version, whatever the server has by then.
// A worker begins with what a first answer needs, and takes its other parts when it needs them: from files beside it,
// or from the page, which knows where a bundler has put them. Where a policy forbids the worker to import them, the
// page starts one that has all parts in it.

import { WorkerError } from '../../../errors';
import { fetchCode } from './fetch_code';
import { type WorkerTexts, workerFile, workerText, workerTexts } from './worker_source';

let fetched: Promise<Blob> | null = null;
/** True once workers are whole. */
let isWhole = false;

/** The code of a new worker: its core, or all of it. */
async function code(): Promise<Blob> {
  if (workerTexts) return script((await workerTexts.core()).default);
  if (!workerFile) return script(workerText);
  // A worker from a blob has no address.
  const place = `globalThis.vivaceParts=${JSON.stringify(new URL('.', workerFile.url).href)};`;
  return script(place, await fetchCode(workerFile));
}

/** The code of a worker that asks for no part. */
async function wholeCode(): Promise<Blob> {
  if (workerTexts) return script(await given(workerTexts), (await workerTexts.core()).default);
  return script(workerFile ? await fetchCode(workerFile.whole) : workerText);
}

const script = (...texts: BlobPart[]) => new Blob(texts, { type: 'text/javascript' });

/** All parts, for the loader in the core (worker_parts). */
async function given({ parts }: WorkerTexts): Promise<string> {
  const texts = Object.entries(parts).map(async ([name, part]) => `${JSON.stringify(name)}:${(await part()).default}`);
  return `globalThis.vivaceGiven={${await Promise.all(texts)}};`;
}

/**
 * The code as a file for `new Worker`.
 * @throws WorkerError if it could not be fetched; the next call tries again
 */
export async function ownWorker(): Promise<Blob> {
  fetched ??= code();
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
  if (isWhole || (!workerFile && !workerTexts)) return isWhole;
  try {
    fetched = Promise.resolve(await wholeCode());
    isWhole = true;
    return true;
  } catch {
    return false;
  }
}

/** The code of a part for a worker that asks for it by name. `null` evaluates to no part. */
export async function ownPart(name: string): Promise<string> {
  const part = workerTexts?.parts[name];
  return part ? (await part().catch(() => ({ default: 'null' }))).default : 'null';
}
