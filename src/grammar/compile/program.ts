// A rule as a program of small instructions, each with its successors: the automaton before it becomes deterministic.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { ByteRange, Grammar, ListPart, Node, ScanState } from '../grammar';
import { type Fuel, MAX_DEPTH, MAX_INSTRUCTIONS } from '../limits';
import { shown } from '../shown';

/** The kinds of instructions. END ends the rule, SPLIT goes both ways, BYTE and CALL go on behind a byte or a rule. */
const END = 0;
export const SPLIT = 1;
export const BYTE = 2;
export const CALL = 3;

/** Instructions, built from the end to the beginning: each one knows what comes after it. */
export class Program {
  readonly op: number[] = [END];
  /** The next instructions. An END has none. */
  readonly next: number[] = [0];
  /** SPLIT: the other way. BYTE: the first byte, and the last one << 8. CALL: the rule. */
  readonly value: number[] = [0];
  /** The number of calls around an instruction that were written out in place. */
  readonly level: number[] = [0];
  private writtenLevel = 0;

  constructor(
    private readonly grammar: Grammar,
    private readonly name: string,
    private readonly fuel: Fuel,
  ) {}

  /** The first instruction of a program that writes what `node` says and goes on at `next`. */
  write(node: Node, next: number): number {
    switch (node.kind) {
      case 'byte':
        return this.either(node.ranges.map((range) => this.byte(range, next)));
      case 'literal': {
        for (let i = node.bytes.length - 1; i >= 0; i--) next = this.byte([node.bytes[i], node.bytes[i]], next);
        return next;
      }
      case 'sequence': {
        for (let i = node.parts.length - 1; i >= 0; i--) next = this.write(node.parts[i], next);
        return next;
      }
      case 'choice':
        return this.either(node.parts.map((part) => this.write(part, next)));
      case 'beginning':
        return this.beginning(node.parts.length, node.min, next, (i, after) => this.write(node.parts[i], after));
      case 'repeat':
        return this.repeat(node.part, node.min, node.max, next);
      case 'list':
        return this.list(node.separator, node.parts, next);
      case 'call':
        return this.add(CALL, next, node.rule);
      case 'scan':
        return this.scan(node.states, next);
    }
  }

  /** A copy of the called rule's program, in place of the call. */
  writeOut(pc: number): number {
    this.writtenLevel = this.level[pc] + 1;
    if (this.writtenLevel > MAX_DEPTH) {
      const { name } = this.grammar[this.value[pc]];
      throw new ConstraintError(
        this.name,
        why`${shown(this.name)} has alternatives that begin alike for too long: where ${shown(name)} begins, one letter does not tell which of them it is. Make them differ early, or leave one out.`,
      );
    }
    return this.write(this.grammar[this.value[pc]].node, this.next[pc]);
  }

  private add(op: number, next: number, value: number): number {
    this.fuel.spend(4);
    if (this.op.length >= MAX_INSTRUCTIONS) {
      throw new ConstraintError(this.name, why`${shown(this.name)} is too large. Use smaller bounds or fewer parts.`);
    }
    this.op.push(op);
    this.next.push(next);
    this.value.push(value);
    this.level.push(this.writtenLevel);
    return this.op.length - 1;
  }

  private byte([first, last]: ByteRange, next: number): number {
    return this.add(BYTE, next, first | (last << 8));
  }

  private either(ways: readonly number[]): number {
    // Bytes from 1 to 0: an instruction that nothing passes.
    if (ways.length === 0) return this.add(BYTE, 0, 1);
    return ways.slice(0, -1).reduceRight((rest, way) => this.add(SPLIT, way, rest), ways[ways.length - 1]);
  }

  private beginning(n: number, min: number, next: number, part: (i: number, after: number) => number): number {
    let start = next;
    for (let i = n - 1; i >= 0; i--) {
      this.fuel.spend(1); // parts may be empty
      start = part(i, start);
      if (i >= min) start = this.either([start, next]);
    }
    return start;
  }

  private repeat(part: Node, min: number, max: number | null, next: number): number {
    if (max !== null) return this.beginning(max, min, next, (_, after) => this.write(part, after));
    const again = this.add(SPLIT, next, next);
    this.next[again] = this.write(part, again);
    return this.beginning(min, min, again, (_, after) => this.write(part, after));
  }

  /** States lead to one another, so that each begins with an instruction that learns last where it goes. */
  private scan(states: readonly ScanState[], next: number): number {
    const begins = states.map(() => this.add(SPLIT, next, next));
    for (const [i, ways] of states.entries()) {
      const way = this.either(ways.map(({ node, next: to }) => this.write(node, to === null ? next : begins[to])));
      this.next[begins[i]] = way;
      this.value[begins[i]] = way;
    }
    return begins[0];
  }

  /** Two ways through the list: nothing was written yet, or a separator is due. They join in each part. */
  private list(separator: Node, parts: readonly ListPart[], next: number): number {
    let atStart = this.either([]);
    let after = next;
    for (let i = parts.length - 1; i >= 0; i--) {
      const { node, isOptional } = parts[i];
      const here = this.write(node, after);
      const separated = this.write(separator, here);
      atStart = isOptional ? this.either([here, atStart]) : here;
      after = isOptional ? this.either([separated, after]) : separated;
    }
    return atStart;
  }
}
