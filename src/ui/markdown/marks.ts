// Finds in streaming Markdown what its parser does not know: math and footnotes. Each goes to the parser as one letter
// that no text has, which `markdown_nodes.ts` replaces by the mark. Text that only looked like a mark goes on as it was
// written. Pure.

export type Mark =
  | { kind: 'math'; tex: string; source: string; isDisplay: boolean }
  /** A reference to a footnote, and the label at the beginning of one. */
  | { kind: 'reference'; label: string }
  | { kind: 'footnote'; label: string };

export interface MarkListener {
  /** Takes text for the parser. */
  text(text: string): void;
  mark(mark: Mark): void;
  /** True where the parser reads marks: not in code and addresses. */
  readsMarks(): boolean;
}

const MAX_INLINE = 400;
const MAX_DISPLAY = 4000;
const LABEL = /^[\w-]{1,32}$/;
/** An amount of money between two dollars: "$5, or US$". */
const MONEY = /^\d[^\\^_={}+*/<>]*\s[^\\^_={}+*/<>]*$/;
const CLOSING = { $$: '$$', '\\(': '\\)', '\\[': '\\]' } as const;

export class MarkScanner {
  private held = '';
  private isLineStart = true;

  constructor(private readonly to: MarkListener) {}

  write(letter: string): void {
    const held = this.held + letter;
    if (this.held === '') this.begin(letter);
    else if (this.held === '\\') this.afterBackslash(held);
    else if (this.held === '$') this.afterDollar(letter);
    else if (this.held.startsWith('[')) this.inNote(held);
    else if (this.held.startsWith('$') && !this.held.startsWith('$$')) this.inDollars(letter);
    else this.inBlock(held);
  }

  /** Gives on what is held, as it was written. */
  flush(): void {
    const { held } = this;
    this.held = '';
    if (this.isClosedDollars(held)) this.math(held, 1, false);
    else if (held.startsWith('[^') && held.endsWith(']')) this.note(held, 'reference');
    else this.pass(held);
  }

  private begin(letter: string): void {
    if ((letter === '$' || letter === '\\' || letter === '[') && this.to.readsMarks()) this.held = letter;
    else this.passRaw(letter);
  }

  private afterBackslash(held: string): void {
    this.held = '';
    if (held === '\\(' || held === '\\[') this.held = held;
    else this.passRaw(held);
  }

  private afterDollar(letter: string): void {
    if (letter === '$' || !/\s/.test(letter)) this.held += letter;
    else this.giveUp(letter);
  }

  /** After one dollar and a letter: the text closes with a dollar after a letter and before no digit. */
  private inDollars(letter: string): void {
    if (this.isClosedDollars(this.held)) {
      const { held } = this;
      this.held = '';
      if (/\d/.test(letter) || MONEY.test(held.slice(1, -1))) this.passOver(held);
      else this.math(held, 1, false);
      this.write(letter);
    } else if (letter === '$' && /\s$/.test(this.held)) this.giveUp(letter);
    else if (letter === '\n' || this.held.length > MAX_INLINE) this.giveUp(letter);
    else this.held += letter;
  }

  private isClosedDollars(held: string): boolean {
    return held.length > 2 && /^\$[^$]/.test(held) && held.endsWith('$') && !held.endsWith('\\$');
  }

  /** Between the marks of display math, or of `\(`. */
  private inBlock(held: string): void {
    const open = held.slice(0, 2) as keyof typeof CLOSING;
    this.held = held;
    if (held.length >= 4 && held.endsWith(CLOSING[open]) && !held.endsWith(`\\${CLOSING[open]}`)) {
      this.held = '';
      if (held.slice(2, -2).trim() === '') this.pass(held);
      else this.math(held, 2, open !== '\\(');
    } else if (held.endsWith('\n\n') || held.length > (open === '\\(' ? MAX_INLINE : MAX_DISPLAY)) this.flush();
  }

  private inNote(held: string): void {
    if (this.held.endsWith(']')) {
      this.held = '';
      const isFootnote = held.endsWith(':') && this.isLineStart;
      this.note(held.slice(0, held.indexOf(']') + 1), isFootnote ? 'footnote' : 'reference');
      if (!isFootnote) this.write(held.slice(-1));
      return;
    }
    this.held = held;
    const label = held.slice(2, held.endsWith(']') ? -1 : undefined);
    const isPossible = held === '[^' || (held.startsWith('[^') && LABEL.test(label));
    if (!isPossible) this.giveUp('');
  }

  private note(held: string, kind: 'reference' | 'footnote'): void {
    this.to.mark({ kind, label: held.slice(2, -1) });
    this.isLineStart = false;
  }

  private math(source: string, edge: 1 | 2, isDisplay: boolean): void {
    this.to.mark({ kind: 'math', tex: source.slice(edge, -edge).trim(), source, isDisplay });
    this.isLineStart = false;
  }

  /** The held letters are no mark. The letter after them may begin one. */
  private giveUp(letter: string): void {
    const { held } = this;
    this.held = '';
    this.passOver(held);
    if (letter !== '') this.write(letter);
  }

  /** Gives on the first letter of what is held, and reads the others again: another mark may begin there. */
  private passOver(held: string): void {
    this.pass(held.slice(0, 1));
    for (const each of held.slice(1)) this.write(each);
  }

  /** Gives on text in which dollars and the backslashes of brackets are letters. */
  private pass(text: string): void {
    this.passRaw(text.length > 1 || text === '$' ? text.replace(/\$|\\(?=[([])/g, '\\$&') : text);
  }

  private passRaw(text: string): void {
    if (text === '') return;
    this.to.text(text);
    if (/\S/.test(text)) this.isLineStart = false;
    if (text.endsWith('\n')) this.isLineStart = true;
  }
}
