// Fetches code of the worker from a file. The script tag may have another way, in embed/fetch/fetch_code.ts.

import type { WorkerFile } from './worker_source';

/** @throws Error where there is none, or where it is of another version */
export async function fetchCode({ url, integrity }: WorkerFile): Promise<BlobPart> {
  const response = await fetch(url, { integrity });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.arrayBuffer();
}
