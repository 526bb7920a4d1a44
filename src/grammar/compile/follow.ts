// Where a rule may end and may also go on, the next byte has to tell which: none of the bytes that go on may follow it.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { Grammar } from '../grammar';
import type { Fuel } from '../limits';
import { shown } from '../shown';
import { addAll, addRanges, type ByteSet, meet, noBytes } from './byte_set';
import type { FirstBytes } from './first_bytes';
import { determinize, type State } from './subset';

/** The states of each rule that is called, by its number. */
export type RuleStates = ReadonlyMap<number, readonly State[]>;

/**
 * Makes all rules deterministic. A rule whose end is not decided by one byte is written out where it is called, so that
 * its callers decide.
 * @throws ConstraintError for such a rule that calls itself
 */
export function decideEnds(grammar: Grammar, firsts: FirstBytes, fuel: Fuel): RuleStates {
  const inPlace = new Set<number>();
  for (;;) {
    const rules = reachedRules(grammar, firsts, inPlace, fuel);
    const undecided = undecidedRules(rules, firsts, fuel);
    if (undecided.length === 0) return rules;
    for (const rule of undecided) {
      if (rule === 0 || isRecursive(rules, rule)) {
        const { name } = grammar[rule];
        throw new ConstraintError(
          name,
          why`${shown(name)} may end or go on with the same letter, so that one letter does not tell. Write what follows it so that it begins differently.`,
        );
      }
      inPlace.add(rule);
    }
  }
}

function reachedRules(grammar: Grammar, firsts: FirstBytes, inPlace: ReadonlySet<number>, fuel: Fuel): RuleStates {
  const rules = new Map<number, State[]>();
  const open = [0];
  for (let rule = open.pop(); rule !== undefined; rule = open.pop()) {
    if (rules.has(rule)) continue;
    const states = determinize(grammar, rule, firsts, inPlace, fuel);
    rules.set(rule, states);
    for (const { calls } of states) for (const { rule: callee } of calls) if (!rules.has(callee)) open.push(callee);
  }
  return rules;
}

function isRecursive(rules: RuleStates, rule: number): boolean {
  const seen = new Set<number>();
  const open = [rule];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { calls } of rules.get(at) ?? []) {
      for (const call of calls) {
        if (call.rule === rule) return true;
        if (!seen.has(call.rule)) open.push(call.rule);
        seen.add(call.rule);
      }
    }
  }
  return false;
}

/** Rules with a state that may end and go on with a byte that may also follow the rule. */
function undecidedRules(rules: RuleStates, firsts: FirstBytes, fuel: Fuel): number[] {
  const follow = followBytes(rules, firsts, fuel);
  return [...rules]
    .filter(([rule, states]) => {
      const after = follow.get(rule) ?? noBytes();
      const goesOn = ({ edges, calls }: State) => edges.length > 0 || calls.length > 0;
      return states.some((state) => state.accepts && goesOn(state) && meet(after, bytesOf(state, firsts)));
    })
    .map(([rule]) => rule);
}

function followBytes(rules: RuleStates, firsts: FirstBytes, fuel: Fuel): ReadonlyMap<number, ByteSet> {
  const follow = new Map([...rules.keys()].map((rule) => [rule, noBytes()]));
  const inherits: [caller: ByteSet, callee: ByteSet][] = [];
  for (const [rule, states] of rules) {
    for (const { calls } of states) {
      for (const { rule: callee, next } of calls) {
        fuel.spend(64);
        const callers = follow.get(rule);
        const callees = follow.get(callee);
        if (!callers || !callees) continue;
        addAll(callees, bytesOf(states[next], firsts));
        if (states[next].accepts && callers !== callees) inherits.push([callers, callees]);
      }
    }
  }
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    fuel.spend(64 * inherits.length);
    for (const [caller, callee] of inherits) if (addAll(callee, caller)) isSettled = false;
  }
  return follow;
}

function bytesOf(state: State, firsts: FirstBytes): ByteSet {
  const set = noBytes();
  addRanges(
    set,
    state.edges.map(({ first, last }) => [first, last]),
  );
  for (const { rule } of state.calls) addAll(set, firsts.first[rule]);
  return set;
}
