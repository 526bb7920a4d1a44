// Colors the lines of one code block while it streams: each line once, as soon as it is whole. Letters and their order
// stay as they were written. Only text nodes change, into elements whose class names come from a fixed list.

import type { startColoring } from './code_modes';
import type { FrameWork } from './frame_budget';
import { withPart } from './parts';

/**
 * A longer line, or one with a wider gap, ends the coloring of its block: a mode's patterns may take seconds for it.
 */
const MAX_LINE = 1000;
const WIDE_GAP = /\s{33}/;
/** Letters of a block that are colored. The rest stays plain. */
const MAX_LETTERS = 100_000;
/** Letters that are colored in one go. */
const BATCH = 1500;
/** The cost of an element and its text, in letters. */
const SPAN_COST = 48;
const TEXT_NODE = 3;

/** The number of colored elements that an answer may still have. */
export interface ColorRoom {
  left: number;
}

export class CodeColors implements FrameWork {
  private color: ReturnType<typeof startColoring> = null;
  /** The element whose text is next: the block's, or one of its runs. */
  private box: HTMLElement;
  /** The last node of the box that is done. */
  private last: ChildNode | null = null;
  private letters = 0;
  private isEnded = false;

  /** @param onReady is called when there is something to do and the modes are here */
  constructor(
    private readonly code: HTMLElement,
    language: string,
    private readonly room: ColorRoom,
    private readonly onReady: (colors: CodeColors) => void,
  ) {
    this.box = code;
    withPart('code', (modes) => {
      this.color = modes.startColoring(language);
      this.grow();
    });
  }

  /** Colors what the block has got. */
  grow(): void {
    if (this.color) this.onReady(this);
  }

  /** Colors the last line, too. */
  end(): void {
    this.isEnded = true;
    this.grow();
  }

  step(spend: (cost: number) => boolean): boolean {
    while (this.color) {
      const cost = this.colorBatch();
      if (cost === 0) return true;
      if (!spend(cost)) return false;
    }
    return true;
  }

  /** Colors the next whole lines. Returns what it cost, 0 if there are none. */
  private colorBatch(): number {
    const { nodes, after } = this.nextTexts();
    const text = nodes.map(({ data }) => data).join('');
    const isCut = after?.nodeType === TEXT_NODE;
    const run = isCut ? null : (after ?? (this.box === this.code ? null : this.box.nextSibling));
    const isWhole = !isCut && (this.isEnded || run !== null);
    const whole = isWhole ? text.length : text.lastIndexOf('\n') + 1;
    if (whole > 0) return whole + SPAN_COST * this.replace(nodes, text.slice(0, whole), text.slice(whole));
    if (text.length > MAX_LINE) this.color = null;
    if (text !== '' || !run) return 0;
    this.box = run as HTMLElement;
    this.last = null;
    return 1;
  }

  /** The next text nodes of the box, enough for a batch and for a whole line if there is so much; and what follows. */
  private nextTexts(): { nodes: Text[]; after: ChildNode | null } {
    const nodes: Text[] = [];
    let length = 0;
    let hasLine = false;
    let after = this.last ? this.last.nextSibling : this.box.firstChild;
    while (after?.nodeType === TEXT_NODE && !(hasLine && length > BATCH) && length <= 2 * MAX_LINE) {
      const text = after as Text;
      nodes.push(text);
      length += text.data.length;
      hasLine ||= text.data.includes('\n');
      after = after.nextSibling;
    }
    return { nodes, after };
  }

  /** Replaces text nodes by the colored lines and a text node with the rest. Returns the number of elements. */
  private replace(nodes: readonly Text[], lines: string, rest: string): number {
    const made = this.colored(lines);
    const tail = document.createTextNode(rest);
    const [before] = nodes;
    for (const node of [...made, tail]) this.box.insertBefore(node, before ?? null);
    for (const node of nodes) this.box.removeChild(node);
    this.last = made.at(-1) ?? this.last;
    this.letters += lines.length;
    if (this.letters > MAX_LETTERS) this.color = null;
    return made.length;
  }

  private colored(lines: string): ChildNode[] {
    const made: ChildNode[] = [];
    let plain = '';
    const endPlain = () => {
      if (plain !== '') made.push(document.createTextNode(plain));
      plain = '';
    };
    for (const line of lines.split(/(?<=\n)/)) {
      const text = line.endsWith('\n') ? line.slice(0, -1) : line;
      for (const piece of this.piecesOf(text)) {
        if (!piece.color || this.room.left <= 0) {
          plain += piece.text;
          continue;
        }
        endPlain();
        const span = document.createElement('span');
        span.setAttribute('class', `code-${piece.color}`);
        span.appendChild(document.createTextNode(piece.text));
        made.push(span);
        this.room.left -= 1;
      }
      plain += line.slice(text.length);
    }
    endPlain();
    return made;
  }

  private piecesOf(line: string) {
    const plain = [{ text: line, color: null }];
    if (!this.color || line.length > MAX_LINE || WIDE_GAP.test(line) || this.room.left <= 0) this.color = null;
    try {
      return this.color?.(line) ?? plain;
    } catch {
      this.color = null; // a mode that fails leaves its block as it is
      return plain;
    }
  }
}
