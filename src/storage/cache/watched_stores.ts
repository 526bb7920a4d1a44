// Stores whose every call settles in time. A failure is reported, and after a call without an answer all later calls to
// the same part of storage fail at once, so that a load waits once for storage that hangs.

import { LateError, withTimeout } from '../../shared/with_timeout';
import { openStores, type Stores } from './stores';

/** Longest wait for a piece of some megabytes. */
export const PIECE_MS = 10_000;
/** Longest wait for the names of all pieces, of which there may be thousands. */
const LIST_MS = 20_000;
/** Longest wait for the database, and for an answer about a lock. */
const RECORD_MS = 5000;

export function watched({ pieces, manifests }: Stores, onTrouble: (error: unknown) => void): Stores {
  const part = () => {
    let late: LateError | null = null;
    return async <T>(ask: () => Promise<T>, ms: number): Promise<T> => {
      if (late) throw late;
      try {
        return await withTimeout(ask, ms);
      } catch (error) {
        if (error instanceof LateError) late = error;
        onTrouble(error);
        throw error;
      }
    };
  };
  const files = part();
  const database = part();
  const locks = part();
  return {
    pieces: {
      read: (name) => files(() => pieces.read(name), PIECE_MS),
      write: (name, bytes) => files(() => pieces.write(name, bytes), PIECE_MS),
      remove: (name) => files(() => pieces.remove(name), PIECE_MS),
      list: () => files(() => pieces.list(), LIST_MS),
    },
    manifests: {
      get: (key) => database(() => manifests.get(key), RECORD_MS),
      update: (key, change) => database(() => manifests.update(key, change), RECORD_MS),
      entries: () => database(() => manifests.entries(), RECORD_MS),
      remove: (keys) => database(() => manifests.remove(keys), RECORD_MS),
      alone: async (work, waits) => manifests.alone(work, waits),
      turn: async (name, work, waits, signal) => manifests.turn(name, work, waits, signal),
      async join(name) {
        const joining = (async () => manifests.join(name))();
        try {
          return await locks(() => joining, RECORD_MS);
        } catch (error) {
          joining.then(({ leave }) => leave()).catch(() => {}); // too late
          throw error;
        }
      },
    },
  };
}

/**
 * The result of `work` on the browser's storage, or `nothing` where the browser keeps nothing.
 * @throws Error with a remedy if storage does not answer; as `work`
 */
export async function inStores<T>(work: (stores: Stores) => Promise<T>, nothing: T): Promise<T> {
  try {
    const stores = await openStores().catch((error) => {
      if (error instanceof LateError) throw error;
      return null;
    });
    return stores ? await work(watched(stores, () => {})) : nothing;
  } catch (error) {
    if (!(error instanceof LateError)) throw error;
    throw new Error(`${error.message} Another tab of this site may hold it: close that tab, and try again.`);
  }
}
