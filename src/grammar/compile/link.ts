// Puts the states of all rules into one table: numbers them, resolves calls into pushes, drops what cannot end, and
// joins bytes that no state tells apart.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import { ACCEPTS, type Automaton, NO_EDGE, PUSH_WORDS } from '../automaton';
import type { Grammar } from '../grammar';
import { type Fuel, MAX_EDGES, MAX_PUSHED, MAX_STACK, MAX_STATES } from '../limits';
import { shown } from '../shown';
import type { FirstBytes } from './first_bytes';
import type { RuleStates } from './follow';
import type { Call, State } from './subset';

/** Null where no document can end. */
export function link(grammar: Grammar, rules: RuleStates, firsts: FirstBytes, fuel: Fuel): Automaton | null {
  const base = new Map<number, number>();
  let nStates = 0;
  for (const [rule, states] of rules) {
    base.set(rule, nStates);
    nStates += states.length;
  }
  const cuts = cutsOf(rules);
  const nCuts = cuts.length;
  const most = Math.min(MAX_STATES, Math.floor(MAX_EDGES / nCuts));
  if (nStates > most) {
    throw new ConstraintError(
      '',
      why`The constraint needs ${nStates} states, and may have ${most}. Use a smaller one.`,
    );
  }
  fuel.spend(nStates * nCuts);
  /** The cut at each byte that is one; behind the last byte, all of them. */
  const cutAt = Int16Array.from({ length: 257 }, (_, byte) => (byte === 256 ? nCuts : cuts.indexOf(byte)));
  const pushes = new PushRows();
  const entries = new Entries(rules, base, firsts);
  const table = new Uint32Array(nStates * nCuts).fill(NO_EDGE);
  const accepts: boolean[] = [];
  const edges = new EdgeLists();
  const cutsOfRule = beginnings(firsts, cuts);
  for (const [rule, states] of rules) {
    const start = base.get(rule) ?? 0;
    const edgeOf = ({ state, pushed }: Entry) => (state | (pushes.idOf(pushed, grammar[rule].name) << 16)) >>> 0;
    for (const state of states) {
      const row = (accepts.push(state.accepts) - 1) * nCuts;
      edges.begin();
      for (const { first, last, next } of state.edges) {
        table.fill(edges.add(start + next), row + cutAt[first], row + cutAt[last + 1]);
      }
      for (const call of state.calls) {
        for (const c of cutsOfRule(call.rule)) {
          const entry = table[row + c] === NO_EDGE ? entries.called(rule, call, cuts[c]) : null;
          if (entry) table[row + c] = edges.add(edgeOf(entry));
        }
      }
    }
  }
  edges.begin();
  const need = needsOf(edges, accepts, pushes, fuel);
  if (need[0] > MAX_STACK) return null;
  const endless = new Set(edges.all.filter((edge) => needOf(edge, need, pushes) > MAX_STACK));
  if (endless.size > 0) for (let i = 0; i < table.length; i++) if (endless.has(table[i])) table[i] = NO_EDGE;
  return { nStates, nPushes: pushes.rows.length, pushes: pushes.packed(), ...packed(table, need, accepts, cuts) };
}

/** The bytes where some state may begin to differ from the byte before. */
function cutsOf(rules: RuleStates): number[] {
  const isCut = new Uint8Array(257);
  isCut[0] = 1;
  for (const states of rules.values()) {
    for (const { edges } of states) {
      for (const { first, last } of edges) {
        isCut[first] = 1;
        isCut[last + 1] = 1;
      }
    }
  }
  return Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => isCut[byte] !== 0);
}

/** The cuts at which a text of a rule may begin, by rule. */
function beginnings(firsts: FirstBytes, cuts: readonly number[]): (rule: number) => readonly number[] {
  const known = new Map<number, number[]>();
  return (rule) => {
    const found = known.get(rule) ?? cuts.flatMap((byte, c) => (firsts.first[rule][byte] === 0 ? [] : c));
    known.set(rule, found);
    return found;
  };
}

/** The edges of each state, less those that are like the one before. */
class EdgeLists {
  readonly all: number[] = [];
  /** The first edge of each state. */
  readonly starts: number[] = [];

  /** The edges of the next state follow, or none. */
  begin(): void {
    this.starts.push(this.all.length);
  }

  add(edge: number): number {
    const { all, starts } = this;
    if (all.length === starts[starts.length - 1] || edge !== all[all.length - 1]) all.push(edge);
    return edge;
  }
}

/** Lists of states to push, each once. */
class PushRows {
  readonly rows: (readonly number[])[] = [[]];
  private readonly ids = new Map<string | number, number>();

  idOf(states: readonly number[], name: string): number {
    if (states.length === 0) return 0;
    const key = states.length === 1 ? states[0] : states.join();
    const id = this.ids.get(key) ?? this.rows.length;
    if (id < this.rows.length) return id;
    if (states.length > MAX_PUSHED || id > 0xffff) {
      throw new ConstraintError(
        name,
        why`${shown(name)} begins with too many rules inside one another. Join some of them.`,
      );
    }
    this.ids.set(key, id);
    this.rows.push(states);
    return id;
  }

  packed(): Uint32Array<ArrayBuffer> {
    const words = new Uint32Array(this.rows.length * PUSH_WORDS);
    for (const [i, row] of this.rows.entries()) words.set([row.length, ...row], i * PUSH_WORDS);
    return words;
  }
}

