// JSON Schema (2020-12, and tuples of draft 7) to a grammar. Strict: a keyword that is not enforced is an error that
// names it. What is written is always valid; where the schema is open, less may be written than it allows
// (src/grammar/README.md says where).

import { ConstraintError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { why } from '../../shared/why';
import { call, choice, type Grammar, NEVER, type Node } from '../grammar';
import { Fuel, MAX_DEPTH } from '../limits';
import { RuleBook } from '../rule_book';
import { shown } from '../shown';
import { mergedSchema } from './all_of';
import { arrayNode } from './array';
import type { SchemaContext } from './context';
import { ANY, JsonText, type Layout } from './json_text';
import { isNot, type Place, refuseBeside, saysNothing, typesOf } from './keywords';
import { objectNode } from './object';
import { plainSchema } from './plain';
import { resolve } from './reference';
import { numberNode, stringNode } from './scalar';

export interface SchemaGrammar {
  readonly grammar: Grammar;
  /** Sentences about what is enforced otherwise than the schema says. */
  readonly warnings: readonly string[];
}

export interface SchemaOptions {
  /** Default: free. */
  layout?: Layout;
  /**
   * Write also what the schema allows without naming it: other properties, items behind the prefix, and, without
   * `type`, values that its keywords are not about. Default: false.
   */
  open?: boolean;
}

/**
 * The grammar of the documents that fit a schema.
 * @param schema untrusted JSON
 * @throws ConstraintError for a keyword that is not enforced, a malformed value, and beyond limits.ts
 */
export function schemaGrammar(
  schema: unknown,
  { layout = 'free', open = false }: SchemaOptions = {},
  fuel = new Fuel(),
): SchemaGrammar {
  const book = new RuleBook(fuel);
  const warnings = new Compiler(book, plainSchema(schema), layout, open).compile();
  return { grammar: book.grammar(), warnings };
}

/**
 * Adds the documents of a schema to a book as a rule. All rules of a book have one layout.
 * @throws as schemaGrammar
 */
export function schemaRule(
  book: RuleBook,
  schema: unknown,
  { layout = 'free', open = false }: SchemaOptions = {},
): { readonly node: Node; readonly warnings: readonly string[] } {
  const compiler = new Compiler(book, plainSchema(schema), layout, open);
  return { node: call(compiler.rule), warnings: compiler.compile() };
}

/** The grammar of any JSON object. */
export function jsonObjectGrammar(layout: Layout = 'free'): Grammar {
  const book = new RuleBook();
  const root = book.reserve('the document');
  book.define(root, new JsonText(book, layout).anyObject);
  return book.grammar();
}

/** The cost of a subschema beside its rules. */
const WORK_PER_SCHEMA = 100;

class Compiler implements SchemaContext {
  readonly text: JsonText;
  /** The rule of the whole schema. */
  readonly rule: number;
  private readonly warnings = new Set<string>();
  /** The rules of references, by their text. */
  private readonly references = new Map<string, number>();
  readonly warn = (message: string): void => void this.warnings.add(message);
  private readonly todo: { rule: number; schema: unknown; place: Place }[] = [];

  constructor(
    readonly book: RuleBook,
    private readonly root: unknown,
    layout: Layout,
    readonly isOpen: boolean,
  ) {
    this.rule = book.reserve('#');
    this.references.set('#', this.rule);
    this.todo.push({ rule: this.rule, schema: root, place: { path: '#', depth: 0 } });
    this.text = new JsonText(book, layout);
  }

  /** Returns the warnings. */
  compile(): readonly string[] {
    for (let next = this.todo.pop(); next !== undefined; next = this.todo.pop()) {
      this.book.define(next.rule, this.node(next.schema, next.place));
    }
    return [...this.warnings];
  }

  node(schema: unknown, place: Place): Node {
    const { path, depth } = place;
    this.book.fuel.spend(WORK_PER_SCHEMA);
    if (depth > MAX_DEPTH) {
      throw new ConstraintError(
        path,
        why`The schema's ${shown(path)} is nested deeper than ${MAX_DEPTH} levels. Flatten it.`,
      );
    }
    if (schema === true || (isJsonObject(schema) && saysNothing(schema))) return this.text.any;
    if (schema === false) return NEVER;
    if (!isJsonObject(schema)) throw new ConstraintError(path, why`The schema's ${shown(path)} is not a schema.`);
    if ('allOf' in schema) {
      return this.node(mergedSchema(schema, this.root, path, this.book.fuel), { path, depth: depth + 1 });
    }
    if ('$ref' in schema) return this.reference(schema, place);
    if ('const' in schema || 'enum' in schema) return this.values(schema, place);
    for (const keyword of ['anyOf', 'oneOf'] as const)
      if (keyword in schema) return this.branches(keyword, schema, place);
    return choice(...typesOf(schema, path, this.isOpen).map((type) => this.typed(type, schema, place)));
  }

  ruleOf(schema: unknown, place: Place): Node {
    const node = this.node(schema, place);
    if (node.kind === 'call') return node;
    const rule = this.book.reserve(place.path);
    this.book.define(rule, node);
    return call(rule);
  }

  private reference(schema: JsonObject, { path }: Place): Node {
    refuseBeside(schema, path, '$ref', []);
    const target = resolve(this.root, schema.$ref, path);
    const known = this.references.get(target.path);
    if (known !== undefined) return call(known);
    const rule = this.book.reserve(target.path);
    this.references.set(target.path, rule);
    this.todo.push({ rule, schema: target.schema, place: { path: target.path, depth: 0 } });
    return call(rule);
  }

  private values(schema: JsonObject, { path }: Place): Node {
    const keyword = 'const' in schema ? 'const' : 'enum';
    refuseBeside(schema, path, keyword, ['type']);
    const values = keyword === 'const' ? [schema.const] : schema.enum;
    if (!Array.isArray(values)) throw new ConstraintError(path, isNot('enum', path, why`a list`));
    const types = 'type' in schema ? typesOf(schema, path, this.isOpen) : null;
    return choice(
      ...values
        .filter((value) => types === null || types.some((type) => isOf(value, type)))
        .map((value) => this.text.value(value)),
    );
  }

  private branches(keyword: 'anyOf' | 'oneOf', schema: JsonObject, { path, depth }: Place): Node {
    refuseBeside(schema, path, keyword, []);
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) {
      throw new ConstraintError(path, isNot(keyword, path, why`a list of schemas`));
    }
    if (keyword === 'oneOf') {
      this.warn(why`oneOf of ${shown(path)} is enforced as anyOf: a value may fit more than one of its schemas.`);
    }
    const nodes = branches.map((branch, i) => this.node(branch, { path: `${path}/${keyword}/${i}`, depth: depth + 1 }));
    // A value that fits anything needs no alternatives, between which a letter could not decide.
    return nodes.find((node) => node.kind === 'call' && this.book.isNamed(node.rule, ANY)) ?? choice(...nodes);
  }

  private typed(type: string, schema: JsonObject, place: Place): Node {
    switch (type) {
      case 'string':
        return stringNode(this, schema, place);
      case 'integer':
      case 'number':
        return numberNode(this, schema, place, type === 'integer');
      case 'boolean':
        return this.text.boolean;
      case 'null':
        return this.text.null;
      case 'array':
        return arrayNode(this, schema, place);
      default:
        return objectNode(this, schema, place);
    }
  }
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  return typeof value === type;
}
