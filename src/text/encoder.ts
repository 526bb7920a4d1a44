// Text -> ids, in the reference's order: added tokens of the raw text, the normalizer, added tokens of the normalised text,
// words, the vocabulary's model. A text may have guarded stretches, in which added tokens are not recognised.

import { type AddedToken, AddedTokenSplitter, type GuardedRange } from './added_tokens';
import { Bpe } from './bpe';
import { createUnigram, createWordPiece, type WordModel } from './library_models';
import type { TextPipeline } from './pre_tokenizer';
import type { TokenizerParts } from './tokenizer_json';

export class Encoder {
  private readonly model: WordModel;
  private readonly raw: AddedTokenSplitter;
  private readonly normalized: AddedTokenSplitter;

  constructor(
    parts: TokenizerParts,
    private readonly pipeline: TextPipeline,
  ) {
    const { addedTokens } = parts;
    this.model = createModel(parts, pipeline.byteLevel);
    const { normalize } = pipeline;
    const late = (token: AddedToken) => normalize !== null && token.normalized;
    this.raw = new AddedTokenSplitter(addedTokens.filter((token) => !late(token)));
    this.normalized = new AddedTokenSplitter(
      addedTokens.filter(late),
      ({ content }) => normalize?.(content) ?? content,
    );
  }

  encode(text: string, guarded: readonly GuardedRange[], out: number[]): void {
    for (const { id, start, end } of this.raw.split(text, guarded)) {
      if (id !== null) out.push(id);
      else this.encodeSection(text, start, end, guarded, out);
    }
  }

  /** Where normalising may bring forth an added token, any text may hold one. */
  touchesAddedToken(text: string): boolean {
    return !this.normalized.isEmpty || this.raw.touches(text);
  }

  private encodeSection(
    text: string,
    start: number,
    end: number,
    guarded: readonly GuardedRange[],
    out: number[],
  ): void {
    const section = this.normalize(text.slice(start, end));
    const found = this.normalized.split(section);
    const inside = guarded.filter((range) => range.start < end && range.end > start);
    if (inside.length > 0 && found.some((piece) => piece.id !== null)) {
      // Places in normalised text are not places in the text: cut at the guarded stretches, then look in each piece.
      const edges = [
        start,
        ...inside.flatMap((range) => [Math.max(range.start, start), Math.min(range.end, end)]),
        end,
      ];
      for (let i = 0; i + 1 < edges.length; i++) {
        if (i % 2 === 0) this.encodeSection(text, edges[i], edges[i + 1], [], out);
        else this.encodeWords(this.normalize(text.slice(edges[i], edges[i + 1])), edges[i] === 0, out);
      }
      return;
    }
    for (const piece of found) {
      if (piece.id !== null) out.push(piece.id);
      else this.encodeWords(section.slice(piece.start, piece.end), start + piece.start === 0, out);
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

function createModel(parts: TokenizerParts, byteLevel: boolean): WordModel {
  const { model, vocab, addedTokens, unkToken } = parts;
  const isControl = (token: AddedToken) => token.special && [...token.content].length > 1;
  const forbidden = new Set(addedTokens.filter(isControl).map((token) => token.id));
  if (model.type === 'Unigram') return createUnigram({ ...model, forbidden });
  const unkId =
    unkToken === null
      ? null
      : (vocab.get(unkToken) ?? addedTokens.find((token) => token.content === unkToken)?.id ?? null);
  if (model.type === 'WordPiece') return createWordPiece({ ...model, vocab, forbidden, unkId, unkToken });
  return new Bpe({ ...model, vocab, forbidden, byteLevel, unkId });
}
