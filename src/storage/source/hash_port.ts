// SHA-256 of a file's pieces in another thread: both ends of a MessagePort. Hashing in script is slower than a fast
// line.

import { WorkerError } from '../../errors';
import { withTimeout } from '../../shared/with_timeout';
import { type Hasher, localHasher } from './whole_hash';

export type { Hasher };

/** Pieces in transit to the other thread at a time. */
const MAX_PENDING = 3;
const DIGEST = 'digest';
/** A thread that answers nothing for so long has ended or hangs: a piece takes a tenth of a second. */
const ANSWER_MS = 60_000;

/**
 * A hasher behind `port`, where `serveHasher` listens. Pieces are copied. Its promises reject with a WorkerError once
 * the thread answers no more.
 */
export function portHasher(port: MessagePort): Hasher {
  const resolvers: ((answer: unknown) => void)[] = []; // answers arrive in the order of requests
  port.onmessage = ({ data }) => resolvers.shift()?.(data);
  const ask = (message: unknown, transfer: Transferable[]) => {
    const answer = new Promise<unknown>((resolve) => {
      resolvers.push(resolve);
      port.postMessage(message, transfer);
    });
    const asked = withTimeout(() => answer, ANSWER_MS).catch(() => {
      throw new WorkerError('The thread that hashes the file answers no more. Load the model again.');
    });
    asked.catch(() => {}); // who waits for room hears of it
    return asked;
  };
  const pending: Promise<unknown>[] = [];
  return {
    async update(bytes) {
      const copy = bytes.slice().buffer;
      pending.push(ask(copy, [copy]));
      if (pending.length > MAX_PENDING) await pending.shift();
    },
    async digest() {
      const found = String(await ask(DIGEST, []));
      port.close();
      return found;
    },
  };
}

/** Hashes the pieces of one file: answers each piece when hashed, and finally with the digest. */
export function serveHasher(port: MessagePort): void {
  const hasher = localHasher();
  port.onmessage = async ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) {
      await hasher.update(new Uint8Array(data));
      port.postMessage(null);
    } else {
      port.postMessage(await hasher.digest());
    }
  };
}
