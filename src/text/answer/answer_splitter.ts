// The text of an answer, as it comes, split into what is shown, thinking, and calls of tools.

import { beginningOf, ShownText } from '../decode/shown_text';
import type { Tool } from '../template/message';
import type { ToolSyntax } from '../template/syntax/chat_syntax';
import { matchLiteral } from '../template/syntax/literal_match';
import type { AnswerOptions, AnswerPart, CallReader, ReadCalls } from './answer_part';
import { isTag, triggerOf } from './call_trigger';

/** Most spaces that wait for what follows. */
const MAX_SPACES = 64;

export class AnswerSplitter {
  readonly parts: AnswerPart[] = [];
  calls = 0;
  isThinking = false;
  private readonly shown: ShownText;
  private thought = new ShownText([]);
  private caller: CallReader | null = null;
  private index = 0; // of the next call
  private indexBefore = 0; // when the caller began
  private pending = '';
  /** True where thinking or a call of nothing but JSON may begin: before any text. */
  private isStart = true;
  /** Spaces before the next text are the template's. */
  private dropsSpace = false;
  private spaces = ''; // at the end of the thinking so far
  /** Units of the thinking that were told before. */
  private told = 0;
  private readonly open: string;
  private readonly close: string;
  private readonly tools: readonly Tool[];
  private readonly syntax: ToolSyntax | null;
  private readonly readCalls: ReadCalls | undefined;
  /** The tag that announces a call anywhere in the text, or ''. */
  private readonly trigger: string;
  private readonly isSplit: boolean;

  constructor({ stop = [], syntax, tools = [], readCalls, reasoning = 'split' }: AnswerOptions) {
    this.shown = new ShownText(stop.filter((word) => word !== ''));
    this.open = syntax?.thinking?.open.trim() ?? '';
    this.close = syntax?.thinking?.close.trim() ?? '';
    this.tools = tools;
    this.readCalls = readCalls;
    this.syntax = tools.length > 0 && readCalls ? (syntax?.tools ?? null) : null;
    const trigger = this.syntax ? triggerOf(this.syntax) : '';
    this.trigger = isTag(trigger) ? trigger : '';
    this.isSplit = reasoning === 'split';
  }

  get stopped(): boolean {
    return this.shown.stopped;
  }

  /** Adds the beginning of the answer, which the prompt holds. Thinking in it is the caller's own, and is not told. */
  begin(text: string): string {
    const at = this.open === '' ? -1 : text.indexOf(this.open);
    this.told = at < 0 ? 0 : text.slice(at + this.open.length).trimStart().length;
    return this.add(text, false);
  }

  /** Adds text and returns what can be shown of it. `last`: nothing follows. */
  add(text: string, last: boolean): string {
    if (this.open === '' && this.syntax === null) return this.shown.add(text, last);
    this.pending += text;
    let out = '';
    let step: string | null;
    do {
      step = this.isThinking ? this.think(last) : this.caller ? this.call(last) : this.read(last);
      if (step !== null) out += step;
    } while (step !== null && !this.stopped && (this.pending !== '' || (last && this.caller !== null)));
    return last && !this.stopped ? out + this.shown.add('', true) : out;
  }

  /** Reads text of the answer. Returns null if it needs more. */
  private read(last: boolean): string | null {
    if (this.isStart) {
      const kind = this.atStart();
      if (kind === 'more' && !last) return null;
      if (kind === 'thinking') return this.beginThinking();
      if (kind === 'call') return this.beginCall(0);
      if (this.dropsSpace) this.pending = this.pending.trimStart();
      this.dropsSpace = false;
      if (this.pending === '') return null;
      this.isStart = false;
    }
    const at = this.trigger === '' ? -1 : this.pending.indexOf(this.trigger);
    if (at >= 0) return this.beginCall(at);
    const held = last || this.trigger === '' ? 0 : beginningOf([this.trigger], this.pending);
    const text = this.pending.slice(0, this.pending.length - held);
    this.pending = this.pending.slice(text.length);
    const out = this.shown.add(text, false);
    return text === '' ? null : out;
  }

  private atStart(): 'thinking' | 'call' | 'text' | 'more' {
    const text = this.pending.trimStart();
    if (text === '') return this.pending.length > MAX_SPACES ? 'text' : 'more';
    if (this.open !== '' && text.startsWith(this.open)) return 'thinking';
    if (this.trigger !== '' && text.startsWith(this.trigger)) return 'call';
    const match = this.syntax && this.trigger === '' ? matchLiteral(this.syntax.begin, this.pending, 0) : -1;
    if (match !== null && match >= 0) return 'call';
    const words = [this.open, this.trigger];
    return match === null || words.some((word) => word.startsWith(text)) ? 'more' : 'text';
  }

  private beginThinking(): string {
    const at = this.pending.indexOf(this.open) + this.open.length;
    const shown = this.dropsSpace ? this.open : this.pending.slice(0, at);
    this.pending = this.pending.slice(at);
    this.isThinking = true;
    this.dropsSpace = this.isSplit;
    return this.isSplit ? '' : this.shown.add(shown, false);
  }

  private think(last: boolean): string | null {
    const at = this.pending.indexOf(this.close);
    const held = at >= 0 || last ? 0 : beginningOf([this.close], this.pending);
    const text = this.pending.slice(0, at >= 0 ? at : this.pending.length - held);
    const end = at >= 0 ? at + this.close.length : text.length;
    const shown = this.pending.slice(0, end);
    this.pending = this.pending.slice(end);
    const isEnd = at >= 0 || last;
    if (this.isSplit) this.reason(text, isEnd);
    if (isEnd) {
      this.isThinking = false;
      this.isStart = true;
      this.dropsSpace = this.isSplit;
    }
    return this.isSplit ? (end === 0 ? null : '') : end === 0 ? null : this.shown.add(shown, false);
  }

  /** Passes thinking on, without the spaces at its start and its end. */
  private reason(text: string, isEnd: boolean): void {
    let whole = this.spaces + text;
    if (this.dropsSpace) whole = whole.trimStart();
    if (whole !== '') this.dropsSpace = false;
    const kept = whole.length - text.length > MAX_SPACES ? whole : whole.trimEnd();
    this.spaces = whole.slice(kept.length);
    const shown = this.thought.add(kept, isEnd);
    const fresh = shown.slice(this.told);
    this.told -= shown.length - fresh.length;
    if (fresh !== '') this.parts.push({ type: 'reasoning', text: fresh });
    if (!isEnd) return;
    this.thought = new ShownText([]);
    this.spaces = '';
    this.told = 0;
  }

  /** Begins a call at a place of the pending text, and returns the text before it. */
  private beginCall(at: number): string {
    const before = this.isStart ? '' : this.pending.slice(0, at);
    this.pending = this.pending.slice(before.length);
    const out = this.shown.add(before, true);
    this.indexBefore = this.index;
    const emit = (part: AnswerPart) => {
      if (part.type !== 'reasoning') this.index = part.index + 1;
      this.parts.push(part);
    };
    this.caller = this.readCalls!(this.syntax!, this.tools, this.index, emit, () => this.calls++);
    return out;
  }

  private call(last: boolean): string {
    const caller = this.caller!;
    caller.push(this.pending);
    this.pending = '';
    if (last) caller.flush();
    if (!caller.isDone) return '';
    this.caller = null;
    this.pending = caller.rest;
    this.isStart = this.index > this.indexBefore; // a text that was no call is not looked at again
    this.dropsSpace = this.isStart;
    return '';
  }
}
