// The second attempt of a load whose files seem damaged: their bytes may have been damaged on the way.

import { VivaceError } from '../../errors';
import { ChangedFileError } from '../../storage/source/http';

/** Error codes of damaged files before the weights are read. Later only the first one blames the files. */
const OF_FILES: ReadonlySet<string> = new Set(['model-file', 'unsupported-model', 'tokenizer', 'chat-template']);
/** More than a header and a vocabulary. A load never fetches more twice just to learn that a model is not supported. */
const MAX_UNSUPPORTED_BYTES = 64 * 2 ** 20;

/** Progress of a load. */
export interface Attempt {
  /** Bytes of files that were read, from the network or the cache. */
  readBytes: number;
  /** Bytes that came from the network. */
  fetchedBytes: number;
  /** True once everything but the weights is parsed. */
  isParsed: boolean;
}

/** True if the load must discard the bytes that it kept. */
export function blamesFiles(error: unknown, { isParsed }: Attempt): boolean {
  if (!(error instanceof VivaceError)) return false;
  return isParsed ? error.code === 'model-file' : OF_FILES.has(error.code);
}

/** True if a second load may succeed. */
export function mayHeal(error: unknown, attempt: Attempt): boolean {
  if (error instanceof ChangedFileError) return true;
  if (!blamesFiles(error, attempt) || attempt.readBytes === 0) return false;
  return (error as VivaceError).code !== 'unsupported-model' || attempt.fetchedBytes <= MAX_UNSUPPORTED_BYTES;
}

/** The warning of a second load that succeeded after a first one failed with `error`. */
export function describeRepair(error: unknown): { code: string; message: string } {
  const what = error instanceof Error ? error.message.replace(/ [^.]* again\.$/, '') : String(error);
  return { code: 'fetched-again', message: `What had come of this model was damaged and was fetched again (${what})` };
}
