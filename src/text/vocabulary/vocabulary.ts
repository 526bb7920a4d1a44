// A vocabulary as its files give it. Types only.

import type { TokenTraits } from '../authors';
import type { AddedToken } from '../encode/added_tokens';
import type { BpeModel, UnigramModel, WordPieceModel } from '../encode/word_model';

/** An added token as in the file. */
export type PlainAddedToken = Omit<AddedToken, keyof TokenTraits>;

export interface Vocabulary {
  readonly vocab: ReadonlyMap<string, number>;
  readonly model: BpeModel | UnigramModel | WordPieceModel;
  readonly addedTokens: readonly PlainAddedToken[];
  readonly unkToken: string | null;
  /** Ids before and after a text. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}
