// Loops as Jinja in Python runs them: a round has variables of its own, and what it has printed before `continue` or
// `break` stays. The library keeps variables for the next round and drops that text.

import { Environment, Interpreter } from '@huggingface/jinja';
import { type Node, type Scope, toValue, type Value } from './jinja_values';

interface Syntax {
  type: string;
  test: Node;
  body: Node[];
  alternate: Node[];
}

/** Node type of the body of a loop. */
const ROUND = 'Round';

/** The end of a round, on its way to the loop. */
class Exit extends Error {
  /** What the round has printed. */
  text = '';

  constructor(readonly node: Node) {
    super(`${node?.type} outside of a loop`);
  }
}

export class LoopInterpreter extends Interpreter {
  override evaluate(node: Node, scope: Scope): Value {
    const { type, test, body, alternate } = (node ?? {}) as unknown as Syntax;
    switch (type) {
      case 'If':
        return this.block(this.evaluate(test, scope).__bool__().value ? body : alternate, scope);
      case 'For':
        return super.evaluate({ ...node, body: [{ type: ROUND, body }] } as unknown as Node, scope);
      case ROUND:
        return this.round(node as unknown as Syntax, scope);
      case 'Break':
      case 'Continue':
        throw new Exit(node);
      default:
        return super.evaluate(node, scope);
    }
  }

  private round(loop: Syntax, scope: Scope): Value {
    try {
      return this.block(loop.body, new Environment(scope));
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      if (error.text === '') return super.evaluate(error.node, scope); // the library's own end of a round
      if (error.node?.type === 'Break') loop.body = [error.node]; // in the next round, without text
      return toValue(error.text);
    }
  }

  private block(statements: readonly Node[], scope: Scope): Value {
    let text = '';
    try {
      for (const statement of statements) {
        const value = this.evaluate(statement, scope);
        if (value.type !== 'NullValue' && value.type !== 'UndefinedValue') text += value.toString();
      }
    } catch (error) {
      if (error instanceof Exit) error.text = text + error.text;
      throw error;
    }
    return toValue(text);
  }
}
