// The compiler of constraints, a part of its own that is fetched with the first of them. In the package and beside the
// script tag it is a bundle with errors of its own, so that failures cross as plain fields, as they do from the worker.

import {
  type CompiledConstraint,
  type ConstrainedAnswer,
  type Constraint,
  compileAnswer,
  compileConstraint,
} from '../grammar/constraint';
import { toFailure } from './failure';
import type { WorkerFailure } from './protocol';

/** @param asked a constraint alone, or what is constrained in an answer that holds more */
export function compile(asked: Constraint | ConstrainedAnswer): CompiledConstraint | WorkerFailure {
  try {
    return isAnswer(asked) ? compileAnswer(asked) : compileConstraint(asked);
  } catch (error) {
    return toFailure(error);
  }
}

/** A caller without types may pass anything as a constraint. */
const isAnswer = (asked: Constraint | ConstrainedAnswer): asked is ConstrainedAnswer =>
  typeof asked === 'object' && asked !== null && 'form' in asked;
