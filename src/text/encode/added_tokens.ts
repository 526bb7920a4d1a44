// Finds the text of added tokens, such as control tokens, before any other rule sees the text.

import { TokenizerError } from '../../errors';
import { type Author, type Authors, LAYOUT, PERSON, TEMPLATE, type TokenTraits } from '../authors';

/**
 * Longest accepted token. In the worst case, a text of repeated token beginnings is read that many times. The longest
 * in use have some 60 characters.
 */
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

/** A stretch of a text: an added token (`id`), or the text between two of them (`id` null). */
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

/** Splits texts at added tokens, leftmost first and the longest at each place, as the reference does. */
export class AddedTokenSplitter {
  private readonly root: TrieNode = { next: new Map(), token: null };
  private readonly withheld: { content: string; openTo: Author }[] = []; // tokens with a restricted author
  private readonly framing = new Set<number>(); // tokens that look like control tokens but are open to the model

  /** `contentOf` returns the text to search for: normalized tokens are searched for in normalized text. */
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
        // The template's use of such a token is known only for a whole prompt, so couldForge() treats it as withheld.
        const isFraming = token.looksLikeControl && openTo !== TEMPLATE;
        this.withheld.push({ content, openTo: isFraming ? TEMPLATE : openTo });
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

  get withholdsAny(): boolean {
    return this.withheld.length > 0;
  }

  /** `authors` of each unit of the text; null for a text by the template. */
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
    let from = 0; // start of the text that is not yet in a section
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

  /**
   * True if a text by this author contains a withheld added token, or a part that adjacent text could complete. With
   * `within`, a text from within a token is no such part, as the word `object` may be: the token goes there, since the
   * text forges nothing in a prompt that does not hold all of the token.
   */
  couldForge(text: string, author: Author, within?: Set<string>): boolean {
    if (text === '') return false;
    return this.withheld.some(({ content, openTo }) => {
      if (openTo >= author) return false;
      for (let cut = 1; cut < content.length; cut++) {
        if (text.endsWith(content.slice(0, cut)) || text.startsWith(content.slice(cut))) return true;
      }
      return text.includes(content) || (content.includes(text) && !within?.add(content));
    });
  }

  /** Adds the UTF-16 units of the tokens withheld from an author, except spaces. */
  addUnits(author: Author, units: Set<number>): void {
    for (const { content, openTo } of this.withheld) {
      if (openTo >= author) continue;
      for (let i = 0; i < content.length; i++) if (!LAYOUT.test(content[i])) units.add(content.charCodeAt(i));
    }
  }

  /** The longest token at `start` that is open to every author of its text. */
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
