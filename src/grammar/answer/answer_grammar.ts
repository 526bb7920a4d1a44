// The grammar of a whole answer: thinking and text as the model likes, and in them what is constrained. Either the
// arguments of calls, from the text that announces a call to its end; or the document, behind the thinking.

import { choice, EMPTY, type Grammar, literal, type Node, optional, repeat, sequence } from '../grammar';
import type { Fuel } from '../limits';
import { RuleBook } from '../rule_book';
import { NO_TEXT } from './control_range';
import { type AnswerForm, GAP, ID, spelled, spellings, syntaxNode } from './form';
import { type Mode, scan, type Word } from './scan';
import { type ArgumentsContext, anyArguments, argumentsNode, type ToolForm } from './tool_arguments';

export interface AskedAnswer {
  readonly form: AnswerForm;
  readonly tools: readonly ToolForm[];
  /** Tools whose schema is not enforced: any arguments. */
  readonly isFree: (tool: ToolForm) => boolean;
  /** The prompt holds the beginning of a call. */
  readonly isForced: boolean;
  /** The grammar of an answer without calls. Null: any text. */
  readonly document: Grammar | null;
}

export interface AnswerGrammar {
  readonly grammar: Grammar;
  readonly warnings: readonly string[];
}

/** @throws ConstraintError for a schema that is not enforced */
export function answerGrammar(asked: AskedAnswer, fuel: Fuel): AnswerGrammar {
  const book = new RuleBook(fuel);
  const root = book.reserve('the answer');
  const warnings = new Set<string>();
  const { form, tools, document } = asked;
  const { controls } = form;
  const calls = tools.length > 0 ? form.calls : null;
  const context = calls && { book, calls, controls, fuel, warn: (message: string) => void warnings.add(message) };
  const writers = context && tools.map((tool) => toolNode(context, tool, asked.isFree(tool)));
  const body = document ? book.add(document) : null;
  const callsNode = context && writers ? new CallNodes(context, tools, writers) : null;
  book.define(root, body ? bound(form, callsNode, body, fuel) : free(form, callsNode, asked.isForced, fuel));
  return { grammar: book.grammar(), warnings: [...warnings] };
}

/** The text behind the name of a tool, up to the end of its call. */
function toolNode(context: ArgumentsContext, tool: ToolForm, isFree: boolean): Node {
  const written = isFree ? anyArguments(context) : argumentsNode(context, tool);
  return sequence(written, syntaxNode(context.calls.end, context.controls));
}

class CallNodes {
  constructor(
    private readonly context: ArgumentsContext,
    private readonly tools: readonly ToolForm[],
    private readonly writers: readonly Node[],
  ) {}

  /** A call from its name on. */
  get call(): Node {
    const { calls, controls } = this.context;
    const middle = syntaxNode(calls.middle, controls);
    return choice(...this.tools.map(({ name }, i) => sequence(literal(name), middle, this.writers[i])));
  }

  /** Further calls, and the end of all of them, behind a first call. */
  get rest(): Node {
    const { calls, controls } = this.context;
    const last = syntaxNode(calls.last, controls);
    return calls.next === null ? last : sequence(repeat(sequence(this.between, this.call), 0, null), last);
  }

  /** The text between two calls. */
  get between(): Node {
    const { calls, controls } = this.context;
    return syntaxNode(calls.next ?? '', controls);
  }

  /** All calls of an answer that has nothing else. */
  get all(): Node {
    const { calls, controls } = this.context;
    return sequence(spelled(calls.begin.split(ID)[0], controls), this.head, this.call, this.rest);
  }

  /** The text of `begin` behind its first id. */
  private get head(): Node {
    const { calls, controls } = this.context;
    return syntaxNode(calls.begin.slice(calls.begin.split(ID)[0].length), controls);
  }

  /** The words that announce a call. @param mode the one behind the calls */
  words(isForced: boolean, mode: number): Word[] {
    const { calls, controls } = this.context;
    const { begin, middle, trigger, last } = calls;
    const more = last === '' ? EMPTY : this.rest;
    const wordsOf = (text: string, node: Node): Word[] =>
      spellings(text, controls).map((bytes) => ({ bytes, node: sequence(node, more), next: mode }));
    if (trigger !== null) {
      return wordsOf(trigger, sequence(syntaxNode(begin.slice(trigger.length), controls), this.call));
    }
    const open = begin.split(ID)[0];
    if (isForced) return wordsOf(open, sequence(this.head, this.call));
    if ((begin + middle).includes(ID)) return [];
    return this.tools.flatMap(({ name }, i) => wordsOf(begin + name + middle, this.writers[i]));
  }

  /** The word of a further call, where nothing ends the last one. */
  further(mode: number): Word[] {
    const { calls, controls } = this.context;
    const between = calls.next?.trimStart() ?? '';
    const isOwn = calls.last === '' && between !== '' && !between.includes(ID);
    if (!isOwn || (calls.trigger !== null && between.startsWith(calls.trigger))) return [];
    return spellings(between, controls).map((bytes) => ({ bytes, node: this.call, next: mode }));
  }
}

/** Modes of an answer that is free apart from its calls. */
const START = 0;
const AFTER_CALL = 1;
const THINKING = 2;

function free(form: AnswerForm, calls: CallNodes | null, isForced: boolean, fuel: Fuel): Node {
  const opens = wordsTo(form.thinking?.open, form.controls, THINKING);
  const words = calls?.words(isForced, AFTER_CALL) ?? [];
  const isAnywhere = form.calls !== null && form.calls.trigger !== null;
  const mode = (further: readonly Word[]): Mode => ({
    atStart: [...opens, ...further, ...(isAnywhere ? [] : words)],
    anywhere: isAnywhere ? words : [],
    mayEnd: true,
    lastByte: NO_TEXT,
  });
  const thinking: Mode = {
    atStart: [],
    anywhere: wordsTo(form.thinking?.close, form.controls, START),
    mayEnd: true,
    lastByte: NO_TEXT,
  };
  return scan([mode([]), mode(calls?.further(AFTER_CALL) ?? []), thinking], fuel);
}

/** An answer that is a document, perhaps behind thinking. Where there are tools, calls may come instead. */
function bound({ thinking, controls }: AnswerForm, calls: CallNodes | null, body: Node, fuel: Fuel): Node {
  const end = calls ? choice(calls.all, body) : body;
  const open = thinking?.open.trim() ?? '';
  if (thinking === null || open === '') return end;
  const anywhere = wordsTo(thinking.close, controls, null);
  const thought = scan([{ atStart: [], anywhere, mayEnd: false, lastByte: NO_TEXT }], fuel);
  return sequence(optional(sequence(spelled(open, controls), thought, GAP)), end);
}

function wordsTo(text: string | undefined, controls: readonly string[], next: number | null): Word[] {
  const word = text?.trim() ?? '';
  return word === '' ? [] : spellings(word, controls).map((bytes) => ({ bytes, node: EMPTY, next }));
}
