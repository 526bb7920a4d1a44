// Writes model text as DOM nodes while it streams. The model's text never becomes HTML (see markdown_nodes.ts), and the
// page stays responsive however much text comes at once: work beyond the budget of a frame moves to the next ones, and
// text too hard for the parser is written plainly.

import * as smd from 'streaming-markdown';
import type { FrameBudget, FrameWork } from './frame_budget';
import { MAX_DEPTH, MarkdownNodes } from './markdown_nodes';
import { MarkScanner } from './marks';

/** Letters between two looks at the clock. */
const STRIDE = 256;
/**
 * Letters that the parser may hold back. It compares all of them with each new letter, in quadratic time. The longest
 * that it needs to hold are addresses of links.
 */
const MAX_PENDING = 2048;
/** Nodes of one answer. Text beyond is plain. The longest real answers have a few thousand nodes. */
const MAX_NODES = 10_000;
const MAX_TABLE_CELLS = 3000;

/** The address of a link so far; with a bracket that was kept. */
const ADDRESS = /^\]\(\S*$/;
const KEPT_BRACKET = /^\]\(.*\)/;

/** Letters that stand for marks (markdown_nodes.ts). */
const OURS = /[\ufdd0-\ufdef]/;

const OPAQUE = new Set<number>([smd.CODE_INLINE, smd.CODE_BLOCK, smd.CODE_FENCE, smd.IMAGE, smd.RAW_URL]);

/** True where the parser reads marks: not in code, addresses and texts of images. */
function readsMarks({ token, tokens, len, pending, indent_len }: smd.Parser): boolean {
  const indent = indent_len + (pending === ' ' ? 1 : pending === '\t' ? 4 : 0);
  if (token === smd.DOCUMENT && indent >= 4) return false;
  if (OPAQUE.has(token) || OPAQUE.has(tokens[len] ?? 0) || pending.startsWith('`')) return false;
  return !(token === smd.LINK && pending.startsWith(']'));
}

/** Writes Markdown into one element, piece by piece. */
export class MarkdownWriter implements FrameWork {
  private readonly nodes: MarkdownNodes;
  private readonly marks: MarkScanner;
  private parser: smd.Parser;
  /** Text that is not written yet, from index `at` on. */
  private waiting = '';
  private at = 0;
  private isEnding = false;
  /** Extent of text written without parsing: none, to the end of its line, or all the rest. */
  private plain: '' | 'line' | 'rest' = '';

  /** @param onEnd called once the end is written */
  constructor(
    root: HTMLElement,
    private readonly budget: FrameBudget,
    private readonly onEnd: () => void = () => {},
  ) {
    this.nodes = new MarkdownNodes(
      root,
      () => this.parser.pending,
      (colors) => budget.run(colors),
    );
    this.parser = smd.parser(this.nodes.renderer);
    this.marks = new MarkScanner({
      text: (text) => this.feed(text),
      mark: (mark) => this.feed(this.nodes.letterFor(mark)),
      readsMarks: () => !this.plain && readsMarks(this.parser),
    });
  }

  write(text: string): void {
    this.waiting = this.waiting.slice(this.at) + text;
    this.at = 0;
    this.budget.run(this);
  }

  /** Ends the answer, and shows text held back as possible markup. */
  end(): void {
    this.isEnding = true;
    this.budget.run(this);
  }

  /** Writes nothing more: the element holds something else. */
  stop(): void {
    this.waiting = '';
    this.isEnding = false;
  }

  /** Writes until all is written (true), or until `spend` returns false for a full frame. */
  step(spend: (cost: number) => boolean): boolean {
    while (this.at < this.waiting.length) {
      const { cost } = this.nodes;
      this.writeStride();
      if (!spend(this.nodes.cost - cost) && this.at < this.waiting.length) return false;
    }
    this.waiting = '';
    this.at = 0;
    if (!this.isEnding) return true;
    this.marks.flush();
    if (!this.plain) {
      this.parse('');
      smd.parser_end(this.parser);
    }
    this.nodes.closeAll();
    this.isEnding = false;
    this.onEnd();
    return true;
  }

  private writeStride(): void {
    const end = Math.min(this.at + STRIDE, this.waiting.length);
    while (this.at < end) {
      if (this.plain) {
        this.writePlainly(end);
        continue;
      }
      const letter = String.fromCodePoint(this.waiting.codePointAt(this.at)!);
      this.at += letter.length;
      this.marks.write(OURS.test(letter) ? '\ufffd' : letter);
    }
    this.nodes.flush();
  }

  private feed(text: string): void {
    for (const letter of text) {
      if (!this.plain) this.feedLetter(letter);
      else if (letter === '\n' && this.plain === 'line') this.parseAgain();
      else this.nodes.addText(letter);
    }
  }

  /** Gives one letter to the parser, so that a limit is exceeded by one letter at most. */
  private feedLetter(letter: string): void {
    const underHead = letter === '\n' && this.parser.table_state === 1 ? this.parser.pending : null;
    this.parse(letter);
    if (underHead !== null && this.parser.table_state === 2) this.nodes.alignColumns(underHead);
    const { len, pending, indent_len } = this.parser;
    const { count, cells } = this.nodes;
    if (count > MAX_NODES) this.giveUp('rest');
    else if (len > MAX_DEPTH || pending.length + indent_len > MAX_PENDING || cells > MAX_TABLE_CELLS)
      this.giveUp('line');
  }

  /**
   * Gives a letter to the parser, which ends an address at its first bracket. One that closes a bracket of the address
   * is kept. If white space or the end comes instead of the last bracket, the kept one ends the address.
   */
  private parse(letter: string): void {
    const { parser } = this;
    const { pending } = parser;
    if (letter === ')' && ADDRESS.test(pending) && pending.split('(').length > pending.split(')').length + 1) {
      parser.pending += letter;
      return;
    }
    const end = letter <= ' ' && KEPT_BRACKET.test(pending) ? pending.lastIndexOf(')') : pending.length;
    parser.pending = pending.slice(0, end);
    smd.parser_write(parser, pending.slice(end) + letter);
  }

  private giveUp(plain: 'line' | 'rest'): void {
    const { pending, indent, token } = this.parser;
    this.nodes.openPlain();
    if (token !== smd.RAW_URL) this.nodes.addText(indent + pending); // the parser has shown the address already
    this.plain = plain;
  }

  private writePlainly(end: number): void {
    this.marks.flush();
    if (!this.plain) return;
    const newline = this.plain === 'line' ? this.waiting.indexOf('\n', this.at) : -1;
    const stop = newline >= 0 && newline < end ? newline : end;
    this.nodes.addText(this.waiting.slice(this.at, stop));
    this.at = stop;
    if (stop !== newline) return;
    this.at += 1;
    this.parseAgain();
  }

  private parseAgain(): void {
    this.plain = '';
    this.nodes.closeAll();
    this.parser = smd.parser(this.nodes.renderer);
  }
}
