// Calls of tools, from the text that a model writes in its template's syntax. A part: it comes with the first tools.

import { asObject, asString } from '../json';
import { parseSpelled } from '../spelled_json';
import type { Tool } from '../template/message';
import type { ToolSyntax } from '../template/syntax/chat_syntax';
import { matchLiteral } from '../template/syntax/literal_match';
import type { AnswerPart, CallReader, ReadCalls } from './answer_part';
import { type ArgumentsReader, createArgumentsReader } from './call_arguments';
import { isTag, triggerOf } from './call_trigger';
import { stringifySpelled } from './call_values';

/** Most units of a call before its arguments. */
const MAX_HEAD = 1024;
const OTHER_FORM = 'The call has another form than the chat template shows.';

export const readCalls: ReadCalls = (...asked) => new CallParser(...asked);

/**
 * Reads the calls that follow one another from the trigger on. `rest` is text behind them, or text that turned out to
 * be no call.
 */
class CallParser implements CallReader {
  /** Text that is not part of a call, once `isDone`. */
  rest = '';
  isDone = false;
  private step: 'head' | 'arguments' | 'end' | 'after' | 'broken' = 'head';
  private pending = '';
  private readonly raw: string[] = []; // the call so far, as the model wrote it, without `pending`
  private reader: ArgumentsReader | null = null;
  private problem: string | null = null;
  private isFirst = true;

  /** `index`: the number of the first call. */
  constructor(
    private readonly syntax: ToolSyntax,
    private readonly tools: readonly Tool[],
    private index: number,
    private readonly emit: (part: AnswerPart) => void,
    private readonly onWhole: () => void,
  ) {}

  push(text: string): void {
    this.pending += text;
    while (!this.isDone && this.advance());
  }

  /** The end of the answer. */
  flush(): void {
    if (this.isDone) return;
    const isText = this.step === 'head' && this.isFirst && !isTag(triggerOf(this.syntax));
    if (!isText && this.step !== 'after') {
      const isWhole = this.step === 'end' && this.problem === null;
      this.take(this.pending.length);
      if (isWhole) this.complete();
      else this.fail(this.problem ?? 'The call has no end.');
    }
    this.finish(isText ? this.pending : '');
  }

  /** Takes one step. Returns false if it needs more text. */
  private advance(): boolean {
    switch (this.step) {
      case 'head':
        return this.readHead();
      case 'arguments':
        return this.readArguments();
      case 'end':
        return this.readEnd();
      case 'after':
        return this.readAfter();
      default:
        return this.skipBroken();
    }
  }

