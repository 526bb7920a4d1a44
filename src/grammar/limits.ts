// The bounds of a constraint. Each is counted in steps or states, never in time, so that every device refuses the same.

import { ConstraintError } from '../errors';
import { why } from '../shared/why';

/** Longest text of a schema, a regular expression or a grammar, in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;

/** Deepest nesting of subschemas, of groups in a regular expression and of parentheses in a grammar. */
export const MAX_DEPTH = 32;

/** Most rules of a grammar. */
export const MAX_RULES = 8192;

/** Most different sets of letters that are no single range, such as `[^a]`. Each takes tens of instructions. */
export const MAX_SETS = 1024;

/** Most instructions of a rule's program before it becomes deterministic. */
export const MAX_INSTRUCTIONS = 1 << 18;

/** Most states of an automaton. A state is a u16, and 0xffff says that there is none. */
export const MAX_STATES = 0xffff;

/** Most edges of an automaton, states times classes of bytes: 16 MB on the GPU. */
export const MAX_EDGES = 1 << 22;

/** Most states that wait for a return while a document is walked. A state of a walk is then 32 words. */
export const MAX_STACK = 30;

/** Most states that one edge pushes. A row of `pushes` is then eight words. */
export const MAX_PUSHED = 7;

/** Work of one compilation: most of a second on a slow machine. */
const MAX_WORK = 10_000_000;

/** The remaining work of one compilation. */
export class Fuel {
  private left: number;

  constructor(work = MAX_WORK) {
    this.left = work;
  }

  /** Work done so far. */
  get used(): number {
    return MAX_WORK - this.left;
  }

  /** @throws ConstraintError where more is asked for than is left */
  spend(work: number): void {
    this.left -= work;
    if (this.left < 0) {
      throw new ConstraintError('', why`The constraint takes too much work to prepare. Use a smaller or simpler one.`);
    }
  }
}
