// The worst-case cost of a regular expression from a tokenizer file. JavaScript's expressions backtrack and cannot be
// interrupted, so each is analyzed before it runs. LINEAR: nothing after an unbounded repeat can fail, so that nothing
// is tried twice. POLYNOMIAL: something after it can fail, but at most two unbounded repeats follow each other and none
// is nested, or there are many ways to match. Both are harmless on short pieces of text. Other expressions are refused.

import { TokenizerError } from '../../errors';
import { CASE_WORDS } from './word_regexes';

export type RegexCost = 'linear' | 'polynomial';

const MAX_SOURCE = 4096;
const MAX_NESTING = 50;
/** Units that a polynomial expression processes at once. */
export const LONGEST_PIECE = 1024;
const MAX_LENGTH = 1024; // of the part without unbounded repeats; longer ones count as unbounded
/** Steps at one place of a text: ways to match times their length. The expressions in use take up to 200. */
const MAX_STEPS = 1024;
const MAX_STEPS_IN_PIECES = 2 ** 18;
/** The same for what can fail after unbounded repeats: two that share a piece, and a few units after them. */
const MAX_STEPS_TO_FAIL = 4 * LONGEST_PIECE ** 2;
/**
 * Most paths for the regex compiler to look ahead through a sequence, since the compiler walks all of them. 6 to the
 * fifth power took 10 ms, to the seventh 350 ms, three rounds of `[^\p{L}\p{N}]{3}` more than a minute.
 */
const MAX_BRANCHES = 6 ** 5;
const CLASS_BRANCHES = 6; // least number of alternatives that a class of characters past U+FFFF compiles to

/** Properties of a part of an expression. */
interface Subpattern {
  /** True if it can match nothing: `*`, `?`, `{0,n}`. */
  readonly optional: boolean;
  /** Most unbounded repeats on a path through it. */
  readonly stretches: number;
  readonly ways: number;
  readonly length: number;
  /** Alternatives that the compiler sees on a path through it. A class of characters counts as several. */
  readonly branches: number;
  /** True if nothing after an unbounded repeat in it can fail. */
  readonly steady: boolean;
  /** An unbounded or long repeat of something that varies itself: exponential if the rest can fail. */
  readonly nested: boolean;
}

const EMPTY: Subpattern = {
  optional: true,
  stretches: 0,
  ways: 1,
  length: 0,
  branches: 1,
  steady: true,
  nested: false,
};
const CHARACTER: Subpattern = { ...EMPTY, optional: false, length: 1 };
const CLASS: Subpattern = { ...CHARACTER, branches: CLASS_BRANCHES };

/**
 * Alternatives in use that can fail after an unbounded repeat and are linear nevertheless. `\s+(?!\S)` gives back one
 * character. The others are tried once per repeat, since another alternative of the expression (the second item) takes
 * all of it.
 */
const KNOWN: readonly (readonly [string, string | null])[] = [
  ['\\s+(?!\\S)', null],
  ['\\s*[\\r\\n]+', '\\s+'],
  ['\\s*[\\r\\n]', '\\s+'],
  ...CASE_WORDS,
];

/** The cost of an expression. @throws TokenizerError if the time is unbounded, or the expression cannot be parsed */
export function regexCost(source: string): RegexCost {
  const shown = source.length > 80 ? `${source.slice(0, 80)}...` : source;
  if (source.length > MAX_SOURCE) {
    throw new TokenizerError(
      `The tokenizer has an expression of ${source.length} characters; at most ${MAX_SOURCE} are allowed: ${shown}`,
    );
  }
  // Some files contain line breaks unescaped.
  const canonical = (text: string) => text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  const reader = new Reader(source);
  const alternatives = reader.alternatives(0);
  if (!reader.atEnd) reader.fail('a closing bracket too many');
  const texts = new Set(alternatives.map(({ text }) => canonical(text)));
  const known = (text: string) =>
    KNOWN.some(([known, needs]) => known === text && (needs === null || texts.has(needs)));
  const rest = alternatives.filter(({ text }) => !known(canonical(text))).map(({ part }) => part);
  const whole = either(rest);
  const steps = rest.reduce((sum, { ways, length }) => sum + ways * length, 0);
  if (whole.steady && steps <= MAX_STEPS) return 'linear';
  const toFail = rest.reduce((sum, part) => sum + stepsToFail(part), 0);
  if (!whole.nested && steps <= MAX_STEPS_IN_PIECES && toFail <= MAX_STEPS_TO_FAIL) return 'polynomial';
  throw new TokenizerError(
    `The tokenizer splits or rewrites text by an expression that could take time without bound: ${shown} ` +
      `(${whole.stretches} unbounded repeats, ${whole.ways} ways). Use a file of the model with plainer rules.`,
  );
}

function stepsToFail({ steady, ways, length, stretches }: Subpattern): number {
  return steady ? 0 : ways * length * LONGEST_PIECE ** stretches;
}

function either(parts: readonly Subpattern[]): Subpattern {
  if (parts.length === 0) return EMPTY;
  return {
    optional: parts.some((part) => part.optional),
    stretches: Math.max(...parts.map((part) => part.stretches)),
    ways: parts.reduce((sum, part) => sum + part.ways, 0),
    length: Math.max(...parts.map((part) => part.length)),
    branches: parts.reduce((sum, { branches }) => sum + (branches > 1 ? branches : 0), 0) || 1,
    steady: parts.every((part) => part.steady),
    nested: parts.some((part) => part.nested),
  };
}

