// What the parts of the schema compiler share.

import type { Node } from '../grammar';
import type { RuleBook } from '../rule_book';
import type { JsonText } from './json_text';
import type { Place } from './keywords';

/** The services that the parts of the compiler share. */
export interface SchemaContext {
  readonly book: RuleBook;
  readonly text: JsonText;
  /** Write also what the schema allows without naming it. */
  readonly isOpen: boolean;
  /** Takes a sentence about what is enforced otherwise than the schema says. */
  readonly warn: (message: string) => void;
  /** The grammar of a subschema. */
  node(schema: unknown, place: Place): Node;
  /** The same as a rule, for what is written more than once. */
  ruleOf(schema: unknown, place: Place): Node;
}
