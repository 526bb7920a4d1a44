// SHA-256 of a file's pieces in another thread: both ends of the port. Hashing in script takes longer than a fast line takes to bring the bytes.

import { type Hasher, localHasher } from './whole_hash';

export type { Hasher };

/** Pieces under way to the other thread at a time. */
const MAX_UNHEARD = 3;
const DIGEST = 'digest';

/** A hasher at the other end of `port`, where `serveHasher` listens. Pieces are copied. */
export function portHasher(port: MessagePort): Hasher {
  const heard: ((answer: unknown) => void)[] = []; // answers come in the order of what was asked
  port.onmessage = ({ data }) => heard.shift()?.(data);
  const ask = (message: unknown, transfer: Transferable[]) =>
    new Promise<unknown>((resolve) => {
      heard.push(resolve);
      port.postMessage(message, transfer);
    });
  const unheard: Promise<unknown>[] = [];
  return {
    async update(bytes) {
      const copy = bytes.slice().buffer;
      unheard.push(ask(copy, [copy]));
      if (unheard.length > MAX_UNHEARD) await unheard.shift();
    },
    async digest() {
      const found = String(await ask(DIGEST, []));
      port.close();
      return found;
    },
  };
}

/** Answers each piece when it has been taken, and at last the digest. One file a port. */
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
