// Text -> ids, in the reference's order: added tokens of the raw text, the normalizer, added tokens of the normalized text,
// words, the vocabulary's model. Which added tokens are recognized in a stretch depends on who wrote it.

import { type Author, type Authors, PERSON, TEMPLATE } from '../authors';
import { type AddedToken, AddedTokenSplitter, type Section } from './added_tokens';
import { Bpe, type BpeOptions } from './bpe';
import type { TextPipeline } from './pre_tokenizer';
import {
  createUnigram,
  createWordPiece,
  type UnigramOptions,
  type WordModel,
  type WordPieceOptions,
} from './unigram_wordpiece';

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

export class Encoder {
  private readonly model: WordModel;
  private readonly raw: AddedTokenSplitter;
  private readonly normalized: AddedTokenSplitter;

  constructor(
    options: EncoderOptions,
    private readonly pipeline: TextPipeline,
  ) {
    const { addedTokens } = options;
    this.model = createModel(options, pipeline.byteLevel);
    const { normalize } = pipeline;
    const late = (token: AddedToken) => normalize !== null && token.normalized;
    this.raw = new AddedTokenSplitter(addedTokens.filter((token) => !late(token)));
    this.normalized = new AddedTokenSplitter(
      // Places in normalized text are not places in the text, so that nobody can tell there what the template writes.
      addedTokens.filter(late).map((token) => (token.looksLikeControl ? { ...token, openTo: TEMPLATE } : token)),
      ({ content }) => normalize?.(content) ?? content,
    );
  }

  /** `authors`: of each unit of the text; null: the template wrote all of it. */
  encode(text: string, authors: Authors | null, out: number[]): void {
    for (const { id, start, end } of this.raw.split(text, authors)) {
      if (id !== null) out.push(id);
      else this.encodeSection(text, start, end, authors, out);
    }
  }

  /** Whether a text by this author holds a token that is withheld from him, or could complete one with what stands around it. */
  touchesFence(text: string, author: Author): boolean {
    if (this.raw.touches(text, author)) return true;
    if (!this.normalized.hasFences || text === '') return false;
    const normalized = this.normalize(text);
    const bare = normalized.replace(/^[\s\u2581]+/, ''); // without what the normalizer puts before a text
    return [text, normalized, bare].some((shape) => this.normalized.touches(shape, author));
  }

  /** Those UTF-16 units of a text that could be a part of a token that is withheld from its author. */
  fenceUnits(text: string, author: Author): Set<number> {
    const fence = new Set<number>();
    this.raw.addUnits(author, fence);
    this.normalized.addUnits(author, fence);
    const isFence = (shape: string) => {
      for (let i = 0; i < shape.length; i++) if (fence.has(shape.charCodeAt(i))) return true;
      return false;
    };
    const units = new Set<number>();
    const seen = new Set<number>();
    for (let i = 0; i < text.length; i++) {
      const point = text.codePointAt(i)!;
      if (seen.has(point)) continue;
      seen.add(point);
      const char = String.fromCodePoint(point);
      if (!isFence(char) && !(this.normalized.hasFences && isFence(this.normalize(char)))) continue;
      for (let j = 0; j < char.length; j++) units.add(char.charCodeAt(j));
    }
    return units;
  }

  private encodeSection(text: string, start: number, end: number, authors: Authors | null, out: number[]): void {
    const section = this.normalize(text.slice(start, end));
    const found = this.normalized.split(section);
    const mixed = authors?.subarray(start, end).some((author) => author !== TEMPLATE);
    if (mixed && found.some((piece) => piece.id !== null)) {
      // Places in normalized text are not places in the text: cut where the author changes, then look in each piece.
      for (let from = start; from < end; ) {
        let to = from + 1;
        while (to < end && authors![to] === authors![from]) to++;
        const piece = this.normalize(text.slice(from, to));
        this.encodePieces(
          piece,
          this.normalized.split(piece, new Uint8Array(piece.length).fill(authors![from])),
          from,
          out,
        );
        from = to;
      }
      return;
    }
    this.encodePieces(section, found, start, out);
  }

  private encodePieces(section: string, pieces: readonly Section[], start: number, out: number[]): void {
    for (const { id, start: from, end } of pieces) {
      if (id !== null) out.push(id);
      else this.encodeWords(section.slice(from, end), start + from === 0, out);
    }
  }

  /** An empty section stays empty, whatever the normalizer would put before it. */
  private normalize(text: string): string {
    return text === '' || !this.pipeline.normalize ? text : this.pipeline.normalize(text);
  }

  private encodeWords(section: string, first: boolean, out: number[]): void {
    if (section === '') return;
    for (const word of this.pipeline.words(section, first)) this.model.encodeWord(word, out);
  }
}

function createModel(options: EncoderOptions, byteLevel: boolean): WordModel {
  const { model, vocab, addedTokens, unkToken } = options;
  const isControl = (token: AddedToken) => token.openTo !== PERSON && [...token.content].length > 1;
  const forbidden = new Set(addedTokens.filter(isControl).map((token) => token.id));
  if (model.type === 'Unigram') return createUnigram({ ...model, forbidden });
  const unkId =
    unkToken === null
      ? null
      : (vocab.get(unkToken) ?? addedTokens.find((token) => token.content === unkToken)?.id ?? null);
  if (model.type === 'WordPiece') return createWordPiece({ ...model, vocab, forbidden, unkId, unkToken });
  return new Bpe({ ...model, vocab, forbidden, byteLevel, unkId });
}
