// Reads a text letter by letter, for the parsers of regular expressions and grammars.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import { MAX_TEXT } from '../limits';

const HEX = /^[0-9a-fA-F]+$/;

export class Scanner {
  private readonly letters: readonly string[];
  private at = 0;

  /** @param what names the text in messages: `the pattern of "#/properties/a"` */
  constructor(
    text: string,
    private readonly where: string,
    private readonly what: string,
  ) {
    if (text.length > MAX_TEXT) {
      throw new ConstraintError(where, why`${what} is longer than ${MAX_TEXT} letters. Use a shorter one.`);
    }
    this.letters = [...text];
  }

  get isAtEnd(): boolean {
    return this.at >= this.letters.length;
  }

  /** The next letter, or the one `ahead` of it; empty behind the end. */
  peek(ahead = 0): string {
    return this.letters[this.at + ahead] ?? '';
  }

  take(): string {
    const letter = this.peek();
    this.at++;
    return letter;
  }

  /** Takes this text if it comes next. */
  eat(text: string): boolean {
    const wanted = [...text];
    if (!wanted.every((letter, i) => this.peek(i) === letter)) return false;
    this.at += wanted.length;
    return true;
  }

  /** Takes all letters that fit, one by one. */
  takeWhile(fits: RegExp): string {
    let taken = '';
    while (!this.isAtEnd && fits.test(this.peek())) taken += this.take();
    return taken;
  }

  /** The number of so many hexadecimal digits. */
  hex(digits: number): number {
    const text = Array.from({ length: digits }, () => this.take()).join('');
    if (!HEX.test(text) || text.length !== digits) this.fail(why`has an escape without ${digits} hexadecimal digits`);
    return Number.parseInt(text, 16);
  }

  /** @param problem goes on after "it": `has no ...` */
  fail(problem: string): never {
    throw new ConstraintError(this.where, why`${this.what} cannot be used: it ${problem} (at letter ${this.at + 1}).`);
  }
}

/** Most repetitions that a text may ask for by number. */
const MAX_REPEAT = 0xffff;

interface Repetition {
  min: number;
  /** Null without a bound. */
  max: number | null;
}

/** `*`, `+`, `?`, or bounds in braces. Null, with nothing taken, where none follows. */
export function repetition(scanner: Scanner): Repetition | null {
  if (scanner.eat('*')) return { min: 0, max: null };
  if (scanner.eat('+')) return { min: 1, max: null };
  if (scanner.eat('?')) return { min: 0, max: 1 };
  return bounds(scanner);
}

/** `{2}`, `{2,}`, `{2,5}` or `{,5}`. Null, with nothing taken, where none follows. */
function bounds(scanner: Scanner): Repetition | null {
  let text = '';
  while (/^[0-9, ]$/.test(scanner.peek(text.length + 1)) && text.length < 20) text += scanner.peek(text.length + 1);
  const match =
    scanner.peek() === '{' && scanner.peek(text.length + 1) === '}' && /^ *(\d*) *(,?) *(\d*) *$/.exec(text);
  if (!match || (match[1] === '' && match[3] === '')) return null;
  scanner.eat(`{${text}}`);
  const min = Number(match[1] || 0);
  const max = match[2] === '' ? min : match[3] === '' ? null : Number(match[3]);
  if (min > MAX_REPEAT || (max ?? 0) > MAX_REPEAT) scanner.fail(why`repeats more than ${MAX_REPEAT} times`);
  if (max !== null && max < min) scanner.fail(why`repeats at least as often as it may not`);
  return { min, max };
}
