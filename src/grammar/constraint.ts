// What an answer may be constrained by, and the automaton of each: the entrance of the room.

import { ConstraintError } from '../errors';
import type { Automaton } from './automaton';
import { compileGrammar } from './compile';
import { gbnfGrammar } from './gbnf';
import { choice, type Grammar, literal } from './grammar';
import { MAX_TEXT } from './limits';
import { regexGrammar } from './regex';
import { jsonObjectGrammar, type SchemaOptions, schemaGrammar } from './schema/json_schema';
import type { Layout } from './schema/json_text';

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

/** @throws ConstraintError for what cannot be enforced, is malformed, or takes too much */
export function compileConstraint(constraint: Constraint): CompiledConstraint {
  check(constraint);
  if (constraint.kind === 'json_schema') {
    const { grammar, warnings } = schemaGrammar(constraint.schema, constraint);
    return { automaton: compileGrammar(grammar), warnings };
  }
  return { automaton: compileGrammar(grammarOf(constraint)), warnings: [] };
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

function grammarOf(constraint: Exclude<Constraint, { kind: 'json_schema' }>): Grammar {
  switch (constraint.kind) {
    case 'json_object':
      return jsonObjectGrammar(constraint.layout);
    case 'regex':
      return regexGrammar(constraint.source);
    case 'grammar':
      return gbnfGrammar(constraint.source);
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
