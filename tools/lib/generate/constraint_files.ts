// The constraint that the flags of `generate` name, from its file.

import { ConstraintError } from '../../../src/errors';
import { type Constraint, compileConstraint } from '../../../src/grammar/constraint';
import { RunError } from '../browser/blank_page';
import { readFlagFile } from '../command_line/flag_file';
import type { GenerateFlags } from './generate_flags';

/**
 * Undefined where no flag asks for one.
 * @throws RunError for a file that is missing or cannot be enforced, before a browser starts
 */
export function readConstraint(flags: GenerateFlags): Constraint | undefined {
  const constraint = askedFor(flags);
  if (constraint === undefined) return;
  try {
    compileConstraint(constraint);
  } catch (error) {
    throw error instanceof ConstraintError ? new RunError(error) : error;
  }
  return constraint;
}

function askedFor(flags: GenerateFlags): Constraint | undefined {
  const { 'json-object': isObject, 'json-schema': schema, grammar } = flags;
  if (isObject) return { kind: 'json_object' };
  if (schema !== undefined) return { kind: 'json_schema', schema: readFlagFile('--json-schema', schema, JSON.parse) };
  if (grammar !== undefined) return { kind: 'grammar', source: readFlagFile('--grammar', grammar, String) };
}