interface Entry {
  /** The state of the innermost rule. */
  readonly state: number;
  /** The states to return to, the bottom one first. */
  readonly pushed: readonly number[];
  /** The innermost rule has ended, and nothing can follow in it. */
  readonly isOver: boolean;
}

/** Edges of states, calls resolved down to the byte. Nothing is pushed that would only be popped again. */
class Entries {
  /** By rule * 256 + byte. */
  private readonly entered = new Map<number, Entry | null>();

  constructor(
    private readonly rules: RuleStates,
    private readonly base: ReadonlyMap<number, number>,
    private readonly firsts: FirstBytes,
  ) {}

  /** The entry that a byte leads to within a called rule, or null for none. */
  called(rule: number, call: Call, byte: number): Entry | null {
    const entry = this.enter(call.rule, byte);
    return entry && this.behind(entry, rule, call);
  }

  /** Goes down the calls and up again without recursion: rules may begin with one another in long chains. */
  private enter(rule: number, byte: number): Entry | null {
    const way: { rule: number; call: Call }[] = [];
    let entry: Entry | null | undefined;
    for (let at = rule; ; ) {
      entry = this.entered.get(at * 256 + byte);
      if (entry !== undefined) break;
      const { edges, calls } = this.statesOf(at)[0];
      const edge = edges.find(({ first, last }) => first <= byte && byte <= last);
      const call = edge ? undefined : calls.find((one) => this.firsts.first[one.rule][byte] !== 0);
      if (!call) {
        entry = edge ? this.at(at, edge.next) : null;
        this.entered.set(at * 256 + byte, entry);
        break;
      }
      way.push({ rule: at, call });
      at = call.rule;
    }
    for (const { rule: caller, call } of way.reverse()) {
      entry = entry && this.behind(entry, caller, call);
      this.entered.set(caller * 256 + byte, entry);
    }
    return entry;
  }

  /** An entry of a called rule, as its caller enters it. */
  private behind(entry: Entry, rule: number, call: Call): Entry {
    const back = this.at(rule, call.next);
    if (back.isOver) return entry; // the last thing in its rule
    if (entry.isOver) return back;
    return { ...entry, pushed: [back.state, ...entry.pushed.slice(0, MAX_PUSHED)] }; // more are too many in any case
  }

  /** A state of a rule by its number in the rule. */
  private at(rule: number, next: number): Entry {
    const { accepts, edges, calls } = this.statesOf(rule)[next];
    const isOver = accepts && edges.length === 0 && calls.length === 0;
    return { state: (this.base.get(rule) ?? 0) + next, pushed: [], isOver };
  }

  private statesOf(rule: number): readonly State[] {
    return this.rules.get(rule) ?? [];
  }
}

/** A need that cannot be met: the rule never ends from here. */
const NEVER_ENDS = 1000;

/** The places of the stack that each state takes, at the least, to end its rule. */
function needsOf(
  { all: edges, starts }: EdgeLists,
  accepts: readonly boolean[],
  pushes: PushRows,
  fuel: Fuel,
): number[] {
  const need: number[] = accepts.map((accepted) => (accepted ? 0 : NEVER_ENDS));
  // Edges mostly lead to later states, so that one round from the end settles most.
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    fuel.spend(edges.length);
    for (let state = accepts.length - 1; state >= 0; state--) {
      for (let i = starts[state]; i < starts[state + 1]; i++) {
        const least = needOf(edges[i], need, pushes);
        if (least >= need[state]) continue;
        need[state] = least;
        isSettled = false;
      }
    }
  }
  return need;
}

/** The places of the stack that an edge takes. A state that is pushed returns when the stack is down to it. */
function needOf(edge: number, need: readonly number[], pushes: PushRows): number {
  const pushed = pushes.rows[edge >>> 16];
  if (pushed.length === 0) return need[edge & 0xffff];
  let most = pushed.length + need[edge & 0xffff];
  for (let depth = 0; depth < pushed.length; depth++) most = Math.max(most, depth + need[pushed[depth]]);
  return most;
}

/** Joins columns that are alike into classes, and packs the needs. */
function packed(table: Uint32Array, need: readonly number[], accepts: readonly boolean[], cuts: readonly number[]) {
  const nCuts = cuts.length;
  const nStates = accepts.length;
  const columns: number[] = [];
  const classOf = new Uint8Array(256);
  const areAlike = (a: number, b: number) => {
    for (let row = 0; row < table.length; row += nCuts) if (table[row + a] !== table[row + b]) return false;
    return true;
  };
  for (const [c, first] of cuts.entries()) {
    const known = columns.findIndex((column) => areAlike(column, c));
    const id = known >= 0 ? known : columns.push(c) - 1;
    classOf.fill(id, first, cuts[c + 1] ?? 256);
  }
  const nClasses = columns.length;
  const edges = new Uint32Array(nStates * nClasses);
  for (let state = 0; state < nStates; state++) {
    for (let id = 0; id < nClasses; id++) edges[state * nClasses + id] = table[state * nCuts + columns[id]];
  }
  const needs = new Uint8Array(4 * Math.ceil(nStates / 4));
  for (const [state, places] of need.entries()) {
    needs[state] = Math.min(places, MAX_STACK) | (accepts[state] ? ACCEPTS : 0);
  }
  return { nClasses, classOf, edges, needs };
}
