// The compiler of constraints, a part of its own that is fetched with the first of them. In the package and beside the
// script tag it is a bundle with errors of its own, so that failures cross as plain fields, as they do from the worker.

import { type CompiledConstraint, type Constraint, compileConstraint } from '../grammar/constraint';
import { toFailure } from './failure';
import type { WorkerFailure } from './protocol';

export function compile(constraint: Constraint): CompiledConstraint | WorkerFailure {
  try {
    return compileConstraint(constraint);
  } catch (error) {
    return toFailure(error);
  }
}
