// Regular expressions of JavaScript (flag u) to a grammar: letters, classes, groups, alternatives, repetitions, and ^
// and $ around an alternative. No look-around, no back references, no \b, no \p.

import { why } from '../../shared/why';
import { choice, EMPTY, type Grammar, type Node, repeat, sequence } from '../grammar';
import { Fuel, MAX_DEPTH } from '../limits';
import { shown } from '../shown';
import { ALL, allBut, type CodePoints, type CodeRange, codePoints, utf8 } from './code_points';
import { Letters } from './letters';
import { repetition, Scanner } from './scanner';

/** `search`: the text holds a match somewhere, as RegExp.test finds it. `whole`: all of the text is a match. */
export type MatchMode = 'search' | 'whole';

/** The grammar of the texts that a regular expression matches as a whole. */
export function regexGrammar(source: string, fuel = new Fuel()): Grammar {
  return [{ name: 'the regular expression', node: parseRegex(source, new Letters(utf8, fuel), '', 'whole') }];
}

/** @param where the subschema of a pattern */
export function parseRegex(source: string, letters: Letters, where: string, mode: MatchMode): Node {
  const what = where === '' ? 'The regular expression' : why`The pattern of ${shown(where)}`;
  return new RegexParser(new Scanner(source, where, what), letters, mode).parse();
}

const one = (letter: string): CodeRange => [letter.codePointAt(0) ?? 0, letter.codePointAt(0) ?? 0];
const DIGITS = codePoints([[0x30, 0x39]]);
const WORD = codePoints([[0x30, 0x39], [0x41, 0x5a], one('_'), [0x61, 0x7a]]);
const LINE_ENDS = codePoints([one('\n'), one('\r'), [0x2028, 0x2029]]);
const SPACES = codePoints([
  [0x09, 0x0d],
  ...[0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff].map((code): CodeRange => [code, code]),
  [0x2000, 0x200a],
  [0x2028, 0x2029],
]);
const CLASSES: Readonly<Record<string, CodePoints>> = {
  d: DIGITS,
  D: allBut(DIGITS),
  w: WORD,
  W: allBut(WORD),
  s: SPACES,
  S: allBut(SPACES),
};
const ANY_LETTER = allBut(LINE_ENDS);
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

class RegexParser {
  private depth = 0;

  constructor(
    private readonly scanner: Scanner,
    private readonly letters: Letters,
    private readonly mode: MatchMode,
  ) {}

  parse(): Node {
    const anything = () => (this.mode === 'search' ? repeat(this.letters.of(ALL), 0, null) : EMPTY);
    const ways: Node[] = [];
    do {
      const before = this.scanner.eat('^') ? EMPTY : anything();
      const terms = this.terms();
      const after = this.scanner.eat('$') ? EMPTY : anything();
      ways.push(sequence(before, ...terms, after));
    } while (this.scanner.eat('|'));
    if (!this.scanner.isAtEnd) {
      this.scanner.fail(this.scanner.peek() === ')' ? why`has a ) without a (` : why`has something behind a $`);
    }
    return choice(...ways);
  }

  private terms(): Node[] {
    const terms: Node[] = [];
    while (!this.scanner.isAtEnd && !['|', ')', '$'].includes(this.scanner.peek())) {
      terms.push(this.repeated(this.atom()));
    }
    return terms;
  }

  private atom(): Node {
    const letter = this.scanner.take();
    if (letter === '(') return this.group();
    if (letter === '[') return this.letters.of(this.set());
    if (letter === '.') return this.letters.of(ANY_LETTER);
    if (letter === '\\') return this.letters.of(this.escape());
    if (letter === '^') this.scanner.fail(why`has a ^ that does not begin an alternative, which is not enforced here`);
    if ('*+?'.includes(letter)) this.scanner.fail(why`has a ${letter} with nothing to repeat`);
    return this.letters.of(codePoints([one(letter)]));
  }

