// A load that ends because of what its files hold is begun once more by itself: what was read of them may have been damaged on its way.

import { VivaceError } from '../../errors';
import { ChangedFileError } from '../../storage/source/http';

/** What damaged files end a load with before their weights are read; afterwards only the first says that they are. */
const OF_FILES: ReadonlySet<string> = new Set(['model-file', 'unsupported-model', 'tokenizer', 'chat-template']);
/** More than a header and a vocabulary take: as much is not fetched twice to learn that a model is not supported. */
const MAX_UNSUPPORTED_BYTES = 64 * 2 ** 20;

/** How far a load came. */
export interface Attempt {
  /** Bytes of files that it read, from the network or from what was kept. */
  readBytes: number;
  /** Those of the network. */
  fetchedBytes: number;
  /** Everything but the weights was understood. */
  isParsed: boolean;
}

/** Whether what a load read is to be dropped. */
export function blamesFiles(error: unknown, { isParsed }: Attempt): boolean {
  if (!(error instanceof VivaceError)) return false;
  return isParsed ? error.code === 'model-file' : OF_FILES.has(error.code);
}

/** Whether a second load may end better. */
export function mayHeal(error: unknown, attempt: Attempt): boolean {
  if (error instanceof ChangedFileError) return true;
  if (!blamesFiles(error, attempt) || attempt.readBytes === 0) return false;
  return (error as VivaceError).code !== 'unsupported-model' || attempt.fetchedBytes <= MAX_UNSUPPORTED_BYTES;
}

/** The warning of a second load that ended well, after a first that ended in `error`. */
export function describeRepair(error: unknown): { code: string; message: string } {
  const what = error instanceof Error ? error.message.replace(/ [^.]* again\.$/, '') : String(error);
  return { code: 'fetched-again', message: `What had come of this model was damaged and was fetched again (${what})` };
}
