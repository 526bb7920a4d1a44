// From a grammar to its automaton.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { Automaton } from '../automaton';
import type { Grammar } from '../grammar';
import { Fuel } from '../limits';
import { firstBytes } from './first_bytes';
import { decideEnds } from './follow';
import { link } from './link';

/**
 * The automaton of a grammar. It takes exactly the texts that rule 0 writes with at most MAX_STACK calls under way, and
 * after every byte that it takes, the document can still end.
 * @throws ConstraintError where one byte does not decide, for a grammar that writes nothing, and beyond limits.ts
 */
export function compileGrammar(grammar: Grammar, fuel = new Fuel()): Automaton {
  const firsts = firstBytes(grammar, fuel);
  const rules = decideEnds(grammar, firsts, fuel);
  const automaton = link(grammar, rules, firsts, fuel);
  if (automaton === null) {
    throw new ConstraintError(
      grammar[0].name,
      why`No document fits the constraint: it forbids everything, or it contains itself without an end.`,
    );
  }
  return automaton;
}
