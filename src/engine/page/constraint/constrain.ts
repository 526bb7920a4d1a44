// What is constrained in the answer to a request: the document that the option `constraint` asks for, and the calls of
// tools, whose arguments follow the schemas of their tools without being asked. A part: it comes with the first one.

import { VivaceError } from '../../../errors';
import type { AskedConstraint, Constraint, EngineInfo, GenerateInput, GenerateOptions } from '../../protocol';
import { type Constrainable, type ConstrainOptions, givenTools, toolsOf } from './asked_constraint';
import { compiled } from './compile';

export interface ConstrainedRequest {
  constraint?: AskedConstraint;
  warnings: readonly string[];
}

/**
 * A schema of a tool that cannot be enforced is no error: a warning names the keyword, and the arguments are free.
 * @throws ConstraintError for a constraint that cannot be enforced, WorkerError where the compiler cannot be fetched
 */
export async function constrained(
  model: Constrainable,
  input: GenerateInput,
  options: ConstrainOptions,
): Promise<ConstrainedRequest> {
  const { constraint } = options;
  const tools = toolsOf(model, input, options);
  const { form } = model;
  const isForced = isForcedCall(input);
  if (constraint === undefined) {
    if (!form || tools.length === 0) return { warnings: [] };
    try {
      const { automaton, warnings } = await compiled({ form, tools, isForced });
      return { constraint: { automaton, onlyCalls: true }, warnings };
    } catch (error) {
      if (!(error instanceof VivaceError)) throw error;
      return { warnings: [`The arguments of calls are not constrained: ${error.message}`] };
    }
  }
  const thinks = form?.thinking && 'messages' in input && mayThink(model.info.thinking, options.thinking);
  const asked =
    form && (thinks || tools.length > 0)
      ? { constraint, form: { ...form, thinking: thinks ? form.thinking : null }, tools, isForced }
      : constraint;
  const { automaton, warnings } = await compiled(asked);
  const isWithout = tools.length === 0 && givenTools(input).length > 0;
  return { constraint: { automaton, onlyCalls: false }, warnings: isWithout ? [...warnings, NO_CALLS] : warnings };
}

const NO_CALLS =
  'The answer is a document and calls no tools: beside a constraint, the calls of this model are unknown.';

function isForcedCall(input: GenerateInput): boolean {
  const choice = 'messages' in input ? input.toolChoice : undefined;
  return choice === 'required' || (typeof choice === 'object' && choice !== null);
}

/** A model that can choose thinks before a document only where it is asked to. */
function mayThink(ability: EngineInfo['thinking'], asked: GenerateOptions['thinking']): boolean {
  return ability === 'always' || (ability === 'optional' && asked === 'on');
}

/**
 * The sentences about what of a constraint is enforced otherwise than asked for, without a model.
 * @throws as compiled
 */
export async function sayDifferences(constraint: Constraint): Promise<readonly string[]> {
  return (await compiled(constraint)).warnings;
}
