// Reads of a response's body, each within a time.

import type { Clock } from '../clock';
import { RemoteError } from '../remote_error';
import { malformed } from './bounded_json';

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * The next bytes, or null at the end and after an abort.
 * @throws RemoteError for a silence or a broken connection
 */
export async function readWithin(
  reader: Reader,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  if (signal?.aborted) return null;
  let takeBack = () => {};
  let onAbort = () => {};
  const end = new Promise<null>((resolve, reject) => {
    takeBack = clock.after(ms, () => reject(silent(ms)));
    onAbort = () => resolve(null);
    signal?.addEventListener('abort', onAbort);
  });
  const read = async () => (await reader.read()).value ?? null;
  try {
    return await Promise.race([read(), end]);
  } catch (error) {
    if (error instanceof RemoteError) throw error;
    if (signal?.aborted) return null;
    throw new RemoteError('server-cut', 'The connection to the server broke in the middle of its answer. Try again.');
  } finally {
    takeBack();
    signal?.removeEventListener('abort', onAbort);
  }
}

export function silent(ms: number): RemoteError {
  const seconds = Math.round(ms / 1000);
  return new RemoteError(
    'server-silent',
    `The server sent nothing for ${seconds} seconds. It may be overloaded or gone; try again.`,
    { seconds },
  );
}

/**
 * A whole body as text. `isWhole` says what becomes of one that is longer: an error, or its beginning.
 * @throws RemoteError
 */
export async function readText(
  response: Response,
  { most, isWhole, ms }: { most: number; isWhole: boolean; ms: number },
  clock: Clock,
  signal?: AbortSignal,
): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for (;;) {
      const value = await readWithin(reader, ms, clock, signal);
      if (!value) return text + decoder.decode();
      bytes += value.length;
      if (bytes > most && isWhole) throw malformed(`sent more than ${most} bytes`);
      text += decoder.decode(value, { stream: true });
      if (bytes > most) return text.slice(0, most);
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
