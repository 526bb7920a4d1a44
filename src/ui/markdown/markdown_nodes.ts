// The nodes of one answer. Their names come from a fixed list, and no attribute except a safe href comes from the
// model: no HTML is parsed, nothing is fetched, and a link leads to a web page, a mail address or nowhere. Trees stay
// shallow, rows narrow, and the text of a block comes in runs of bounded length, because a browser repeats the layout
// of the element that it appends to.

import * as smd from 'streaming-markdown';
import { words } from '../../words/words';
import { type CodeBlock, createCodeBlock } from './code_block';
import type { CodeColors, ColorRoom } from './code_colors';
import { Footnotes } from './footnotes';
import { safeHref, visibleText, wholeLetters } from './markdown_text';
import type { Mark } from './marks';
import { createFormula } from './math_nodes';

/** Also a limit for the parser, whose own tables end at 24. */
export const MAX_DEPTH = 20;
const MAX_COLUMNS = 60;
/** Colored pieces of code in one answer. The rest of its code is plain. */
const MAX_COLORED = 12_000;
/**
 * Cells of one table. Later rows go into another table, because each new row makes a browser lay out the whole table.
 */
const MAX_PART_CELLS = 500;
const MAX_HEAD_COST = 4000;
const RUN_LETTERS = 8000;
/** Letters up to which lines of code stay whole. */
const MAX_RUN_LETTERS = 4 * RUN_LETTERS;
/** The cost of creating and laying out a node, in letters. */
const NODE_COST = 32;
/** The cost of a line in text with line breaks, in letters. */
const LINE_COST = 24;
/** Letters up to which a text node takes more text. */
const TEXT_LETTERS = 500;
const TEXT_NODE = 3;
/** The permitted names of a code fence's language. */
const LANGUAGE = /^[\w+#.-]{1,32}$/;
/** Formulas of one answer that are set. The rest is shown as it was written. */
const MAX_FORMULAS = 500;
/** The cost of a formula, in letters: one may have thousands of nodes. */
const FORMULA_COST = 600;
/** Letters that stand for marks. No text has them: Unicode keeps them free for such use. */
const MARK = /[\ufdd0-\ufdef]/;
const FIRST_MARK = 0xfdd0;
const MARKS = 32;
const DIGITS = /^\d{1,9}$/;

const INLINE = new Set<smd.Token>([
  smd.ITALIC_AST,
  smd.ITALIC_UND,
  smd.STRONG_AST,
  smd.STRONG_UND,
  smd.STRIKE,
  smd.CODE_INLINE,
  smd.RAW_URL,
  smd.LINK,
  smd.IMAGE,
  smd.EQUATION_INLINE,
  smd.LINE_BREAK,
  smd.CHECKBOX,
]);

/** An element that contains text. */
interface Block {
  element: HTMLElement;
  /** Cost of the current run so far, in letters. */
  letters: number;
  endsLine: boolean;
  /** True for text with meaningful line breaks, whose lines stay whole where possible. */
  keepsLines: boolean;
  code: CodeBlock | null;
}

export class MarkdownNodes {
  /** Number of nodes so far. */
  count = 0;
  /** Cost of all letters and nodes so far, in letters. */
  cost = 0;
  /** Number of cells in the current table. */
  cells = 0;
  /** Number of cells in the newest part of the table. */
  private partCells = 0;
  /** Cost of the table's head, 0 until its end; and the cost of everything before the table. */
  private headCost = 0;
  private tableCost = 0;
  readonly renderer: smd.Default_Renderer;
  private readonly data: smd.Default_Renderer_Data;
  /** Blocks by level of the tree. Null for an inline element, which belongs to the block around it. */
  private readonly blocks: (Block | null)[] = [null];
  /** The newest cell: its node for text, and its block. */
  private cell: { node: HTMLElement; block: Block } | null = null;
  private held = '';
  /** Links that have had their address, safe or not. */
  private readonly addressed = new WeakSet<HTMLElement>();

  private readonly formulaRoom = { left: MAX_FORMULAS };
  private readonly footnotes = new Footnotes();
  private readonly marks = new Map<string, Mark>();
  private nMarks = 0;
  private alignments: (string | null)[] = [];
  private readonly colorRoom: ColorRoom = { left: MAX_COLORED };

  /**
   * @param pending returns the text that the parser holds back
   * @param onColors is called when the colors of a code block have work to do
   */
  constructor(
    root: HTMLElement,
    private readonly pending: () => string,
    private readonly onColors: (colors: CodeColors) => void,
  ) {
    this.data = { nodes: [root], index: 0 };
    this.renderer = {
      data: this.data,
      add_token: (_data, type) => this.open(type),
      end_token: () => this.close(),
      add_text: (_data, text) => this.addText(text),
      set_attr: (_data, type, value) => this.setAttribute(type, value),
    };
  }

  addText(text: string): void {
    for (const piece of text.split(/([\ufdd0-\ufdef])/)) {
      if (MARK.test(piece)) this.addMark(piece);
      else this.held += piece;
    }
  }

  /** The letter that stands for a mark in the parser's text. */
  letterFor(mark: Mark): string {
    const letter = String.fromCharCode(FIRST_MARK + (this.nMarks++ % MARKS));
    this.marks.set(letter, mark);
    return letter;
  }

  private addMark(letter: string): void {
    this.flush();
    const mark = this.marks.get(letter);
    this.marks.delete(letter);
    if (!mark) return;
    this.weigh();
    this.node.appendChild(this.nodeOf(mark));
    this.made(3);
  }

  private nodeOf(mark: Mark): HTMLElement {
    if (mark.kind === 'reference') return this.footnotes.createReference(mark.label);
    if (mark.kind === 'footnote') return this.footnotes.createFootnote(mark.label);
    this.cost += FORMULA_COST;
    return createFormula(mark, this.formulaRoom);
  }

  /** Takes the line under a table's head, as in `|:--|--:|`. */
  alignColumns(line: string): void {
    this.flush();
    const columns = line.split('|').map((column) => column.trim());
    if (columns[0] === '') columns.shift();
    this.alignments = columns.slice(0, MAX_COLUMNS).map(alignmentOf);
    const [row] = this.node.children[0]?.children ?? [];
    for (const [i, cell] of Array.from(row?.children ?? []).entries()) align(cell, this.alignments[i]);
  }

  /** Appends the collected text. Collecting keeps text nodes few, however small the pieces are. */
  flush(): void {
    let text = this.held;
    this.held = '';
    while (text !== '') {
      const block = this.blocks[this.blockLevel()] ?? null;
      const room = block ? roomFor(text, block) : text.length;
      if (room <= 0) {
        this.startRun();
        continue;
      }
      const piece = text.slice(0, wholeLetters(text, room));
      text = text.slice(piece.length);
      this.append(visibleText(piece, Boolean(block?.code)));
      if (!block) continue;
      if (block.code) {
        block.code.source.text += piece;
        block.code.colors?.grow();
      }
      block.letters += piece.length + LINE_COST * linesIn(piece);
      block.endsLine = piece.endsWith('\n');
    }
  }

  closeAll(): void {
    this.flush();
    while (this.data.index > 0) this.close();
    this.cells = 0;
  }

  /** Opens a block for plain text, outside of all others. */
  openPlain(): void {
    this.closeAll();
    this.pushBlock(this.make('p', 'plain'), { keepsLines: true });
  }

  private get node(): HTMLElement {
    return this.data.nodes[this.data.index];
  }

  private append(text: string): void {
    const last = this.node.lastChild;
    this.cost += text.length + LINE_COST * linesIn(text);
    if (last?.nodeType === TEXT_NODE && (last as Text).length < TEXT_LETTERS) {
      (last as Text).appendData(text);
    } else {
      this.node.appendChild(document.createTextNode(text));
      this.made(1);
    }
  }

  private open(type: smd.Token): void {
    this.flush();
    const isBlock = !INLINE.has(type);
    if (this.data.index >= MAX_DEPTH) this.push(this.node, null);
    else if (type === smd.CODE_BLOCK || type === smd.CODE_FENCE) this.openCode();
    else if (type === smd.TABLE) this.openTable();
    else if (type === smd.TABLE_ROW) this.openRow();
    else if (type === smd.TABLE_CELL) this.openCell();
    else if (type === smd.EQUATION_BLOCK) this.pushBlock(this.make('code', 'math'));
    else if (isBlock) this.pushBlock(this.makeNamed(type));
    else this.push(this.makeInline(type), null);
  }

  private makeInline(type: smd.Token): HTMLElement {
    this.weigh();
    if (type === smd.IMAGE) return this.make('span', 'image');
    if (type === smd.EQUATION_INLINE) return this.make('code', 'math');
    const element = this.makeNamed(type);
    if (type === smd.CHECKBOX) element.setAttribute('aria-label', words().text.task);
    return element;
  }

  /** Creates an element through the library, which knows the tag names. */
  private makeNamed(type: smd.Token): HTMLElement {
    smd.default_add_token(this.data, type);
    const element = this.node;
    this.data.index -= 1;
    this.made(1);
    return element;
  }

  private openCode(): void {
    const code = createCodeBlock(this.colorRoom, this.onColors);
    this.node.appendChild(code.block);
    this.made(5);
    this.pushBlock(code.code, { code, keepsLines: true });
  }

  private openTable(): void {
    this.cells = 0;
    this.headCost = 0;
    this.alignments = [];
    this.tableCost = this.cost;
    this.pushBlock(this.makeTable());
  }

  private makeTable(): HTMLElement {
    this.partCells = 0;
    const box = this.make('div', 'table-box');
    box.setAttribute('tabindex', '0'); // a wide table scrolls, also by keyboard
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', words().text.table);
    this.made(1);
    return box.appendChild(document.createElement('table'));
  }

  /** Opens a row. A long table continues in another one, with a copy of its head if that is short. */
  private openRow(): void {
    const [head] = this.node.children;
    this.headCost ||= head ? this.cost - this.tableCost : 0;
    if (this.partCells >= MAX_PART_CELLS && head) {
      this.data.index -= 1;
      const table = this.makeTable();
      table.appendChild(head.cloneNode(this.headCost < MAX_HEAD_COST));
      this.cost += Math.min(this.headCost, MAX_HEAD_COST);
      this.pushBlock(table);
    }
    this.pushBlock(this.makeNamed(smd.TABLE_ROW));
  }

  /** Opens a cell. Cells past the last column join it: a browser takes seconds for rows of thousands. */
  private openCell(): void {
    this.cells += 1;
    this.partCells += 1;
    if (this.node.children.length < MAX_COLUMNS || !this.cell) {
      const column = this.node.children.length;
      const cell = this.makeNamed(smd.TABLE_CELL);
      align(cell, this.alignments[column]);
      this.pushBlock(cell);
    } else {
      this.push(this.cell.node, this.cell.block);
      this.addText(' ');
    }
  }

  private close(): void {
    this.flush();
    const block = this.blocks[this.data.index];
    block?.code?.colors?.end();
    if (block && /^T[DH]$/.test(block.element.tagName)) this.cell = { node: this.node, block };
    if (this.node.tagName === 'A' && !this.addressed.has(this.node)) this.restoreBrackets();
    this.data.index -= 1;
  }

  /** Restores the brackets of a link without an address, as in `list[0]`, which the parser has dropped. */
  private restoreBrackets(): void {
    const { node } = this;
    node.insertBefore(document.createTextNode('['), node.firstChild);
    if (this.pending() === ']') node.appendChild(document.createTextNode(']'));
    this.made(2);
  }

  private setAttribute(type: smd.Attr, value: string): void {
    const node = this.node;
    switch (type) {
      case smd.HREF:
        if (node.tagName !== 'A') break;
        this.addressed.add(node);
        setLink(node, safeHref(value));
        break;
      case smd.LANG:
        if (LANGUAGE.test(value)) this.blocks[this.data.index]?.code?.setLanguage(value);
        break;
      case smd.START:
        if (node.tagName === 'OL' && DIGITS.test(value)) node.setAttribute('start', value);
        break;
      case smd.CHECKED:
        if (node.tagName === 'INPUT') node.setAttribute('checked', '');
        break;
      default: // SRC and future attributes: the browser would fetch their address and thereby leak the conversation
    }
  }

  private make(name: string, className: string): HTMLElement {
    const element = document.createElement(name);
    element.setAttribute('class', className);
    this.made(1);
    return this.node.appendChild(element);
  }

  private push(element: HTMLElement, block: Block | null): void {
    this.data.nodes[++this.data.index] = element;
    this.blocks[this.data.index] = block;
  }

  private pushBlock(element: HTMLElement, known: Partial<Block> = {}): void {
    this.push(element, { element, letters: 0, endsLine: false, keepsLines: false, code: null, ...known });
  }

  private made(nodes: number): void {
    this.count += nodes;
    this.cost += nodes * NODE_COST;
  }

  /** Counts an inline element as part of its run. */
  private weigh(): void {
    const block = this.blocks[this.blockLevel()];
    if (!block) return;
    block.letters += NODE_COST;
    if (block.letters > RUN_LETTERS && !block.keepsLines) this.startRun();
  }

  /** The level of the block that takes the text, or 0 outside of all blocks. */
  private blockLevel(): number {
    let level = this.data.index;
    while (level > 0 && !this.blocks[level]) level -= 1;
    return level;
  }

  /** Continues the text of a block in a new child, with copies of the open inline elements. */
  private startRun(): void {
    const { nodes, index } = this.data;
    const level = this.blockLevel();
    const block = this.blocks[level] as Block;
    nodes[level] = block.element.appendChild(document.createElement('span'));
    nodes[level].setAttribute('class', 'run');
    for (let i = level + 1; i <= index; i++) {
      nodes[i] = nodes[i - 1].appendChild(nodes[i].cloneNode(false) as HTMLElement);
    }
    this.made(1 + index - level);
    block.letters = 0;
  }
}

function alignmentOf(column: string): string | null {
  if (column.endsWith(':')) return column.startsWith(':') ? 'align-center' : 'align-right';
  return column.startsWith(':') ? 'align-left' : null;
}

function align(cell: Element, alignment: string | null | undefined): void {
  if (alignment) cell.setAttribute('class', alignment);
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** The number of letters of a text that fit into the current run, or 0 when it is full. */
function roomFor(text: string, { letters, endsLine, keepsLines }: Block): number {
  if (!keepsLines) return RUN_LETTERS - letters;
  if (letters >= RUN_LETTERS && endsLine) return 0;
  const line = text.indexOf('\n', Math.max(0, RUN_LETTERS - letters)) + 1;
  const room = MAX_RUN_LETTERS - letters;
  return line > 0 ? Math.min(line, room) : room;
}

function setLink(node: HTMLElement, address: string | null): void {
  if (address === null) return;
  node.setAttribute('href', address);
  node.setAttribute('title', address);
  node.setAttribute('rel', 'noopener noreferrer nofollow');
  node.setAttribute('target', '_blank');
}