function sequence(parts: readonly Subpattern[]): Subpattern {
  let after = false; // an unbounded repeat came before
  let steady = true;
  for (const part of parts) {
    if (!part.steady || (after && !part.optional)) steady = false;
    after ||= part.stretches > 0;
  }
  return {
    optional: parts.every((part) => part.optional),
    stretches: parts.reduce((sum, part) => sum + part.stretches, 0),
    ways: parts.reduce((product, part) => product * part.ways, 1),
    length: parts.reduce((sum, part) => sum + part.length, 0),
    branches: parts.reduce((product, part) => product * part.branches, 1),
    steady,
    nested: parts.some((part) => part.nested),
  };
}

/** A part repeated min to max times. */
function repeat(part: Subpattern, min: number, max: number): Subpattern {
  const varies = part.stretches > 0 || part.ways > 1;
  const long = part.length * max > MAX_LENGTH && min !== max;
  const unbounded = max === Number.POSITIVE_INFINITY || long;
  const times = unbounded ? 1 : Math.max(1, max);
  return {
    optional: min === 0 || part.optional,
    stretches: (unbounded ? 1 : 0) + part.stretches * times,
    ways: part.ways ** (unbounded ? Math.max(1, min) : times) * (unbounded ? 1 : max - min + 1),
    length: part.length * (unbounded ? Math.max(1, min) : times),
    // The compiler skips optional parts and unrolls at most three rounds.
    branches: min === 0 ? 1 : part.branches ** (max > 3 ? 1 : max),
    // Several mandatory rounds of an unbounded part can divide one stretch in many ways.
    steady: part.steady && !(part.stretches > 0 && min > 1),
    nested: part.nested || (varies && unbounded) || (part.stretches > 0 && max > 1),
  };
}

class Reader {
  private at = 0;

  constructor(private readonly source: string) {}

  get atEnd(): boolean {
    return this.at >= this.source.length;
  }

  fail(what: string): never {
    throw new TokenizerError(
      `The tokenizer has an expression that cannot be used: ${what} at character ${this.at} of ${JSON.stringify(this.source.slice(0, 80))}.`,
    );
  }

  alternatives(depth: number): { text: string; part: Subpattern }[] {
    if (depth > MAX_NESTING) this.fail(`more than ${MAX_NESTING} brackets in each other`);
    const found: { text: string; part: Subpattern }[] = [];
    for (;;) {
      const start = this.at;
      const parts: Subpattern[] = [];
      while (!this.atEnd && !'|)'.includes(this.source[this.at])) parts.push(this.quantified(this.atom(depth)));
      const part = sequence(parts);
      if (part.branches > MAX_BRANCHES) this.fail('too many classes of characters in a row');
      found.push({ text: this.source.slice(start, this.at), part });
      if (this.source[this.at] !== '|') return found;
      this.at++;
    }
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.source);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  private atom(depth: number): Subpattern {
    const char = this.source[this.at];
    if (char === '(') return this.group(depth);
    if (char === '[') return this.characterClass();
    if (char === '\\') {
      if (this.take(/\\(?:[1-9]|k[<'{]|g[<'{])/y)) this.fail('a reference to a group');
      if (this.take(/\\[AzZbBG]/y)) return { ...CHARACTER, length: 0 };
      const escaped = this.take(/\\(?:[pPxu]\{[^}]*\}|[\s\S])/uy) ?? this.fail('a lonely backslash');
      return /^\\p/i.test(escaped[0]) ? CLASS : CHARACTER;
    }
    if ('*+?'.includes(char)) this.fail('a repeat of nothing');
    this.take(/[\s\S]/uy);
    return CHARACTER;
  }

  private group(depth: number): Subpattern {
    const open = this.take(/\((?:\?(?:[imsx-]*:|>|=|!|<=|<!|<[A-Za-z_]\w*>)|(?!\?))/y);
    if (!open) {
      if (this.take(/\(\?[imsx-]+\)/y)) return EMPTY;
      this.fail('an unknown kind of group');
    }
    const inner = either(this.alternatives(depth + 1).map(({ part }) => part));
    if (this.source[this.at] !== ')') this.fail('a missing bracket');
    this.at++;
    const looks = /[=!]$/.test(open[0]);
    // A lookaround can fail, and is tried at every place.
    return looks ? { ...inner, optional: false, steady: inner.stretches === 0 } : inner;
  }

  private characterClass(): Subpattern {
    const start = this.at;
    let open = 0;
    do {
      if (this.take(/\[\^?\]?/y)) open++;
      else if (this.take(/\]/y)) open--;
      else if (!this.take(/\\[\s\S]|[^\]\\[]/uy)) this.fail('a missing bracket');
    } while (open > 0);
    const text = this.source.slice(start, this.at);
    return /\\[pP]|\\u\{|[\u{10000}-\u{10ffff}]/u.test(text) ? CLASS : CHARACTER;
  }

  private quantified(part: Subpattern): Subpattern {
    let whole = part;
    for (let rounds = 0; ; rounds++) {
      const match = this.take(/([*+?])[+?]?|\{(\d{0,6})(,?)(\d{0,6})\}\??/y);
      if (!match || match[0] === '{}' || match[0] === '{,}') return whole;
      if (rounds > 1) this.fail('a repeat of a repeat');
      const [, sign, low, comma, high] = match;
      const min = sign ? (sign === '+' ? 1 : 0) : Number(low);
      const max = sign
        ? sign === '?'
          ? 1
          : Number.POSITIVE_INFINITY
        : comma === ''
          ? min
          : high === ''
            ? Number.POSITIVE_INFINITY
            : Number(high);
      whole = repeat(whole, min, max);
    }
  }
}