  private readHead(): boolean {
    const { begin, next, middle, kind } = this.syntax;
    const ids: string[] = [];
    const from = matchLiteral(this.isFirst ? begin : next!, this.pending, 0, ids);
    const isLong = this.pending.length > MAX_HEAD;
    if (from === null) return isLong && this.misread();
    if (from < 0) return this.misread();
    // A name ends where the text behind it, or the bracket of the arguments, begins.
    const ends = middle.trimStart()[0] ?? (kind === 'tags' ? this.syntax.tags!.key[0] : null);
    const stop = ends === null ? this.pending.slice(from).search(/[({]/) : this.pending.indexOf(ends, from) - from;
    const to = stop < 0 ? null : matchLiteral(middle, this.pending, from + stop, ids);
    if (to === null) return isLong && this.misread();
    if (to < 0) return this.misread();
    const name = this.pending.slice(from, from + stop).trim();
    const tool = this.tools.find((one) => one.name === name) ?? null;
    this.take(to);
    this.isFirst = false;
    this.problem = tool ? null : `The tool "${name.slice(0, 80)}" is unknown.`;
    this.reader = createArgumentsReader(this.syntax, tool);
    if (tool) this.emit({ type: 'tool-call', index: this.index, id: ids[0] ?? newId(), name, arguments: '' });
    this.step = 'arguments';
    return true;
  }

  private readArguments(): boolean {
    const reader = this.reader!;
    const read = reader.read(this.pending, (json) => {
      if (this.problem === null) this.emit({ type: 'tool-call', index: this.index, arguments: json });
    });
    this.take(read);
    if (reader.end === 'none') return false;
    if (reader.end === 'wrong') this.problem ??= 'The arguments are no JSON object.';
    this.step = 'end';
    return true;
  }

  private readEnd(): boolean {
    const { end, kind } = this.syntax;
    let at = matchLiteral(end, this.pending, 0);
    if (at === -1 && kind !== 'json') {
      at = matchLiteral(lastTag(end), this.pending, 0); // a model may leave the tags before it out
      if (at === -1) this.problem ??= OTHER_FORM; // perhaps a value that holds its own end
    }
    if (at === null && this.pending.length <= MAX_HEAD) return false;
    if (at !== null && at >= 0) this.take(at);
    else if (this.problem !== null) {
      this.step = 'broken';
      return true;
    }
    this.complete();
    return true;
  }

  private complete(): void {
    if (this.problem !== null) {
      this.fail(this.problem);
      return;
    }
    this.raw.length = 0;
    this.reader = null;
    this.index++;
    this.onWhole();
    this.step = 'after';
  }

  private readAfter(): boolean {
    const { next, last } = this.syntax;
    const another = next === null ? -1 : matchLiteral(next, this.pending, 0);
    const end = last === '' ? -1 : matchLiteral(last, this.pending, 0);
    if (another !== null && another >= 0) {
      this.step = 'head';
    } else if (end !== null && end >= 0) {
      this.finish(this.pending.slice(end));
    } else if ((another === null || end === null) && this.pending.length <= MAX_HEAD) {
      return false;
    } else {
      this.finish(this.pending);
    }
    return true;
  }

  /** The text has the trigger, but not the form of a call. */
  private misread(): boolean {
    if (this.isFirst && !isTag(triggerOf(this.syntax))) {
      this.finish(this.pending);
      return true;
    }
    this.problem = OTHER_FORM;
    this.step = 'broken';
    return true;
  }

  /** Searches the end of a call that cannot be read. */
  private skipBroken(): boolean {
    const end = lastTag(this.syntax.end + this.syntax.last).replace(/^[\]}]+/, '');
    const at = end === '' ? -1 : this.pending.indexOf(end);
    this.take(at < 0 ? Math.max(0, this.pending.length - end.length + 1) : at + end.length);
    if (at < 0) return false;
    this.fail(this.problem!);
    return true;
  }

  /** Ends a call with an error. JSON in another order, or with its arguments as JSON text, is read after all. */
  private fail(problem: string): void {
    const text = this.raw.join('').trim(); // spaces at its edges may have come with the call before
    const other = this.syntax.kind === 'json' ? this.callIn(text) : null;
    if (other) {
      const head = this.reader ? {} : { id: newId(), name: other.name };
      this.emit({ type: 'tool-call', index: this.index, ...head, arguments: other.arguments });
      this.onWhole();
    } else {
      this.emit({ type: 'tool-call-error', index: this.index, message: problem, text });
    }
    this.raw.length = 0;
    this.reader = null;
    this.problem = null;
    this.isFirst = false;
    this.index++;
    this.step = 'after';
  }

  private callIn(text: string): { name: string; arguments: string } | null {
    try {
      const call = asObject(parseSpelled(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)));
      const name = asString(call?.name);
      const given = call?.arguments ?? call?.parameters;
      const json = typeof given === 'string' ? given : stringifySpelled(given);
      if (name === null || !asObject(JSON.parse(json)) || !this.tools.some((tool) => tool.name === name)) return null;
      return { name, arguments: json };
    } catch {
      return null;
    }
  }

  private take(count: number): void {
    if (count > 0) this.raw.push(this.pending.slice(0, count));
    this.pending = this.pending.slice(count);
  }

  private finish(rest: string): void {
    this.rest = rest;
    this.pending = '';
    this.isDone = true;
  }
}

/** The last word of a text. */
function lastTag(text: string): string {
  return /\S+\s*$/.exec(text)?.[0].trim() ?? '';
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `call_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
