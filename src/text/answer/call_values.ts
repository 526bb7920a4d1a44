// Reads the values of arguments in the notations that models use: JSON, Python, and texts between markers of their own.

import { MARK, SpelledNumber, withoutMarks } from '../spelled_json';

const MAX_LEVELS = 32;
const ESCAPE = /\\(?:u([\da-fA-F]{4})|(.))/sy;
const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
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
      ESCAPE.lastIndex = at;
      const [escaped, code, sign] = (quote.length === 1 && ESCAPE.exec(text)) || [];
      if (escaped === undefined) out += text[at];
      else if (code !== undefined) out += String.fromCharCode(Number.parseInt(code, 16));
      else out += LETTERS[sign] ?? (/['"\\]/.test(sign) ? sign : escaped);
      at += (escaped?.length ?? 1) - 1;
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

/** The JSON text of a value of `parseSpelled`. */
export function stringifySpelled(value: unknown): string {
  let isMarked = false;
  const json = JSON.stringify(value, (_, item) => {
    if (!(item instanceof SpelledNumber)) return item;
    isMarked = true;
    return MARK + item.text;
  });
  return isMarked ? withoutMarks(json) : json;
}
