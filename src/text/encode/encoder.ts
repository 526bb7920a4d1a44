// Text to ids, in the reference's order: added tokens of the raw text, the normalizer, added tokens of the normalized
// text, words, the vocabulary's model. The author of a stretch decides which added tokens are recognized in it.

import { type Author, type Authors, TEMPLATE } from '../authors';
import { type AddedToken, AddedTokenSplitter, type Section } from './added_tokens';
import type { TextPipeline } from './text_pipeline';
import type { WordModel } from './word_model';

export class Encoder {
  private readonly raw: AddedTokenSplitter;
  private readonly normalized: AddedTokenSplitter;

  constructor(
    addedTokens: readonly AddedToken[],
    private readonly pipeline: TextPipeline,
    private readonly model: WordModel,
  ) {
    const { normalize } = pipeline;
    const late = (token: AddedToken) => normalize !== null && token.normalized;
    this.raw = new AddedTokenSplitter(addedTokens.filter((token) => !late(token)));
    this.normalized = new AddedTokenSplitter(
      // Normalizing moves positions, so in normalized text the template's stretches are unknown.
      addedTokens.filter(late).map((token) => (token.looksLikeControl ? { ...token, openTo: TEMPLATE } : token)),
      ({ content }) => normalize?.(content) ?? content,
    );
  }

  /** `authors` of each unit of the text; null for a text by the template. */
  encode(text: string, authors: Authors | null, out: number[]): void {
    for (const { id, start, end } of this.raw.split(text, authors)) {
      if (id !== null) out.push(id);
      else this.encodeSection(text, start, end, authors, out);
    }
  }

  /**
   * As AddedTokenSplitter's, also without the spaces around the text, which templates take off. A prompt is normalized
   * in sections, so tokens of normalized text are never `within`.
   */
  couldForge(text: string, author: Author, within?: Set<string>): boolean {
    const trimmed = text.trim();
    if (trimmed !== text && this.couldForge(trimmed, author, within)) return true;
    if (this.raw.couldForge(text, author, within)) return true;
    if (!this.normalized.withholdsAny || text === '') return false;
    const normalized = this.normalize(text);
    const bare = normalized.replace(/^[\s\u2581]+/, ''); // without the normalizer's prefix
    return [text, normalized, bare].some((shape) => this.normalized.couldForge(shape, author));
  }

  /** The UTF-16 units of a text that may belong to a token withheld from its author. */
  forgeableUnits(text: string, author: Author): Set<number> {
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
      if (!isFence(char) && !(this.normalized.withholdsAny && isFence(this.normalize(char)))) continue;
      for (let j = 0; j < char.length; j++) units.add(char.charCodeAt(j));
    }
    return units;
  }

  private encodeSection(text: string, start: number, end: number, authors: Authors | null, out: number[]): void {
    const section = this.normalize(text.slice(start, end));
    const found = this.normalized.split(section);
    const mixed = authors?.subarray(start, end).some((author) => author !== TEMPLATE);
    if (mixed && found.some((piece) => piece.id !== null)) {
      // Normalizing moves positions: cut the text where the author changes, then search each piece.
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

  /** Normalizes a section. An empty section stays empty even if the normalizer has a prefix. */
  private normalize(text: string): string {
    return text === '' || !this.pipeline.normalize ? text : this.pipeline.normalize(text);
  }

  private encodeWords(section: string, first: boolean, out: number[]): void {
    if (section === '') return;
    for (const word of this.pipeline.words(section, first)) this.model.encodeWord(word, out);
  }
}
