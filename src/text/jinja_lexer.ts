// Chat template -> tokens. Jinja as transformers sets it up: trim_blocks, lstrip_blocks, one newline at the end dropped.

import { ChatTemplateError } from '../errors';

export interface Token {
  /** `mark` is an operator, a bracket or a delimiter such as `{%`. */
  readonly kind: 'text' | 'name' | 'string' | 'number' | 'mark' | 'end';
  /** Of a string its value, escapes resolved. */
  readonly text: string;
}

const OPENING = /\{[{%#]/g;
const INSIDE =
  /\s+|(?<name>[A-Za-z_]\w*)|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<string>'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*")|(?<mark>\*\*|\/\/|[=!<>]=|[-+*/%~()[\]{}.,:|<>=])/y;
const ESCAPES = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(\n)|([abfnrtv\\'"]))/g;
const CONTROLS = new Map(Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }));

export function tokenize(template: string): Token[] {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    OPENING.lastIndex = at;
    const opening = OPENING.exec(source);
    const end = opening?.index ?? source.length;
    const text = opening ? beforeTag(source, at, end, opening[0]) : source.slice(at);
    if (text !== '') tokens.push({ kind: 'text', text });
    if (!opening) break;
    at = end + 2;
    if (/[-+]/.test(source[at] ?? '')) at++;
    const close = opening[0] === '{#' ? comment(source, at) : readTag(source, at, opening[0], tokens);
    at = afterTag(source, close, opening[0]);
  }
  tokens.push({ kind: 'end', text: 'the end' });
  return tokens;
}

/** The text before a tag: `-` takes all white space off its end; a block alone on its line loses its indentation. */
function beforeTag(source: string, from: number, end: number, opening: string): string {
  const text = source.slice(from, end);
  const sign = source[end + 2];
  if (sign === '-') return text.trimEnd();
  const line = text.lastIndexOf('\n') + 1;
  const starts = line > 0 || from === 0 || source[from - 1] === '\n';
  const indented = opening !== '{{' && sign !== '+' && starts && text.slice(line).trim() === '';
  return indented ? text.slice(0, line) : text;
}

/** Where text goes on after a tag that closes at `close`: `-` skips white space, and a newline after a block belongs to it. */
function afterTag(source: string, close: number, opening: string): number {
  const signed = /[-+]/.test(source[close]);
  let at = close + (signed ? 3 : 2);
  if (source[close] === '-') at += source.slice(at).search(/\S|$/);
  else if (!signed && opening !== '{{' && source[at] === '\n') at++;
  return at;
}

function comment(source: string, from: number): number {
  const end = source.indexOf('#}', from);
  if (end < 0) throw new ChatTemplateError('The chat template has a comment without an end.');
  return /[-+]/.test(source[end - 1]) && end > from ? end - 1 : end;
}

/** Adds the tokens of one `{{ }}` or `{% %}`; answers where its closing delimiter starts. */
function readTag(source: string, from: number, opening: string, tokens: Token[]): number {
  const closing = opening === '{{' ? /[-]?\}\}/y : /[-+]?%\}/y;
  tokens.push({ kind: 'mark', text: opening });
  let open = 0; // braces of a mapping: `}}` inside it is no end
  for (let at = from; ; ) {
    closing.lastIndex = at;
    const end = open === 0 ? closing.exec(source) : null;
    if (end) {
      tokens.push({ kind: 'mark', text: end[0].slice(-2) });
      return at;
    }
    INSIDE.lastIndex = at;
    const found = INSIDE.exec(source);
    if (!found) {
      const what = at < source.length ? `the character ${JSON.stringify(source[at])}` : 'no end';
      throw new ChatTemplateError(`The chat template has a tag with ${what} at character ${at}.`);
    }
    at = INSIDE.lastIndex;
    const { name, number, string, mark } = found.groups as Record<string, string | undefined>;
    if (name) tokens.push({ kind: 'name', text: name });
    else if (number) tokens.push({ kind: 'number', text: number });
    else if (string) tokens.push({ kind: 'string', text: resolveEscapes(string.slice(1, -1)) });
    else if (mark) {
      if (mark === '{') open++;
      if (mark === '}') open--;
      tokens.push({ kind: 'mark', text: mark });
    }
  }
}

/** Python's escapes; an unknown one stays as it is, backslash and all. */
function resolveEscapes(text: string): string {
  return text.replace(ESCAPES, (_, x?: string, u?: string, U?: string, newline?: string, letter?: string) => {
    const hex = x ?? u ?? U;
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    return newline ? '' : (CONTROLS.get(letter ?? '') ?? letter ?? '');
  });
}
