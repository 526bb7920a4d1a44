// Rules while they are collected. A rule gets its number before its text is known, so that it may call itself.

import { ConstraintError } from '../errors';
import { why } from '../shared/why';
import { call, EMPTY, type Grammar, type Node, type Rule } from './grammar';
import { Fuel, MAX_RULES } from './limits';

export class RuleBook {
  private readonly rules: Rule[] = [];
  private readonly shared = new Map<string, number>();

  /** @param fuel for work that is done while rules are collected */
  constructor(readonly fuel = new Fuel()) {}

  /** A call of a new rule, whose text `define` gives. */
  reserve(name: string): number {
    if (this.rules.length >= MAX_RULES) {
      throw new ConstraintError(name, why`The constraint has more than ${MAX_RULES} parts. Use a smaller one.`);
    }
    return this.rules.push({ name, node: EMPTY }) - 1;
  }

  define(rule: number, node: Node): void {
    this.rules[rule] = { name: this.rules[rule].name, node };
  }

  /** A call of rule 0 of a grammar, whose rules come into this book. */
  add(grammar: Grammar): Node {
    const first = this.rules.length;
    for (const { name } of grammar) this.reserve(name);
    for (const [i, { node }] of grammar.entries()) this.define(first + i, shifted(node, first));
    return call(first);
  }

  /** A call of the rule of this name, which is made the first time. */
  once(name: string, make: () => Node): Node {
    const known = this.shared.get(name);
    if (known !== undefined) return call(known);
    const rule = this.reserve(name);
    this.shared.set(name, rule);
    this.define(rule, make());
    return call(rule);
  }

  /** Whether `once` made this rule under this name. */
  isNamed(rule: number, name: string): boolean {
    return this.shared.get(name) === rule;
  }

  grammar(): Grammar {
    return this.rules;
  }
}

/** The node with all rules that it calls `by` further on. */
function shifted(node: Node, by: number): Node {
  const all = (nodes: readonly Node[]) => nodes.map((one) => shifted(one, by));
  switch (node.kind) {
    case 'byte':
    case 'literal':
      return node;
    case 'sequence':
    case 'choice':
    case 'beginning':
      return { ...node, parts: all(node.parts) };
    case 'repeat':
      return { ...node, part: shifted(node.part, by) };
    case 'list': {
      const parts = node.parts.map((part) => ({ ...part, node: shifted(part.node, by) }));
      return { ...node, separator: shifted(node.separator, by), parts };
    }
    case 'call':
      return call(node.rule + by);
    case 'scan': {
      const states = node.states.map((ways) => ways.map((way) => ({ ...way, node: shifted(way.node, by) })));
      return { ...node, states };
    }
  }
}
