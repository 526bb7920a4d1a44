// Sets of letters as nodes, each made once: a hostile text repeats a set, or has thousands of them.

import { ConstraintError } from '../../errors';
import { why } from '../../shared/why';
import type { Node } from '../grammar';
import { type Fuel, MAX_SETS } from '../limits';
import type { CodePoints } from './code_points';

/** Writes one letter out of a set. */
export type WriteLetter = (set: CodePoints) => Node;

const WORK_PER_SET = 500;
const WORK_PER_RANGE = 150;

export class Letters {
  private readonly known = new Map<string, Node>();
  private setsLeft = MAX_SETS;

  constructor(
    private readonly write: WriteLetter,
    private readonly fuel: Fuel,
  ) {}

  /** @throws ConstraintError for too many sets */
  of(set: CodePoints): Node {
    const key = set.join();
    let node = this.known.get(key);
    if (node === undefined) {
      this.fuel.spend(WORK_PER_SET + WORK_PER_RANGE * set.length);
      if (set.length > 1 && this.setsLeft-- === 0) {
        throw new ConstraintError(
          '',
          why`The constraint has more than ${MAX_SETS} different sets of letters. Use fewer of them.`,
        );
      }
      node = this.write(set);
      this.known.set(key, node);
    }
    return node;
  }
}
