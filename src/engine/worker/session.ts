import type { ChatTemplate } from '../../text/template/chat_template';
import type { Tokenizer } from '../../text/tokenizer';
import type { Backend } from './backend';
import type { RunAhead } from './run_ahead';

/** What a conversation runs on. `cachedIds` are the ids whose keys and values the cache holds, from position 0. */
export interface Session {
  backend: Backend;
  tokenizer: Tokenizer;
  template: ChatTemplate | null;
  /** Rows of the embedding. */
  vocabSize: number;
  cachedIds: readonly number[];
  /** What the answers so far taught about this browser and this GPU. */
  runAhead?: RunAhead;
}
