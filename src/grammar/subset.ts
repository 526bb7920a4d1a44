// Makes a rule deterministic by subset construction. Where one byte does not tell which call to enter, the calls are
// written out in place, and the alternatives stay open until a later byte decides.

import { ConstraintError } from '../errors';
import { addRanges, type ByteSet, meet, noBytes } from './byte_set';
import type { FirstBytes } from './first_bytes';
import type { Grammar } from './grammar';
import { type Fuel, MAX_STATES } from './limits';
import { BYTE, CALL, Program, SPLIT } from './program';

interface Edge {
  readonly first: number;
  readonly last: number;
  readonly next: number;
}

interface Call {
  readonly rule: number;
  /** Where to go on when the rule has ended. */
  readonly next: number;
}

/** A state of one rule. The bytes of its edges and the first bytes of its calls are all different. */
export interface State {
  /** The rule may end here. */
  readonly accepts: boolean;
  readonly edges: readonly Edge[];
  readonly calls: readonly Call[];
}

/**
 * The states of a rule, the first of which is its start.
 * @param inPlace rules that are never called
 */
export function determinize(
  grammar: Grammar,
  rule: number,
  firsts: FirstBytes,
  inPlace: ReadonlySet<number>,
  fuel: Fuel,
): State[] {
  const { name, node } = grammar[rule];
  const program = new Program(grammar, name, fuel);
  const sets = new InstructionSets(program, firsts, inPlace, fuel);
  const ids = new Map<string, number>();
  const found: (readonly number[])[] = [];
  const idOf = (pcs: readonly number[]): number => {
    const set = sets.closure(pcs);
    const key = set.join();
    const id = ids.get(key) ?? found.length;
    if (id < found.length) return id;
    if (id >= MAX_STATES) {
      throw new ConstraintError(
        name,
        `${name} needs more than ${MAX_STATES} states. Use smaller bounds or fewer parts.`,
      );
    }
    ids.set(key, id);
    found.push(set);
    return id;
  };
  idOf([program.write(node, 0)]);
  const states: State[] = [];
  for (let i = 0; i < found.length; i++) {
    const set = sets.decided(found[i]);
    const calls = sets.calls(set).map(([callee, nexts]) => ({ rule: callee, next: idOf(nexts) }));
    const edges = sets.edges(set).map(({ first, last, nexts }) => ({ first, last, next: idOf(nexts) }));
    states.push({ accepts: set.includes(0), edges, calls });
  }
  return states;
}

/** Sets of instructions that a rule may be at, in ascending order. */
class InstructionSets {
  /** Calls that were written out, with the first instruction of the copy. */
  private readonly written = new Map<number, number>();

  constructor(
    private readonly program: Program,
    private readonly firsts: FirstBytes,
    private readonly inPlace: ReadonlySet<number>,
    private readonly fuel: Fuel,
  ) {}

  /** What can be reached without a byte. */
  closure(pcs: readonly number[]): number[] {
    const { op, next, value } = this.program;
    const seen = new Set<number>();
    const open = [...pcs];
    const set: number[] = [];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (seen.has(pc)) continue;
      seen.add(pc);
      this.fuel.spend(2);
      if (op[pc] === SPLIT) {
        open.push(next[pc], value[pc]);
      } else if (op[pc] === CALL && this.inPlace.has(value[pc])) {
        open.push(this.copyOf(pc));
      } else {
        set.push(pc);
        if (op[pc] === CALL && this.firsts.isNullable[value[pc]]) open.push(next[pc]);
      }
    }
    return set.sort((a, b) => a - b);
  }

  /** The set, with every call written out that one byte does not decide. */
  decided(set: readonly number[]): readonly number[] {
    for (let now = set; ; ) {
      const undecided = new Set(this.undecidedCalls(now));
      if (undecided.size === 0) return now;
      now = this.closure([...now.filter((pc) => !undecided.has(pc)), ...[...undecided].map((pc) => this.copyOf(pc))]);
    }
  }

  /** The rules that are called, with the instructions behind the calls. */
  calls(set: readonly number[]): [rule: number, nexts: number[]][] {
    const { op, next, value } = this.program;
    const nexts = new Map<number, number[]>();
    for (const pc of set) {
      if (op[pc] === CALL) nexts.set(value[pc], [...(nexts.get(value[pc]) ?? []), next[pc]]);
    }
    return [...nexts];
  }

  /** Ranges of bytes, with the instructions behind them. */
  edges(set: readonly number[]): { first: number; last: number; nexts: number[] }[] {
    const bytes = set.filter((pc) => this.program.op[pc] === BYTE).map((pc) => ({ pc, range: this.range(pc) }));
    const cuts = [...new Set(bytes.flatMap(({ range: [first, last] }) => (first <= last ? [first, last + 1] : [])))];
    cuts.sort((a, b) => a - b);
    const at = new Map(cuts.map((cut, i) => [cut, i]));
    const pieces = cuts.map((first, i) => ({ first, last: (cuts[i + 1] ?? first) - 1, nexts: [] as number[] }));
    for (const { pc, range } of bytes) {
      const last = at.get(range[1] + 1) ?? 0;
      for (let i = at.get(range[0]) ?? last; i < last; i++) {
        this.fuel.spend(1);
        pieces[i].nexts.push(this.program.next[pc]);
      }
    }
    return pieces.filter(({ nexts }) => nexts.length > 0);
  }

  private range(pc: number): [first: number, last: number] {
    return [this.program.value[pc] & 0xff, this.program.value[pc] >> 8];
  }

  private copyOf(pc: number): number {
    const start = this.written.get(pc) ?? this.program.writeOut(pc);
    this.written.set(pc, start);
    return start;
  }

  private undecidedCalls(set: readonly number[]): number[] {
    const { op, value } = this.program;
    const callPcs = set.filter((pc) => op[pc] === CALL);
    if (callPcs.length === 0) return [];
    const own = noBytes();
    for (const pc of set) if (op[pc] === BYTE) addRanges(own, [this.range(pc)]);
    const callees = [...new Set(callPcs.map((pc) => value[pc]))];
    const first = (rule: number): ByteSet => this.firsts.first[rule];
    const isUndecided = (rule: number) => {
      this.fuel.spend(16 * callees.length);
      return meet(own, first(rule)) || callees.some((other) => other !== rule && meet(first(rule), first(other)));
    };
    const undecided = new Set(callees.filter(isUndecided));
    return callPcs.filter((pc) => undecided.has(value[pc]));
  }
}
