// Fetches code of the worker for the script tag. The build puts this in place of engine/page/worker_code/fetch_code.ts:
// where the page's policy or the server of the tag forbids to read the file, a script hands over the worker with all
// parts.

import { loadPart } from './load_part';
import { hasNonce } from './own_script';

interface Code {
  url: string;
  integrity: string;
  script: string | null;
}

/** @throws Error where neither a file nor a script can be had */
export function fetchCode({ url, integrity, script }: Code): Promise<BlobPart> {
  const run = () => loadPart<string>(script ?? '');
  const read = async () => {
    const response = await fetch(url, { integrity });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return response.arrayBuffer();
  };
  // A page with nonces allows the scripts that it adds. Its worker may import none.
  return hasNonce() ? run().catch(read) : read().catch(run);
}
