// Sets of letters as nodes, each made once: a hostile text repeats a set, or has thousands of them.

import type { Node } from '../grammar';
import type { Fuel } from '../limits';
import type { CodePoints } from './code_points';

/** Writes one letter out of a set. */
export type WriteLetter = (set: CodePoints) => Node;

const WORK_PER_SET = 500;

export class Letters {
  private readonly known = new Map<string, Node>();

  constructor(
    private readonly write: WriteLetter,
    private readonly fuel: Fuel,
  ) {}

  of(set: CodePoints): Node {
    const key = set.join();
    let node = this.known.get(key);
    if (node === undefined) {
      this.fuel.spend(WORK_PER_SET);
      node = this.write(set);
      this.known.set(key, node);
    }
    return node;
  }
}
