// GBNF, the grammars of llama.cpp: rules such as `root ::= "yes" | [0-9]+`. Without its tokens in <>.

import { ConstraintError } from '../../errors';
import { call, choice, type Grammar, literal, type Node, repeat, sequence } from '../grammar';
import { Fuel, MAX_DEPTH } from '../limits';
import { RuleBook } from '../rule_book';
import { shown } from '../shown';
import { ALL, allBut, type CodeRange, codePoints, utf8 } from './code_points';
import { Letters } from './letters';
import { repetition, Scanner } from './scanner';

/** @throws ConstraintError for malformed text, and for a rule that is missing or defined twice */
export function gbnfGrammar(source: string, fuel = new Fuel()): Grammar {
  return new GbnfParser(source, fuel).parse();
}

const NAME = /^[A-Za-z0-9_-]$/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

class GbnfParser {
  private readonly scanner: Scanner;
  private readonly book: RuleBook;
  private readonly letters: Letters;
  /** The numbers of the rules that were named so far. */
  private readonly rules = new Map<string, number>();
  private readonly defined = new Set<string>();
  private depth = 0;

  constructor(source: string, fuel: Fuel) {
    this.book = new RuleBook(fuel);
    this.letters = new Letters(utf8, fuel);
    this.scanner = new Scanner(source, '', 'The grammar');
    this.ruleOf('root');
  }

  parse(): Grammar {
    this.toNextText();
    while (!this.scanner.isAtEnd) this.definition();
    for (const name of this.rules.keys()) {
      if (!this.defined.has(name)) throw new ConstraintError(name, `The grammar has no rule ${shown(name)}.`);
    }
    return this.book.grammar();
  }

  private definition(): void {
    const { scanner } = this;
    const name = this.name();
    this.toEndOfLine();
    if (!scanner.eat('::=')) scanner.fail(`has no ::= behind "${name}"`);
    if (this.defined.has(name)) scanner.fail(`has two rules "${name}"`);
    this.defined.add(name);
    this.toNextText();
    this.book.define(this.ruleOf(name), this.alternatives(false));
    if (!scanner.isAtEnd && scanner.peek() !== '\n')
      scanner.fail(`does not understand ${JSON.stringify(scanner.peek())}`);
    this.toNextText();
  }

  private name(): string {
    const name = this.scanner.takeWhile(NAME);
    if (name === '') this.scanner.fail('has no name of a rule where one has to be');
    return name.slice(0, 200);
  }

  private ruleOf(name: string): number {
    const rule = this.rules.get(name) ?? this.book.reserve(name);
    this.rules.set(name, rule);
    return rule;
  }

  /** Passes spaces and comments up to the end of the line. */
  private toEndOfLine(): void {
    this.skip(/^[ \t\r]$/);
  }

  /** Passes spaces, comments and ends of lines. */
  private toNextText(): void {
    this.skip(/^\s$/);
  }

  /** A rule ends with its line, but not inside of parentheses. */
  private passSpace(isInside: boolean): void {
    if (isInside) this.toNextText();
    else this.toEndOfLine();
  }

  private skip(space: RegExp): void {
    const { scanner } = this;
    for (;;) {
      scanner.takeWhile(space);
      if (scanner.peek() !== '#') return;
      scanner.takeWhile(/^[^\n]$/);
    }
  }

  /** @param isInside parentheses, where lines may end */
  private alternatives(isInside: boolean): Node {
    const ways: Node[] = [];
    do {
      this.toNextText();
      ways.push(this.terms(isInside));
    } while (this.scanner.eat('|'));
    return choice(...ways);
  }

  private terms(isInside: boolean): Node {
    const terms: Node[] = [];
    for (let term = this.term(); term !== null; term = this.term()) {
      this.passSpace(isInside);
      terms.push(this.repeated(term, isInside));
    }
    return sequence(...terms);
  }

  private repeated(term: Node, isInside: boolean): Node {
    const { scanner } = this;
    let node = term;
    for (let times = 0; ; times++) {
      const bounds = repetition(scanner);
      if (bounds === null) return node;
      if (times >= MAX_DEPTH) scanner.fail(`repeats a repetition more than ${MAX_DEPTH} times`);
      node = repeat(node, bounds.min, bounds.max);
      this.passSpace(isInside);
    }
  }

  /** Null where none follows. */
  private term(): Node | null {
    const { scanner } = this;
    if (scanner.eat('"')) return this.text();
    if (scanner.eat('[')) return this.set();
    if (scanner.eat('.')) return this.letters.of(ALL);
    if (scanner.eat('(')) return this.group();
    return NAME.test(scanner.peek()) ? call(this.ruleOf(this.name())) : null;
  }

  private group(): Node {
    if (++this.depth > MAX_DEPTH) this.scanner.fail(`nests more than ${MAX_DEPTH} parentheses`);
    const node = this.alternatives(true);
    if (!this.scanner.eat(')')) this.scanner.fail('has a ( without a )');
    this.depth--;
    return node;
  }

  private text(): Node {
    const letters: string[] = [];
    while (!this.scanner.eat('"')) letters.push(String.fromCodePoint(this.letter('a " without its end')));
    return literal(letters.join(''));
  }

  private set(): Node {
    const { scanner } = this;
    const isNegated = scanner.eat('^');
    const ranges: CodeRange[] = [];
    while (!scanner.eat(']')) {
      const first = this.letter('a [ without a ]');
      const isRange = scanner.peek() === '-' && scanner.peek(1) !== ']';
      if (isRange) scanner.take();
      const last = isRange ? this.letter('a [ without a ]') : first;
      if (last < first) scanner.fail('has a range in [] that does not ascend');
      ranges.push([first, last]);
    }
    const set = codePoints(ranges);
    return this.letters.of(isNegated ? allBut(set) : set);
  }

  /** @param unended what to say at the end of the text */
  private letter(unended: string): number {
    const { scanner } = this;
    if (scanner.isAtEnd || scanner.peek() === '\n') scanner.fail(`has ${unended}`);
    if (!scanner.eat('\\')) return codeOf(scanner.take());
    const letter = scanner.take();
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : null;
    if (digits !== null) {
      const code = scanner.hex(digits);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) scanner.fail('has an escape that is no code point');
      return code;
    }
    if (Object.hasOwn(ESCAPES, letter)) return codeOf(ESCAPES[letter]);
    if (!['\\', '"', '[', ']'].includes(letter)) scanner.fail(`has the unknown escape \\${letter}`);
    return codeOf(letter);
  }
}

const codeOf = (letter: string): number => letter.codePointAt(0) ?? 0;
