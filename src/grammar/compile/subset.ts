// Makes a rule deterministic by subset construction. Where one byte does not tell which call to enter, the calls are
// written out in place, and the alternatives stay open until a later byte decides.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { Grammar } from '../grammar';
import { type Fuel, MAX_STATES } from '../limits';
import { shown } from '../shown';
import { type ByteSet, meet, noBytes } from './byte_set';
import type { FirstBytes } from './first_bytes';
import { BYTE, CALL, Program, SPLIT } from './program';

interface Edge {
  readonly first: number;
  readonly last: number;
  readonly next: number;
}

export interface Call {
  readonly rule: number;
  /** The instruction after the end of the rule. */
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
  const ids = new SetIds();
  const idOf = (pcs: readonly number[]): number => {
    const id = ids.idOf(sets.closure(pcs));
    if (id < MAX_STATES) return id;
    throw new ConstraintError(
      name,
      why`${shown(name)} needs more than ${MAX_STATES} states. Use smaller bounds or fewer parts.`,
    );
  };
  idOf([program.write(node, 0)]);
  const states: State[] = [];
  for (let i = 0; i < ids.sets.length; i++) {
    fuel.spend(WORK_PER_STATE);
    const set = sets.decided(ids.sets[i]);
    const calls = sets.calls(set).map(([callee, nexts]) => ({ rule: callee, next: idOf(nexts) }));
    const edges = sets.edges(set).map(({ first, last, nexts }) => ({ first, last, next: idOf(nexts) }));
    states.push({ accepts: set[0] === 0, edges, calls });
  }
  return states;
}

/** The cost of a state beside its instructions and edges. */
const WORK_PER_STATE = 100;

/** Instructions in ascending order. */
type InstructionSet = Int32Array;

/** Numbers sets in the order in which they come, each once. */
class SetIds {
  readonly sets: InstructionSet[] = [];
  private readonly byHash = new Map<number, number[]>();

  idOf(set: InstructionSet): number {
    let hash = set.length;
    for (const pc of set) hash = (Math.imul(hash, 0x01000193) ^ pc) | 0;
    const alike = this.byHash.get(hash);
    const known = alike?.find((id) => areEqual(this.sets[id], set));
    if (known !== undefined) return known;
    const id = this.sets.push(set) - 1;
    if (alike) alike.push(id);
    else this.byHash.set(hash, [id]);
    return id;
  }
}

function areEqual(a: InstructionSet, b: InstructionSet): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Sets of instructions that a rule may be at. */
class InstructionSets {
  /** Calls that were written out, with the first instruction of the copy. */
  private readonly written = new Map<number, number>();
  /** The last closure that met an instruction. */
  private readonly visits: number[] = [];
  private visit = 0;
  /** Marks each byte at which a range begins, or before which one ends. */
  private readonly isCut = new Uint8Array(257);
  /** The piece that begins at a cut. */
  private readonly pieceAt = new Int16Array(257);

  constructor(
    private readonly program: Program,
    private readonly firsts: FirstBytes,
    private readonly inPlace: ReadonlySet<number>,
    private readonly fuel: Fuel,
  ) {}

  /** True for one range of bytes alone, as most states of a long literal are. */
  private isByte(set: ArrayLike<number>): boolean {
    return set.length === 1 && this.program.op[set[0]] === BYTE;
  }

  /**
   * The instructions that can be reached without a byte.
   * @param opened calls that are written out, beside those that always are
   */
  closure(pcs: readonly number[], opened?: ReadonlySet<number>): InstructionSet {
    const { op, next, value } = this.program;
    if (this.isByte(pcs)) {
      this.fuel.spend(2);
      return Int32Array.of(pcs[0]);
    }
    this.visit++;
    const open = [...pcs];
    const set: number[] = [];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      this.fuel.spend(2);
      if (this.visits[pc] === this.visit) continue;
      this.visits[pc] = this.visit;
      if (op[pc] === SPLIT) {
        open.push(next[pc], value[pc]);
      } else if (op[pc] === CALL && (this.inPlace.has(value[pc]) || opened?.has(pc))) {
        open.push(this.copyOf(pc));
      } else {
        set.push(pc);
        if (op[pc] === CALL && this.firsts.isNullable[value[pc]]) open.push(next[pc]);
      }
    }
    return Int32Array.from(set).sort();
  }

  /** The set, with every call written out that one byte does not decide. */
  decided(set: InstructionSet): InstructionSet {
    if (this.isByte(set)) return set;
    const opened = new Set<number>(); // a part that may be empty, repeated, leads back to its call
    for (let now = set; ; ) {
      const undecided = this.undecidedCalls(now);
      if (undecided.length === 0) return now;
      for (const pc of undecided) opened.add(pc);
      now = this.closure([...now], opened);
    }
  }

  /** The rules that are called, with the instructions behind the calls. */
  calls(set: InstructionSet): [rule: number, nexts: number[]][] {
    if (this.isByte(set)) return [];
    const { op, next, value } = this.program;
    const nexts = new Map<number, number[]>();
    for (const pc of set) {
      if (op[pc] !== CALL) continue;
      const known = nexts.get(value[pc]);
      if (known) known.push(next[pc]);
      else nexts.set(value[pc], [next[pc]]);
    }
    return [...nexts];
  }

  /** Ranges of bytes, with the instructions behind them. */
  edges(set: InstructionSet): { first: number; last: number; nexts: number[] }[] {
    const { op, next, value } = this.program;
    if (this.isByte(set)) {
      const [first, last] = [value[set[0]] & 0xff, value[set[0]] >> 8];
      return first <= last ? [{ first, last, nexts: [next[set[0]]] }] : [];
    }
    const { isCut, pieceAt } = this;
    const cuts: number[] = [];
    const cut = (byte: number) => {
      if (isCut[byte] === 0) cuts.push(byte);
      isCut[byte] = 1;
    };
    for (const pc of set) {
      if (op[pc] !== BYTE) continue;
      cut(value[pc] & 0xff);
      cut((value[pc] >> 8) + 1);
    }
    cuts.sort((a, b) => a - b);
    const pieces: { first: number; last: number; nexts: number[] }[] = [];
    for (const [i, first] of cuts.entries()) {
      isCut[first] = 0;
      pieceAt[first] = i;
      if (i + 1 < cuts.length) pieces.push({ first, last: cuts[i + 1] - 1, nexts: [] });
    }
    for (const pc of set) {
      if (op[pc] !== BYTE) continue;
      const end = pieceAt[(value[pc] >> 8) + 1];
      for (let i = pieceAt[value[pc] & 0xff]; i < end; i++) {
        this.fuel.spend(1);
        pieces[i].nexts.push(next[pc]);
      }
    }
    return pieces.filter(({ nexts }) => nexts.length > 0);
  }

  private copyOf(pc: number): number {
    const start = this.written.get(pc) ?? this.program.writeOut(pc);
    this.written.set(pc, start);
    return start;
  }

  private undecidedCalls(set: InstructionSet): number[] {
    const { op, value } = this.program;
    let nCalls = 0;
    for (const pc of set) if (op[pc] === CALL) nCalls++;
    if (nCalls === 0) return [];
    const callPcs = [...set].filter((pc) => op[pc] === CALL);
    const own = noBytes();
    for (const pc of set) if (op[pc] === BYTE) own.fill(1, value[pc] & 0xff, (value[pc] >> 8) + 1);
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
