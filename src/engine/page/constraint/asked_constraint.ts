// Whether there is anything to constrain in the answer to a request. What constrains it is a part (constrain.ts).

import type { AnswerForm } from '../../../text/answer/answer_form';
import type { EngineInfo, GenerateInput, GenerateOptions, Tool } from '../../protocol';

/** The facts of a model that a constraint needs. */
export interface Constrainable {
  readonly info: Pick<EngineInfo, 'thinking'>;
  readonly form: AnswerForm | null;
}

export type ConstrainOptions = Pick<GenerateOptions, 'constraint' | 'toolArguments' | 'thinking'>;

/** True where there is something to constrain. */
export function asksForConstraint(model: Constrainable, input: GenerateInput, options: ConstrainOptions): boolean {
  return options.constraint !== undefined || toolsOf(model, input, options).length > 0;
}

/** The tools of a request whose calls can be constrained. The worker refuses tools that are none. */
export function toolsOf(
  { form }: Pick<Constrainable, 'form'>,
  input: GenerateInput,
  { toolArguments }: ConstrainOptions,
): readonly Tool[] {
  return form?.calls && toolArguments !== 'free' ? givenTools(input) : [];
}

/** The tools that may be called. */
export function givenTools(input: GenerateInput): readonly Tool[] {
  if (!('messages' in input) || input.toolChoice === 'none') return [];
  const tools: unknown = input.tools;
  return Array.isArray(tools) && tools.every(isTool) ? tools : [];
}

const isTool = (tool: unknown): tool is Tool =>
  typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string' && tool.name !== '';
