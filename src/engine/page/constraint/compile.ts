// Constraints are compiled here, on the page: the worker is one file that imports nothing, and most requests have none.
// The newest are kept, since a page often asks for the same again.

import { WorkerError } from '../../../errors';
import type { CompiledConstraint, ConstrainedAnswer, Constraint } from '../../../grammar/constraint';
import { fromFailure } from '../../failure';
import { loadCompiler } from './load_compiler';

/** Most constraints that are kept, and bytes of their tables. */
const MOST_KEPT = 16;
const MOST_BYTES = 16 * 2 ** 20;
/** Longest text of a constraint that is kept. */
const MAX_KEY = 256 * 1024;

/** By their exact text, the newest last. */
const kept = new Map<string, CompiledConstraint>();

/** @throws ConstraintError for what cannot be enforced, WorkerError where the compiler cannot be fetched */
export async function compiled(asked: Constraint | ConstrainedAnswer): Promise<CompiledConstraint> {
  const key = keyOf(asked);
  const known = key === null ? undefined : kept.get(key);
  if (key !== null && known) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const { compile } = await loadCompiler().catch((error: unknown) => {
    throw new WorkerError(`The part of the engine that compiles constraints could not be loaded: ${error}`);
  });
  const result = compile(asked);
  if ('type' in result) throw fromFailure(result);
  if (key !== null) keep(key, result);
  return result;
}

/** Null for what JSON cannot hold, and for what is too long. */
function keyOf(asked: unknown): string | null {
  try {
    const text = JSON.stringify(asked) ?? null;
    return text !== null && text.length <= MAX_KEY ? text : null;
  } catch {
    return null;
  }
}

function keep(key: string, result: CompiledConstraint): void {
  kept.set(key, result);
  let bytes = [...kept].reduce((sum, [text, { automaton }]) => sum + 2 * text.length + automaton.edges.byteLength, 0);
  for (const [oldest, { automaton }] of kept) {
    if (kept.size <= MOST_KEPT && bytes <= MOST_BYTES) return;
    kept.delete(oldest);
    bytes -= 2 * oldest.length + automaton.edges.byteLength;
  }
}
