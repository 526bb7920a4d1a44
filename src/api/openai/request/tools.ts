// The tools of a request: their checks, and as options of the engine.

import type { ApiEngine, EngineChatOptions } from '../../api_engine';
import { invalid, unsupported } from '../http/errors';
import type { SharedRequest, WireFunction } from '../http/wire_types';
import { type Check, either, form, list, object, only, text, word } from './schema';

type Tool = NonNullable<EngineChatOptions['tools']>[number];

const MAX_TOOLS = 128;

/** The name of a tool, as the engine takes it: OpenAI's form, and dots. */
const toolName = /* @__PURE__ */ form(
  'a string of 1 to 64 letters, digits, _, - and .',
  (value) => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value),
);

/** The name, description and parameters of a tool. Arguments fit them, unless all tools say `strict: false`. */
export const FUNCTION: Readonly<Record<string, Check>> = {
  'name!': toolName,
  description: text,
  parameters: object(),
};

export const isFunction = only('function', 'tools are functions');

/** @param named the checks of a tool, beside its type */
export function toolList(named: Readonly<Record<string, Check>>): Check {
  return list(object({ 'type!': isFunction, ...named }), 0, MAX_TOOLS);
}

/** The tools of chat completions. */
export const tools = toolList({ 'function!': object(FUNCTION) });

/** @param named the checks of an object that names a tool, beside its type */
export function toolChoice(named: Readonly<Record<string, Check>>): Check {
  return either(word('none', 'auto', 'required'), object({ 'type!': isFunction, ...named }));
}

export function readFunction({ name, description, parameters }: WireFunction): Tool {
  return { name, description: description ?? undefined, parameters: parameters ?? undefined };
}

/** The tools and the choice of one. `required` and names need tools. */
export function readTools(
  { info }: ApiEngine,
  functions: readonly WireFunction[] = [],
  choice: SharedRequest['tool_choice'],
): Pick<EngineChatOptions, 'tools' | 'toolChoice' | 'toolArguments'> {
  const name = typeof choice === 'object' ? (choice?.function?.name ?? choice?.name) : undefined;
  const offered = functions.map(readFunction);
  const names = new Set(offered.map((tool) => tool.name));
  if (names.size < offered.length) throw invalid('tools', 'must have different names');
  if (name !== undefined ? !names.has(name) : choice === 'required' && offered.length === 0)
    throw invalid('tool_choice', 'must be one of the tools');
  if (offered.length === 0 || choice === 'none') return {};
  if (!info.tools) throw unsupported('tools', 'the chat template takes none');
  const isFree = functions.every(({ strict }) => strict === false);
  const toolArguments = isFree ? 'free' : undefined;
  return {
    tools: offered,
    toolArguments,
    toolChoice: name === undefined ? (choice as 'auto' | 'required' | undefined) : { name },
  };
}
