// Finds the end of a value in brackets, and reads values in the notations that models use: JSON, Python, and texts
// between markers of their own.

const MAX_LEVELS = 32;

/** Follows brackets and quotes over pieces of a text. */
export class ValueScanner {
  private depth = 0;
  private quote = '';
  private isEscaped = false;

  constructor(private readonly quotes: readonly string[]) {}

  /** True once the bracket that began the value is closed. */
  isDone = false;

  /** Reads on and returns the number of units read: all, or up to the value's end or a possible quote. */
  read(text: string): number {
    for (let at = 0; at < text.length; at++) {
      const unit = text[at];
      if (this.quote === '' ? this.quotes.some((quote) => isBegun(quote, text, at)) : isBegun(this.quote, text, at)) {
        return at;
      }
      if (this.isEscaped) this.isEscaped = false;
      else if (this.quote !== '') {
        if (unit === '\\' && this.quote.length === 1) this.isEscaped = true;
        else if (text.startsWith(this.quote, at)) {
          at += this.quote.length - 1;
          this.quote = '';
        }
      } else if ('{[('.includes(unit)) this.depth++;
      else if ('}])'.includes(unit)) {
        if (--this.depth <= 0) {
          this.isDone = true;
          return at + 1;
        }
      } else {
        const opened = this.quotes.find((quote) => text.startsWith(quote, at));
        if (opened === undefined) continue;
        this.quote = opened;
        at += opened.length - 1;
      }
    }
    return text.length;
  }
}

/** True if the text ends in the middle of the quote. */
function isBegun(quote: string, text: string, at: number): boolean {
  return text.length - at < quote.length && quote.startsWith(text.slice(at));
}

const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null', '': 'null' };

/**
 * The JSON text of a value or, with `isTop`, of the pairs in the outermost brackets. `k='v', n=7` and
 * `{k:<|"|>v<|"|>}` are such pairs. Null if the text is no value.
 */
export function toJson(text: string, quotes: readonly string[], isTop: boolean): string | null {
  let at = 0;
  const skip = () => {
    while (/\s/.test(text[at] ?? '')) at++;
  };
  const quoted = (): string | null => {
    const quote = quotes.find((one) => text.startsWith(one, at));
    if (quote === undefined) return null;
    let out = '';
    for (at += quote.length; !text.startsWith(quote, at); at++) {
      if (at >= text.length) throw new SyntaxError();
      const escaped = text[at] === '\\' && quote.length === 1 ? text[++at] : null;
      const plain = escaped === null ? text[at] : escaped;
      out +=
        escaped === null
          ? plain
          : ({ n: '\n', t: '\t', r: '\r' }[plain] ?? (/['"\\]/.test(plain) ? plain : `\\${plain}`));
    }
    at += quote.length;
    return JSON.stringify(out);
  };
  /** Text up to one of the units. */
  const bare = (ends: RegExp): string => {
    const from = at;
    while (at < text.length && !ends.test(text[at])) at++;
    return text.slice(from, at).trim();
  };
  const value = (level: number): string => {
    skip();
    if (level > MAX_LEVELS) throw new SyntaxError();
    if (text[at] === '{') return items('}', true, level);
    if (text[at] === '[' || text[at] === '(') return items(text[at] === '[' ? ']' : ')', false, level);
    const string = quoted();
    if (string !== null) return string;
    const word = bare(/[,\]})]/);
    const json = WORDS[word] ?? word;
    return isJson(json) ? json : JSON.stringify(word);
  };
  const items = (end: string, isPairs: boolean, level: number): string => {
    const parts: string[] = [];
    at++;
    for (skip(); text[at] !== end; skip()) {
      let key = '';
      if (isPairs) {
        key = `${quoted() ?? JSON.stringify(bare(/[:=]/))}: `;
        skip();
        if (!/[:=]/.test(text[at++] ?? '')) throw new SyntaxError();
      }
      parts.push(key + value(level + 1));
      skip();
      if (text[at] === ',') at++;
      else if (text[at] !== end) throw new SyntaxError();
    }
    at++;
    return isPairs ? `{${parts.join(', ')}}` : `[${parts.join(', ')}]`;
  };
  try {
    const json = isTop ? items(text.at(-1)!, true, 0) : value(0);
    skip();
    return at === text.length ? json : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** True for the text of a JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
