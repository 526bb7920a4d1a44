// Added tokens (control tokens and the like): finding their text inside a text before anything else looks at it.

import { TokenizerError } from '../../errors';
import { type Author, type Authors, LAYOUT, PERSON, TEMPLATE, type TokenTraits } from '../authors';

/** A text of nothing but the beginnings of a token is read so many times; the longest in use have some 60 characters. */
const LONGEST_CONTENT = 512;

export interface AddedToken extends TokenTraits {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  readonly normalized: boolean;
  readonly singleWord: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
}

/** A stretch of a text: an added token (`id`), or text between them (`id` null). */
export interface Section {
  readonly id: number | null;
  readonly start: number;
  readonly end: number;
}

interface TrieNode {
  next: Map<number, TrieNode>;
  token: AddedToken | null;
}

const ENDS_WITH_WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]$/u;
const STARTS_WITH_WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u;
const SPACE = /\p{White_Space}/u;
const NONE: ReadonlySet<number> = new Set();

/** Splits texts at the longest added token of each place, leftmost first: the reference's rule. */
export class AddedTokenSplitter {
  private readonly root: TrieNode = { next: new Map(), token: null };
  private readonly fenced: { content: string; openTo: Author }[] = []; // not open to everybody
  private readonly framing = new Set<number>(); // ids of tokens that look like control tokens, but are open to the model

  /** `contentOf` gives the text to look for: normalized tokens are looked for in normalized text. */
  constructor(tokens: readonly AddedToken[], contentOf: (token: AddedToken) => string = (token) => token.content) {
    for (const token of tokens) {
      const content = contentOf(token);
      if (content.length === 0) continue;
      if (content.length > LONGEST_CONTENT) {
        throw new TokenizerError(
          `The added token ${token.id} has ${content.length} characters; at most ${LONGEST_CONTENT} are supported.`,
        );
      }
      const { openTo } = token;
      if (openTo !== PERSON) {
        // Where the template writes such a token is known only for a whole prompt: in touches() it counts as withheld.
        const isFraming = token.looksLikeControl && openTo !== TEMPLATE;
        this.fenced.push({ content, openTo: isFraming ? TEMPLATE : openTo });
        if (isFraming) this.framing.add(token.id);
      }
      let node = this.root;
      for (let i = 0; i < content.length; i++) {
        const unit = content.charCodeAt(i);
        const child = node.next.get(unit) ?? { next: new Map(), token: null };
        node.next.set(unit, child);
        node = child;
      }
      node.token = token;
    }
  }

  get hasFences(): boolean {
    return this.fenced.length > 0;
  }

  /** `authors`: of each unit of the text; absent: the template wrote all of it. */
  split(text: string, authors: Authors | null = null): Section[] {
    const sections = this.splitWithout(NONE, text, authors);
    if (!authors || this.framing.size === 0) return sections;
    const byTemplate = ({ id, start, end }: Section) =>
      id !== null && this.framing.has(id) && authors.subarray(start, end).every((author) => author === TEMPLATE);
    const frames = new Set(sections.filter(byTemplate).map(({ id }) => id));
    return frames.size === 0 ? sections : this.splitWithout(frames, text, authors);
  }

  /** `frames`: tokens that only the template may write. */
  private splitWithout(frames: ReadonlySet<number | null>, text: string, authors: Authors | null): Section[] {
    const sections: Section[] = [];
    let from = 0; // start of the text not yet in a section
    for (let i = 0; i < text.length; ) {
      const match = this.longestAt(text, i, authors, frames);
      if (!match || (match.token.singleWord && !standsAlone(text, i, match.end))) {
        i = match ? match.end : i + 1;
        continue;
      }
      let start = i;
      let end = match.end;
      if (match.token.lstrip) while (start > from && SPACE.test(text[start - 1])) start--;
      if (match.token.rstrip) while (end < text.length && SPACE.test(text[end])) end++;
      if (from < start) sections.push({ id: null, start: from, end: start });
      sections.push({ id: match.token.id, start, end });
      from = end;
      i = end;
    }
    if (from < text.length) sections.push({ id: null, start: from, end: text.length });
    return sections;
  }

  /** Whether a text by this author holds an added token that is withheld from him, or a part that its surroundings could complete. */
  touches(text: string, author: Author): boolean {
    if (text === '') return false;
    return this.fenced.some(({ content, openTo }) => {
      if (openTo >= author) return false;
      if (text.includes(content) || content.includes(text)) return true;
      for (let cut = 1; cut < content.length; cut++) {
        if (text.endsWith(content.slice(0, cut)) || text.startsWith(content.slice(cut))) return true;
      }
      return false;
    });
  }

  /** Adds the UTF-16 units of the tokens that are withheld from an author, spaces aside. */
  addUnits(author: Author, units: Set<number>): void {
    for (const { content, openTo } of this.fenced) {
      if (openTo >= author) continue;
      for (let i = 0; i < content.length; i++) if (!LAYOUT.test(content[i])) units.add(content.charCodeAt(i));
    }
  }

  /** The longest token at `start` that is open to everybody who wrote a part of its text. */
  private longestAt(
    text: string,
    start: number,
    authors: Authors | null,
    frames: ReadonlySet<number | null>,
  ): { token: AddedToken; end: number } | null {
    let best: { token: AddedToken; end: number } | null = null;
    let node: TrieNode | undefined = this.root;
    let author: number = TEMPLATE;
    for (let i = start; i < text.length; i++) {
      node = node.next.get(text.charCodeAt(i));
      if (!node) break;
      if (authors && authors[i] > author) author = authors[i];
      const { token } = node;
      if (token && author <= token.openTo && (author === TEMPLATE || !frames.has(token.id))) {
        best = { token, end: i + 1 };
      }
    }
    return best;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !ENDS_WITH_WORD.test(text.slice(Math.max(0, start - 2), start)) && !STARTS_WITH_WORD.test(text.slice(end, end + 2))
  );
}
