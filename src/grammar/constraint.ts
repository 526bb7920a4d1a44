// What an answer may be constrained by, and the automaton of each: the entrance of the room.

import { ConstraintError } from '../errors';
import { type AskedAnswer, answerGrammar } from './answer/answer_grammar';
import type { AnswerForm } from './answer/form';
import type { ToolForm } from './answer/tool_arguments';
import type { Automaton } from './automaton';
import { compileGrammar } from './compile/compile';
import { choice, type Grammar, literal } from './grammar';
import { Fuel, MAX_TEXT } from './limits';
import { jsonObjectGrammar, type SchemaOptions, schemaGrammar } from './schema/json_schema';
import type { Layout } from './schema/json_text';
import { gbnfGrammar } from './syntax/gbnf';
import { regexGrammar } from './syntax/regex';

export type Constraint =
  /** Any JSON object. */
  | { readonly kind: 'json_object'; readonly layout?: Layout }
  | ({ readonly kind: 'json_schema'; readonly schema: unknown } & SchemaOptions)
  /** All of the answer matches a regular expression. */
  | { readonly kind: 'regex'; readonly source: string }
  /** GBNF. */
  | { readonly kind: 'grammar'; readonly source: string }
  /** One of these texts, as it is. */
  | { readonly kind: 'choice'; readonly texts: readonly string[] };

export interface CompiledConstraint {
  readonly automaton: Automaton;
  /** Sentences about what is enforced otherwise than asked for. */
  readonly warnings: readonly string[];
}

/** The constraints of an answer that may hold more than a document: thinking, text and calls. */
export interface ConstrainedAnswer {
  /** The constraint of an answer without calls. Absent: any text. */
  readonly constraint?: Constraint;
  readonly form: AnswerForm;
  /** The tools whose arguments are constrained. */
  readonly tools: readonly ToolForm[];
  /** The prompt holds the beginning of a call. */
  readonly isForced: boolean;
}

/** @throws ConstraintError for what cannot be enforced, is malformed, or takes too much */
export function compileConstraint(constraint: Constraint): CompiledConstraint {
  const fuel = new Fuel();
  const { grammar, warnings } = documentOf(constraint, fuel);
  return { automaton: compileGrammar(grammar, fuel), warnings };
}

/**
 * Tools whose schemas are not enforced get any arguments, with a warning that names the keyword.
 * @throws as compileConstraint
 */
export function compileAnswer(asked: ConstrainedAnswer): CompiledConstraint {
  const { constraint, form, tools, isForced } = asked;
  const document = constraint === undefined ? null : documentOf(constraint, new Fuel());
  const compile = (isFree: AskedAnswer['isFree']): CompiledConstraint => {
    const fuel = new Fuel();
    const { grammar, warnings } = answerGrammar(
      { form, tools, isFree, isForced, document: document?.grammar ?? null },
      fuel,
    );
    return { automaton: compileGrammar(grammar, fuel), warnings: [...(document?.warnings ?? []), ...warnings] };
  };
  try {
    return compile(() => false);
  } catch (error) {
    if (!(error instanceof ConstraintError) || tools.length === 0) throw error;
  }
  const shared = new Fuel(); // of all tools, so that many of them take no longer than one
  const refused = tools.flatMap((tool) => refusalOf(form, tool, shared) ?? []);
  if (refused.length > 0 && refused.length < tools.length) {
    const compiled = attempt(() => compile((tool) => refused.some((one) => one.tool === tool)));
    if (compiled) return { ...compiled, warnings: [...compiled.warnings, ...refused.map(({ message }) => message)] };
  }
  const { automaton, warnings } = compile(() => true);
  const sentences = refused.length > 0 ? refused.map(({ message }) => message) : [TOO_MUCH];
  return { automaton, warnings: [...warnings, ...sentences] };
}

const TOO_MUCH =
  'The arguments of calls are not constrained: the tools take too much work together. Use fewer of them.';

function attempt<T>(compile: () => T): T | null {
  try {
    return compile();
  } catch (error) {
    if (error instanceof ConstraintError) return null;
    throw error;
  }
}

/** The reason why a tool's schema cannot be enforced, or null where it can. */
function refusalOf(form: AnswerForm, tool: ToolForm, fuel: Fuel): { tool: ToolForm; message: string } | null {
  try {
    const alone = { form, tools: [tool], isFree: () => false, isForced: true, document: null };
    compileGrammar(answerGrammar(alone, fuel).grammar, fuel);
    return null;
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const name = tool.name.slice(0, 80);
    return { tool, message: `The arguments of the tool "${name}" are any object: ${error.message}` };
  }
}

function documentOf(constraint: Constraint, fuel: Fuel): { grammar: Grammar; warnings: readonly string[] } {
  check(constraint);
  if (constraint.kind === 'json_schema') return schemaGrammar(constraint.schema, constraint, fuel);
  return { grammar: grammarOf(constraint, fuel), warnings: [] };
}

const LAYOUTS: readonly unknown[] = [undefined, 'free', 'line'];

/** A caller without types may pass anything. */
function check(given: unknown): void {
  const { kind, layout, source, texts, schema, open } = given !== null ? Object(given) : {};
  const isText = typeof source === 'string';
  const isSwitch = open === undefined || typeof open === 'boolean';
  const tests: Record<string, boolean> = {
    json_object: LAYOUTS.includes(layout),
    json_schema: schema !== undefined && LAYOUTS.includes(layout) && isSwitch,
    regex: isText,
    grammar: isText,
    choice: Array.isArray(texts) && texts.length > 0 && Array.from(texts).every((text) => typeof text === 'string'),
  };
  if (typeof kind === 'string' && Object.hasOwn(tests, kind) && tests[kind]) return;
  throw new ConstraintError(
    '',
    'A constraint is one of { kind: "json_object" }, { kind: "json_schema", schema }, { kind: "regex", source }, ' +
      '{ kind: "grammar", source } and { kind: "choice", texts }; layout is "free" or "line".',
  );
}

function grammarOf(constraint: Exclude<Constraint, { kind: 'json_schema' }>, fuel: Fuel): Grammar {
  switch (constraint.kind) {
    case 'json_object':
      return jsonObjectGrammar(constraint.layout);
    case 'regex':
      return regexGrammar(constraint.source, fuel);
    case 'grammar':
      return gbnfGrammar(constraint.source, fuel);
    case 'choice':
      return choiceGrammar(constraint.texts);
  }
}

function choiceGrammar(texts: readonly string[]): Grammar {
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  if (length > MAX_TEXT) {
    throw new ConstraintError('', `The choice has more than ${MAX_TEXT} letters. Use fewer or shorter texts.`);
  }
  return [{ name: 'the choice', node: choice(...texts.map(literal)) }];
}
