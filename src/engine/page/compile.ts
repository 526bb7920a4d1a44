// Constraints are compiled here, on the page: the worker is one file that imports nothing, and most requests have none.

import { WorkerError } from '../../errors';
import type { CompiledConstraint, Constraint } from '../../grammar/constraint';
import { fromFailure } from '../failure';
import { loadCompiler } from './load_compiler';

/** @throws ConstraintError for what cannot be enforced, WorkerError where the compiler cannot be fetched */
export async function compiled(constraint: Constraint): Promise<CompiledConstraint> {
  const { compile } = await loadCompiler().catch((error: unknown) => {
    throw new WorkerError(`The part of the engine that compiles constraints could not be loaded: ${error}`);
  });
  const result = compile(constraint);
  if ('type' in result) throw fromFailure(result);
  return result;
}
