// Added tokens (control tokens and the like): finding their text inside a text before anything else looks at it.

export interface AddedToken {
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

/** A stretch that a person typed: no added token may be recognised in it, or half in it. Lists of them ascend.
 *  Tokens of nothing but spaces and line breaks are the exception: they are layout, they control nothing. */
export type GuardedRange = { readonly start: number; readonly end: number };

interface TrieNode {
  next: Map<number, TrieNode>;
  token: AddedToken | null;
}

const ENDS_WITH_WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]$/u;
const STARTS_WITH_WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u;
const SPACE = /\p{White_Space}/u;
const LAYOUT = /^[\p{White_Space}\u2581]+$/u;

/** Splits texts at the longest added token of each place, leftmost first: the reference's rule. */
export class AddedTokenSplitter {
  private readonly root: TrieNode = { next: new Map(), token: null };
  private readonly contents: string[] = []; // without layout
  readonly isEmpty: boolean;

  /** `contentOf` gives the text to look for: normalised tokens are looked for in normalised text. */
  constructor(tokens: readonly AddedToken[], contentOf: (token: AddedToken) => string = (token) => token.content) {
    this.isEmpty = tokens.length === 0;
    for (const token of tokens) {
      const content = contentOf(token);
      if (content.length === 0) continue;
      if (!LAYOUT.test(content)) this.contents.push(content);
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

  split(text: string, guarded: readonly GuardedRange[] = []): Section[] {
    const sections: Section[] = [];
    let from = 0; // start of the text not yet in a section
    let g = 0;
    for (let i = 0; i < text.length; ) {
      while (g < guarded.length && guarded[g].end <= i) g++;
      const limit = g < guarded.length ? guarded[g].start : text.length;
      const match = this.longestAt(text, i, limit);
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

  /** Whether a text holds an added token, or could be a part of one that its surroundings complete. */
  touches(text: string): boolean {
    if (text === '') return false;
    if (
      this.split(text).some((section) => section.id !== null && !LAYOUT.test(text.slice(section.start, section.end)))
    ) {
      return true;
    }
    return this.contents.some((content) => {
      if (content.includes(text)) return true;
      for (let cut = 1; cut < content.length; cut++) {
        if (text.endsWith(content.slice(0, cut)) || text.startsWith(content.slice(cut))) return true;
      }
      return false;
    });
  }

  /** The longest token at `start`; only layout may reach past `limit`, where a guarded stretch begins. */
  private longestAt(text: string, start: number, limit: number): { token: AddedToken; end: number } | null {
    let best: { token: AddedToken; end: number } | null = null;
    let node: TrieNode | undefined = this.root;
    for (let i = start; i < text.length; i++) {
      node = node.next.get(text.charCodeAt(i));
      if (!node) break;
      if (node.token && (i < limit || LAYOUT.test(node.token.content))) best = { token: node.token, end: i + 1 };
    }
    return best;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !ENDS_WITH_WORD.test(text.slice(Math.max(0, start - 2), start)) && !STARTS_WITH_WORD.test(text.slice(end, end + 2))
  );
}
