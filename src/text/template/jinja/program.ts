// A chat template as a program, in Jinja, run by @huggingface/jinja with the variables of transformers.

import { Environment, parse, tokenize } from '@huggingface/jinja';
import { ChatTemplateError } from '../../../errors';
import type { Tokenizer } from '../../tokenizer';
import { type Budget, FueledInterpreter, type Trace } from './fuel';
import { ofRequest } from './jinja_values';
import { checkMost, printAsPython } from './python';
import { strftime } from './strftime';

/** The tokens at the edges of a text. */
export type Edges = Pick<Tokenizer, 'bosToken' | 'eosToken'>;

const MAX_SOURCE = 64_000; // those in use have up to 30,000; the parser takes 2 to 8 microseconds per character
const MAX_SPACES = 1_000;
const MAX_RANGE = 10_000;

/** Refuses a source that would take the parser too long. */
function checkSource(source: string): void {
  checkMost(source.length, MAX_SOURCE, 'characters');
  // The library's tokenizer takes quadratic time for a run of spaces.
  const spaces = source.split(/\S+/).reduce((longest, run) => Math.max(longest, run.length), 0);
  checkMost(spaces, MAX_SPACES, 'spaces and line breaks in a row');
}

/** Renders with these variables within a budget. */
export type Program = (variables: Record<string, unknown>, budget: Budget, trace?: Trace) => string;

/** @throws ChatTemplateError, here and for each rendering that fails */
export function readProgram(given: string, tokens: Edges): Program {
  const source = given.replace(/\r\n?/g, '\n'); // as Jinja reads it
  checkSource(source);
  // The options of transformers.
  const program = guard(
    () => printAsPython(parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))),
    'cannot be read',
  );
  return (variables, budget, trace) =>
    guard(() => String(new FueledInterpreter(scopeOf(variables, tokens), budget, trace).run(program).value), 'failed');
}

/** The variables of a template, as transformers names them. */
function scopeOf(variables: Record<string, unknown>, tokens: Edges): Environment {
  const scope = new Environment();
  const names: Record<string, unknown> = {
    tools: null,
    documents: null,
    ...variables,
    ...GLOBALS,
    bos_token: tokens.bosToken ?? '',
    eos_token: tokens.eosToken ?? '',
  };
  for (const name of Object.keys(names)) scope.variables.set(name, ofRequest(names[name]));
  return scope;
}

const GLOBALS: Record<string, unknown> = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception(message: unknown): never {
    throw new ChatTemplateError(typeof message === 'string' ? message : 'The chat template refused the conversation.');
  },
  range(...bounds: unknown[]): number[] {
    const [start, stop, step] = bounds.length === 1 ? [0, bounds[0], 1] : [bounds[0], bounds[1], bounds[2] ?? 1];
    if (![start, stop, step].every(Number.isInteger) || step === 0) {
      throw new ChatTemplateError('The chat template calls range() without whole numbers.');
    }
    const length = Math.max(0, Math.ceil((Number(stop) - Number(start)) / Number(step)));
    checkMost(length, MAX_RANGE, 'numbers in a range');
    return Array.from({ length }, (_, i) => Number(start) + i * Number(step));
  },
  strftime_now: (format: unknown) => strftime(new Date(), String(format)),
};

/** Turns every failure into a ChatTemplateError with the message of the template or the interpreter. */
function guard<T>(run: () => T, what: string): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof ChatTemplateError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ChatTemplateError(`The chat template ${what}: ${reason}`, { cause });
  }
}
