// Compiles hostile constraints, and looks after each one whether the compiler still does what it did.

import { ConstraintError } from '../../../src/errors';
import { compileConstraint } from '../../../src/grammar/constraint';
import { randomSource } from '../../random';
import { hostileConstraint } from './hostile_constraints';

const SOUND = {
  kind: 'json_schema',
  schema: { type: 'object', properties: { a: { type: 'string', format: 'date' }, b: { $ref: '#' } }, required: ['a'] },
} as const;

export interface HostileCounts {
  compiled: number;
  /** Refused with a typed error. */
  refused: number;
  /** Another error, or a compiler that is another one afterwards: never any. */
  wrong: string[];
  slowest: { seed: number; ms: number };
}

/** @param clock in ms: CPU time, so that what else the machine does counts for nothing */
export function compileHostile(seeds: readonly number[], clock: () => number): HostileCounts {
  const counts: HostileCounts = { compiled: 0, refused: 0, wrong: [], slowest: { seed: -1, ms: 0 } };
  const sound = tables();
  for (const seed of seeds) {
    const constraint = hostileConstraint(randomSource(seed));
    const start = clock();
    try {
      compileConstraint(constraint);
      counts.compiled++;
    } catch (error) {
      if (error instanceof ConstraintError && error.message !== '') counts.refused++;
      else counts.wrong.push(`seed ${seed}: ${error}`);
    }
    const ms = clock() - start;
    if (ms > counts.slowest.ms) counts.slowest = { seed, ms };
  }
  if (tables() !== sound) counts.wrong.push('a sound schema has other tables than before');
  return counts;
}

function tables(): string {
  const { automaton } = compileConstraint(SOUND);
  return [automaton.nStates, automaton.classOf, automaton.edges, automaton.pushes, automaton.needs].join();
}
