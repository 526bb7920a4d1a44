// The state that requests to one model share.

import type { ChatTemplate } from '../../text/template/chat_template';
import type { Tokenizer } from '../../text/tokenizer';
import type { Backend } from './backend';
import type { Pause } from './pause';
import type { RunAhead } from './run_ahead';

/** A loaded model. `cachedIds` are the ids whose keys and values the cache holds, from position 0. */
export interface Session {
  backend: Backend;
  tokenizer: Tokenizer;
  template: ChatTemplate | null;
  /** Rows of the embedding. */
  vocabSize: number;
  cachedIds: readonly number[];
  /** Absent where nothing pauses the requests. */
  pause?: Pause;
  /** The run-ahead of the last answer, with its estimates of this browser and GPU. */
  runAhead?: RunAhead;
  /** A failure or a step that gave up after the `done` of the last answer, for the next request to report. */
  failure?: { error: unknown };
  gaveUp?: string | null;
}
