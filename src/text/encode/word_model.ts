// A vocabulary's model, which encodes one word at a time: byte pair encoding, or one of the others
// (unigram_wordpiece.ts).

import { PERSON } from '../authors';
import type { AddedToken } from './added_tokens';
import { Bpe, type BpeOptions } from './bpe';

export interface WordModel {
  /** Appends the ids of one word to `out`. */
  encodeWord(word: string, out: number[]): void;
}

export interface UnigramOptions {
  /** Text and score (a log probability) of each id. */
  readonly pieces: readonly (readonly [string, number])[];
  /** Ids that text must never become. */
  readonly forbidden: ReadonlySet<number>;
  readonly unkId: number | null;
  /** Unknown characters become <0xHH> tokens if the vocabulary has all of them. */
  readonly byteFallback: boolean;
}

export interface WordPieceOptions {
  readonly vocab: ReadonlyMap<string, number>;
  readonly forbidden: ReadonlySet<number>;
  readonly unkId: number | null;
  readonly unkToken: string | null;
  /** Prefix of every piece that continues a word, such as ##. */
  readonly subwordPrefix: string;
  /** Longer words, in characters, are unknown. */
  readonly longestWord: number;
}

export type BpeModel = { readonly type: 'BPE' } & Pick<
  BpeOptions,
  'merges' | 'mergeRanks' | 'byteFallback' | 'ignoreMerges' | 'fuseUnk'
>;
export type UnigramModel = { readonly type: 'Unigram' } & Pick<UnigramOptions, 'pieces' | 'unkId' | 'byteFallback'>;
export type WordPieceModel = { readonly type: 'WordPiece' } & Pick<WordPieceOptions, 'subwordPrefix' | 'longestWord'>;

export interface EncoderOptions {
  readonly vocab: ReadonlyMap<string, number>;
  readonly model: BpeModel | UnigramModel | WordPieceModel;
  readonly addedTokens: readonly AddedToken[];
  readonly unkToken: string | null;
}

/** Ids that a person's text must never become: control tokens that some vocabularies list as ordinary tokens. */
export function forbiddenIds({ addedTokens }: EncoderOptions): Set<number> {
  const isControl = (token: AddedToken) => token.openTo !== PERSON && [...token.content].length > 1;
  return new Set(addedTokens.filter(isControl).map((token) => token.id));
}

export function unknownId({ vocab, addedTokens, unkToken }: EncoderOptions): number | null {
  if (unkToken === null) return null;
  return vocab.get(unkToken) ?? addedTokens.find((token) => token.content === unkToken)?.id ?? null;
}

export function createBpe(model: BpeModel, options: EncoderOptions, byteLevel: boolean): WordModel {
  const { vocab } = options;
  return new Bpe({ ...model, vocab, forbidden: forbiddenIds(options), byteLevel, unkId: unknownId(options) });
}