  private group(): Node {
    const { scanner } = this;
    if (scanner.eat('?')) {
      const isNamed = scanner.peek() === '<' && !['=', '!'].includes(scanner.peek(1));
      if (isNamed) {
        scanner.takeWhile(/[^>]/);
        scanner.take();
      } else if (!scanner.eat(':')) scanner.fail(why`looks around with (?, which is not enforced here`);
    }
    if (++this.depth > MAX_DEPTH) scanner.fail(why`nests more than ${MAX_DEPTH} groups`);
    const ways: Node[] = [];
    do {
      ways.push(sequence(...this.terms()));
    } while (scanner.eat('|'));
    if (scanner.peek() === '$') scanner.fail(why`has a $ inside a group, which is not enforced here`);
    if (!scanner.eat(')')) scanner.fail(why`has a ( without a )`);
    this.depth--;
    return choice(...ways);
  }

  private repeated(node: Node): Node {
    const { scanner } = this;
    const bounds = repetition(scanner);
    if (bounds === null) return node;
    scanner.eat('?'); // as few as possible: the same texts
    if ('*+?'.includes(scanner.peek()) && !scanner.isAtEnd)
      scanner.fail(why`has a ${scanner.peek()} with nothing to repeat`);
    return repeat(node, bounds.min, bounds.max);
  }

  private set(): CodePoints {
    const { scanner } = this;
    const isNegated = scanner.eat('^');
    const ranges: CodeRange[] = [];
    while (!scanner.eat(']')) {
      if (scanner.isAtEnd) scanner.fail(why`has a [ without a ]`);
      const from = this.member();
      if (scanner.peek() !== '-' || scanner.peek(1) === ']') {
        ranges.push(...from);
        continue;
      }
      scanner.take();
      const to = this.member();
      const [[first] = [0], [last] = [0]] = [from[0], to[0]];
      if (!isSingle(from) || !isSingle(to) || first > last) scanner.fail(why`has a range in [] that does not ascend`);
      ranges.push([first, last]);
    }
    const set = codePoints(ranges);
    return isNegated ? allBut(set) : set;
  }

  private member(): CodePoints {
    const letter = this.scanner.take();
    if (letter === '\\') return this.scanner.eat('b') ? [one('\b')] : this.escape();
    return [one(letter)];
  }

  private escape(): CodePoints {
    const { scanner } = this;
    const letter = scanner.take();
    if (Object.hasOwn(CLASSES, letter)) return CLASSES[letter];
    if (Object.hasOwn(CONTROLS, letter)) return [one(CONTROLS[letter])];
    if (letter === '0' && !/^\d$/.test(scanner.peek())) return [[0, 0]];
    if (letter === 'x') return codePoints([twice(scanner.hex(2))]);
    if (letter === 'u') return codePoints([twice(this.unicode())]);
    if (letter === '' || /^[A-Za-z0-9]$/.test(letter))
      scanner.fail(why`has the escape \\${letter}, which is not enforced here`);
    return [one(letter)];
  }

  /** Behind `\u`: four digits, perhaps two halves of a pair, or any number of digits in braces. */
  private unicode(): number {
    const { scanner } = this;
    if (scanner.eat('{')) {
      const digits = scanner.takeWhile(/^[0-9a-fA-F]$/);
      const code = Number.parseInt(digits, 16);
      if (!scanner.eat('}') || !(code <= 0x10ffff)) scanner.fail(why`has an escape that is no code point`);
      return code;
    }
    const code = scanner.hex(4);
    if (code < 0xd800 || code > 0xdbff || !scanner.eat('\\u')) return code;
    return String.fromCharCode(code, scanner.hex(4)).codePointAt(0) ?? 0;
  }
}

const twice = (code: number): CodeRange => [code, code];
const isSingle = (set: CodePoints): boolean => set.length === 1 && set[0][0] === set[0][1];
