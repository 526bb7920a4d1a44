// The random choices of fuzz cases.

import fc from 'fast-check';
import { randomSource } from '../random';

/** The random choices of one case, which follow from its seed. */
export class Random {
  private readonly next: () => number;

  constructor(readonly seed: number) {
    this.next = randomSource(seed);
  }

  /** An integer from 0 to n - 1; 0 for n = 0. */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)];
  }

  bytes(n: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length: n }, () => this.int(256));
  }

  /** A value of a grammar. */
  sample<T>(grammar: fc.Arbitrary<T>): T {
    return fc.sample(grammar, { seed: this.int(2 ** 31), numRuns: 1 })[0];
  }
}

/** Seed of a run's i-th case. Runs with neighboring seeds share none. */
export function caseSeed(runSeed: number, i: number): number {
  return (Math.imul(runSeed, 0x9e3779b1) + Math.imul(i, 0x85ebca6b)) >>> 0;
}
