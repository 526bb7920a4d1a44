// Regular expressions of tokenizer.json -> JavaScript's. The reference runs them with Oniguruma, whose shorthands are Unicode,
// whose ^ and $ are lines, and whose classes nest; JavaScript's classes do so under the flag v. Where there is no counterpart
// (conditions, look-behind of its own kind) the expression is refused by JavaScript's compiler.

const WORD_IN_CLASS = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';
const WORD = `[${WORD_IN_CLASS}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be]`; // outside a class, these count as well
const HEX = '0-9A-Fa-f';
const edge = (inside: string, outside: string) =>
  `(?:(?<${inside}${WORD})(?${outside}${WORD})|(?<${outside}${WORD})(?${inside}${WORD}))`;

/** Shorthands whose meaning differs, as they are written in JavaScript outside a class. */
const SHORTHANDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    A: '(?<![\\s\\S])',
    z: '(?![\\s\\S])',
    Z: '(?=\\n?(?![\\s\\S]))',
    G: '',
    b: edge('=', '!'),
    B: `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
    w: WORD,
    W: `[^${WORD.slice(1)}`,
    h: `[${HEX}]`,
    H: `[^${HEX}]`,
    d: '\\p{Nd}',
    D: '\\P{Nd}',
    s: '\\p{White_Space}',
    S: '\\P{White_Space}',
    a: '\\x07',
    e: '\\x1b',
  }),
);

/** [:name:] */
const POSIX: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alpha: '\\p{Alphabetic}',
    alnum: '\\p{Alphabetic}\\p{Nd}',
    digit: '\\p{Nd}',
    lower: '\\p{Lowercase}',
    upper: '\\p{Uppercase}',
    space: '\\p{White_Space}',
    blank: '\\t\\p{Zs}',
    punct: '\\p{P}\\p{S}',
    cntrl: '\\p{Cc}',
    word: WORD_IN_CLASS,
    xdigit: HEX,
  }),
);

const GROUP = /\((?:\?(?:<[=!]|<[A-Za-z_]\w*>|[:=!>]|i:|i\)))?/y;
const QUANTIFIER = /(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})/y;
const ESCAPE =
  /\\(?:(?<kind>[pP])\{(?<not>\^?)(?<property>[^}]*)\}|(?:x\{(?<braced>[^}]*)\}|x(?<hex>[\dA-Fa-f]{2})|u(?<unit>[\dA-Fa-f]{4}))|(?<letter>[\s\S]))/uy;
const MAX_DEPTH = 200;

/** @throws SyntaxError for an expression that JavaScript cannot run */
export function compileReferenceRegex(source: string): RegExp {
  return new RegExp(new Translator(source).translate(), 'gv');
}

class Translator {
  private at = 0;

  constructor(private readonly source: string) {}

  translate(): string {
    const pattern = this.sequence(false, 0);
    if (this.at < this.source.length) this.refuse('an unmatched )');
    return pattern;
  }

  private refuse(what: string): never {
    throw new SyntaxError(`${what} at ${this.at} in the expression ${this.source.slice(0, 200)}`);
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private skip(text: string): boolean {
    const seen = this.source.startsWith(text, this.at);
    if (seen) this.at += text.length;
    return seen;
  }

  private character(): string {
    const character = String.fromCodePoint(this.source.codePointAt(this.at) ?? 0);
    this.at += character.length;
    return character;
  }

  /** Up to the end or a closing bracket. `fold`: letters of ASCII stand for both cases. */
  private sequence(fold: boolean, depth: number): string {
    if (depth > MAX_DEPTH) this.refuse(`more than ${MAX_DEPTH} groups or classes inside one another`);
    const parts: string[] = []; // one quantifiable piece each
    while (this.at < this.source.length && this.source[this.at] !== ')') {
      const quantifier = parts.length > 0 && parts.at(-1) !== '|' ? this.match(QUANTIFIER)?.[0] : undefined;
      if (quantifier) parts.push(this.quantified(parts.pop() ?? '', quantifier.replace('{,', '{0,')));
      else if (this.skip('|')) parts.push('|');
      else if (this.skip('[')) parts.push(this.class(fold, depth + 1));
      else if (this.skip('.')) parts.push('[^\\n]');
      else if (this.skip('^')) parts.push('(?<![^\\n])');
      else if (this.skip('$')) parts.push('(?![^\\n])');
      else if (this.source[this.at] === '\\') parts.push(this.escape(false, fold));
      else if (this.source[this.at] === '(') {
        const opening = this.match(GROUP)?.[0] ?? '';
        if (opening === '(?i)') return parts.join('') + this.sequence(true, depth + 1);
        const inner = this.sequence(fold || opening === '(?i:', depth + 1);
        if (!this.skip(')')) this.refuse('a group without an end');
        // An atomic group differs from a plain one only where the expression would have to step back into it.
        parts.push(`${opening === '(?i:' || opening === '(?>' ? '(?:' : opening}${inner})`);
      } else if (this.skip('*') || this.skip('+') || this.skip('?')) this.refuse('nothing to repeat');
      else parts.push(literal(this.character(), fold));
    }
    return parts.join('');
  }

  /** Lazy as in JavaScript; possessive is taken as greedy; of an interval, + repeats it. */
  private quantified(part: string, quantifier: string): string {
    const interval = quantifier.startsWith('{');
    if (this.skip('?')) return `${part}${quantifier}?`;
    if (!this.skip('+')) return part + quantifier;
    return interval ? `(?:${part}${quantifier})+` : part + quantifier;
  }

  /** The character or set that an escape stands for. */
  private escape(inClass: boolean, fold: boolean): string {
    const { kind, not, property, braced, hex, unit, letter } = this.match(ESCAPE)?.groups ?? {};
    if (kind) {
      const set = propertySet(property);
      return (kind === 'P') === (not === '') ? `[^${set}]` : `[${set}]`;
    }
    const code = braced ?? hex ?? unit;
    if (code !== undefined) return literal(String.fromCodePoint(Number.parseInt(code, 16)), fold, inClass);
    if (letter === undefined) return this.refuse('a lone backslash');
    if (inClass && letter === 'w') return WORD_IN_CLASS;
    if (inClass && letter === 'W') return `[^${WORD_IN_CLASS}]`;
    if (inClass && letter === 'b') return '\\b';
    const shorthand = SHORTHANDS.get(letter);
    if (shorthand !== undefined) return shorthand;
    return /[A-Za-z0-9]/.test(letter) ? `\\${letter}` : literal(letter, fold, inClass);
  }

  /** The rest of a class after its [, as a class of JavaScript's under the flag v. */
  private class(fold: boolean, depth: number): string {
    if (depth > MAX_DEPTH) this.refuse(`more than ${MAX_DEPTH} groups or classes inside one another`);
    const negated = this.skip('^');
    const operands = [''];
    for (let first = true; ; first = false) {
      if (this.at >= this.source.length) this.refuse('a class without an end');
      if (!first && this.skip(']')) break;
      if (this.skip('&&')) operands.push('');
      else operands.push((operands.pop() ?? '') + this.member(fold, depth));
    }
    if (operands.includes('')) this.refuse('an empty class');
    const inner = operands.length === 1 ? operands[0] : operands.map((operand) => `[${operand}]`).join('&&');
    return negated ? `[^${inner}]` : `[${inner}]`;
  }

  /** A character, a range, a shorthand or a class inside a class. */
  private member(fold: boolean, depth: number): string {
    const posix = this.match(/\[:(\^?)(\w+):\]/y);
    if (posix) {
      const set = POSIX.get(posix[2]);
      if (!set) return this.refuse(`the unknown class ${posix[0]}`);
      return posix[1] ? `[^${set}]` : set;
    }
    if (this.skip('[')) return this.class(fold, depth + 1);
    const low = this.single();
    const ranged =
      this.source[this.at] === '-' && this.source[this.at + 1] !== ']' && !this.source.startsWith('-&&', this.at);
    if (!ranged || low.length > 8 || /^(?:\[|\\[pP])/.test(low)) return fold ? bothCases(low) : low;
    this.at++;
    const range = `${low}-${this.single()}`;
    return fold ? bothCases(range) : range;
  }

  private single(): string {
    return this.source[this.at] === '\\' ? this.escape(true, false) : literal(this.character(), false, true);
  }
}

/** A character that stands for itself; what could mean something is written as its number. */
function literal(character: string, fold: boolean, inClass = false): string {
  if (fold && /^[A-Za-z]$/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
  if (/^[\w\u00a0-\u{10ffff}]$/u.test(character)) return character;
  if (!inClass && /^[ '"!#%&,:;<=>@`~]$/.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A letter of ASCII, or a range of them, with its other case. */
function bothCases(member: string): string {
  return /^(?:[A-Z](?:-[A-Z])?|[a-z](?:-[a-z])?)$/.test(member) ? member.toLowerCase() + member.toUpperCase() : member;
}

/** \p{Name} is a property, or the name of a script or of a POSIX class. */
function propertySet(name: string): string {
  for (const set of [`\\p{${name}}`, `\\p{Script=${name}}`]) {
    try {
      new RegExp(set, 'v');
      return set;
    } catch {
      // the next one
    }
  }
  const set = POSIX.get(name.toLowerCase());
  if (!set) throw new SyntaxError(`the unknown property ${name} in an expression`);
  return set;
}
