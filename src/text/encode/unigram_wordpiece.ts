// Unigram and WordPiece vocabularies, run by the library. Added here: bounded work for very long words, byte fallback,
// and no control tokens from people's text, which some vocabularies list as ordinary tokens.

import { Unigram, WordPiece } from '@huggingface/tokenizers';
import { TokenizerError } from '../../errors';
import { byteToken, utf8Bytes } from '../byte_alphabet';
import { safeCut } from './safe_cut';
import {
  createBpe,
  type EncoderOptions,
  forbiddenIds,
  type UnigramOptions,
  unknownId,
  type WordModel,
  type WordPieceOptions,
} from './word_model';

const LONGEST_RUN = 8192; // of a Unigram lattice, in UTF-16 units, which takes some 100 bytes each
const LONGEST_WORD = 256; // of WordPiece, whose work grows with the square; all in use have 100
const CACHE_WORDS = 20_000;
const CACHE_WORD_LENGTH = 32;

type UnigramConfig = ConstructorParameters<typeof Unigram>[0];
type WordPieceConfig = ConstructorParameters<typeof WordPiece>[0];

/** Creates the word model of any kind of tokenizer. */
export function createModel(options: EncoderOptions, byteLevel: boolean): WordModel {
  const { model, vocab, unkToken } = options;
  if (model.type === 'BPE') return createBpe(model, options, byteLevel);
  const forbidden = forbiddenIds(options);
  if (model.type === 'Unigram') return createUnigram({ ...model, forbidden });
  return createWordPiece({ ...model, vocab, forbidden, unkId: unknownId(options), unkToken });
}

/** The likeliest pieces of each word (Viterbi). An unknown character costs 10 more than the least likely piece. */
function createUnigram({ pieces, forbidden, unkId, byteFallback }: UnigramOptions): WordModel {
  // A piece without text never matches.
  const vocab = pieces.map(([text, score], id) => [forbidden.has(id) ? '' : text, score]);
  const config = { type: 'Unigram', vocab, unk_id: unkId ?? undefined };
  const library = new Unigram(config as unknown as UnigramConfig, '');
  const ids = new Map(vocab.map(([text], id) => [text, id]));
  const fallback = byteFallback ? Array.from({ length: 256 }, (_, byte) => ids.get(byteToken(byte)) ?? -1) : null;

  /** Adjacent unknown characters form one unknown text, as in the reference. */
  function unknown(text: string, out: number[]): void {
    const known = ids.get(text);
    const bytes = fallback ? Array.from(utf8Bytes(text), (byte) => fallback[byte]) : [];
    if (known !== undefined) out.push(known);
    else if (bytes.length > 0 && bytes.every((id) => id >= 0)) for (const id of bytes) out.push(id);
    else if (unkId !== null) out.push(unkId);
  }

  return cached((word, out) => {
    for (let start = 0; start < word.length; ) {
      const end = safeCut(word, start, LONGEST_RUN);
      let gap = '';
      for (const piece of library.tokenize(word.slice(start, end))) {
        const id = ids.get(piece);
        if (id === undefined) {
          gap += piece;
          continue;
        }
        if (gap !== '') unknown(gap, out);
        gap = '';
        out.push(id);
      }
      if (gap !== '') unknown(gap, out);
      start = end;
    }
  });
}

/** Repeatedly takes the longest matching piece. A word with a gap is unknown as a whole. */
function createWordPiece(options: WordPieceOptions): WordModel {
  const { vocab, forbidden, unkId, unkToken, subwordPrefix, longestWord } = options;
  if (!(longestWord >= 0 && longestWord <= LONGEST_WORD)) {
    throw new TokenizerError(
      `The tokenizer cuts words of up to ${longestWord} characters in pieces; at most ${LONGEST_WORD} are supported.`,
    );
  }
  const usable: Record<string, number> = Object.create(null);
  for (const [token, id] of vocab) if (!forbidden.has(id)) usable[token] = id;
  const library = new WordPiece({
    type: 'WordPiece',
    vocab: usable,
    unk_token: unkToken ?? '',
    continuing_subword_prefix: subwordPrefix,
    max_input_chars_per_word: longestWord,
  } as unknown as WordPieceConfig);
  return cached((word, out) => {
    for (const piece of library.encode([word])) {
      const id = piece === unkToken ? unkId : (usable[piece] ?? unkId);
      if (id !== null) out.push(id);
    }
  });
}

/** Caches the ids of short words. */
function cached(encode: (word: string, out: number[]) => void): WordModel {
  const cache = new Map<string, readonly number[]>();
  return {
    encodeWord(word, out) {
      if (word.length > CACHE_WORD_LENGTH) return encode(word, out);
      let ids = cache.get(word);
      if (ids === undefined) {
        const fresh: number[] = [];
        encode(word, fresh);
        ids = fresh;
        if (cache.size >= CACHE_WORDS) cache.clear();
        cache.set(word, ids);
      }
      for (const id of ids) out.push(id);
    },
  };
}
