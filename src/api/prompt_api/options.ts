// The options of a session: sampling, expected inputs and outputs, tools, thinking.

import type { EngineChatOptions } from '../../engine/engine';
import type { GenerateOptions, Tool } from '../../engine/protocol';
import { isJsonObject } from '../../shared/json_object';
import { notSupported } from './errors';
import { CONTENT_TYPES, dictionary } from './input';
import type {
  LanguageModelCreateCoreOptions,
  LanguageModelParams,
  LanguageModelPromptOptions,
  LanguageModelSamplingMode,
  LanguageModelThinking,
  LanguageModelTool,
  PromptEngine,
} from './types';

/** The defaults are those of the engine. */
export const PARAMS: LanguageModelParams = {
  defaultTopK: 40,
  maxTopK: 128,
  defaultTemperature: 0.6,
  maxTemperature: 2,
};

/** Temperature, top-k and top-p of each mode. `balanced` is the engine's own default. */
const MODES: Readonly<Record<LanguageModelSamplingMode, readonly [temperature: number, topK: number, topP: number]>> = {
  'most-predictable': [0, 1, 1],
  predictable: [0.2, 10, 0.8],
  'slightly-predictable': [0.4, 20, 0.85],
  balanced: [PARAMS.defaultTemperature, PARAMS.defaultTopK, 0.9],
  'slightly-creative': [0.8, 60, 0.92],
  creative: [1, 100, 0.95],
  'most-creative': [1.4, PARAMS.maxTopK, 1],
};

const EFFORTS = ['none', 'low', 'medium', 'high'];

/** The checked options of a session. */
export interface SessionOptions {
  samplingMode: LanguageModelSamplingMode | null;
  temperature: number;
  topK: number;
  topP?: number;
  tools: readonly LanguageModelTool[];
  /** The tools as the engine takes them. */
  definitions: readonly Tool[] | undefined;
  /** Types of content, beside text, that prompts may have. */
  inputs: ReadonlySet<string>;
  thinks: boolean;
  /** The reason why no text model can do this, or null if it can. */
  refusal: string | null;
}

/** @throws TypeError or RangeError for options that no model could have */
export function readOptions(options: LanguageModelCreateCoreOptions): SessionOptions {
  const { expectedInputs, expectedOutputs } = options;
  const inputs = expectedTypes(expectedInputs);
  const outputs = expectedTypes(expectedOutputs);
  const tools = [...(options.tools ?? [])];
  const definitions = tools.map(readTool);
  if (new Set(definitions.map(({ name }) => name)).size < tools.length) throw new TypeError('Two tools have one name.');
  if (tools.some((tool) => !tool.execute) && !outputs.has('tool-call')) {
    throw new TypeError('A tool needs an execute function, or the session { type: "tool-call" } in expectedOutputs.');
  }
  const { thinks, refusal } = readThinking(options.thinking, false);
  const all = [...inputs, ...outputs];
  const stranger = all.find((type) => type === 'image' || type === 'audio');
  return {
    ...readSampling(options),
    tools,
    definitions: tools.length > 0 ? definitions : undefined,
    inputs,
    thinks,
    refusal: stranger ? `The model reads and writes text: ${stranger} is not supported.` : refusal,
  };
}

/** @throws TypeError for an effort that is none of the interface's */
function readThinking(
  given: LanguageModelThinking | undefined,
  byDefault: boolean,
): Pick<SessionOptions, 'thinks' | 'refusal'> {
  const { effort, includeThoughts } = dictionary(given);
  if (effort !== undefined && !EFFORTS.includes(effort)) throw new TypeError(`"${effort}" is no effort of thinking.`);
  return {
    thinks: effort ? effort !== 'none' : byDefault,
    refusal: includeThoughts ? 'An answer never contains the thinking.' : null,
  };
}

/**
 * The options of a prompt: the session's, but for the thinking.
 * @throws TypeError, or DOMException NotSupportedError
 */
export function optionsOf(
  session: SessionOptions,
  { thinking }: LanguageModelPromptOptions,
  { info }: PromptEngine,
): SessionOptions {
  const options = { ...session, ...readThinking(thinking, session.thinks) };
  const refusal = refusalOf(options, { info });
  if (refusal !== null) throw notSupported(refusal);
  return options;
}

function expectedTypes(expected: LanguageModelCreateCoreOptions['expectedInputs']): Set<string> {
  const list = [...(expected ?? [])];
  for (const { type, languages } of list) {
    if (!CONTENT_TYPES.includes(type)) throw new TypeError(`"${type}" is no type of content.`);
    Intl.getCanonicalLocales(languages && [...languages]); // a RangeError for malformed tags
  }
  return new Set(list.map(({ type }) => type));
}

function readSampling({ samplingMode, topK, temperature }: LanguageModelCreateCoreOptions) {
  const isRaw = topK !== undefined || temperature !== undefined;
  if (samplingMode !== undefined) {
    if (!Object.hasOwn(MODES, samplingMode)) throw new TypeError(`"${samplingMode}" is no samplingMode.`);
    if (isRaw) throw new TypeError('samplingMode excludes topK and temperature.');
  }
  if (isRaw) {
    const { defaultTopK, maxTopK, defaultTemperature, maxTemperature } = PARAMS;
    return {
      samplingMode: null,
      temperature: within(temperature ?? defaultTemperature, 0, maxTemperature, 'temperature'),
      topK: Math.floor(within(topK ?? defaultTopK, 1, maxTopK, 'topK')),
    };
  }
  const mode = samplingMode ?? 'balanced';
  const [modeTemperature, modeTopK, topP] = MODES[mode];
  return { samplingMode: mode, temperature: modeTemperature, topK: modeTopK, topP };
}

function within(value: number, min: number, max: number, name: string): number {
  if (!(Number(value) >= min)) throw new RangeError(`${name} must be at least ${min}, got ${value}.`);
  return Math.min(Number(value), max);
}

/** @throws TypeError, or what the schema's own getters throw */
function readTool(tool: LanguageModelTool): Tool {
  const { name, description, inputSchema, execute } = tool;
  if (!name || typeof name !== 'string') throw new TypeError('A tool needs a name.');
  if (!description || typeof description !== 'string') throw new TypeError(`Tool ${name} needs a description.`);
  if (execute !== undefined && typeof execute !== 'function')
    throw new TypeError(`Tool ${name}: execute is no function.`);
  const { type, properties, required } = (isJsonObject(inputSchema) ? inputSchema : {}) as Record<string, unknown>;
  const isSchema =
    type === 'object' &&
    (properties === undefined || isJsonObject(properties)) &&
    (required === undefined || Array.isArray(required));
  if (!isSchema) throw new TypeError(`The inputSchema of tool ${name} must be a JSON Schema with type object.`);
  return { name, description, parameters: JSON.parse(JSON.stringify(inputSchema)) };
}

/** The reason why the loaded model cannot do what the options ask, or null if it can. */
export function refusalOf(options: SessionOptions, { info, lost }: Pick<PromptEngine, 'info' | 'lost'>): string | null {
  if (lost) return lost.message;
  if (options.refusal) return options.refusal;
  if (!info.hasChatTemplate) return 'The model has no chat template.';
  if (options.tools.length > 0 && !info.tools) return "The model's chat template takes no tools.";
  if (options.thinks && info.thinking === 'none') return 'The model does not think.';
  return null;
}

/** The engine's options of each answer of a session. */
export function samplingOf(options: SessionOptions, { info }: PromptEngine): GenerateOptions {
  const { temperature, topK, topP } = options;
  const thinking = info.thinking === 'optional' ? (options.thinks ? 'on' : 'off') : undefined;
  return { temperature, topK, topP, thinking };
}

/** Flags of a regular expression that do not change what it matches as a whole. */
const HARMLESS_FLAGS = /^[dgyu]*$/;

/**
 * The constraint of a prompt. It is never part of the input, as if omitResponseConstraintInput were true.
 * @throws TypeError, or DOMException NotSupportedError for flags of a regular expression
 */
export function readConstraint(options: LanguageModelPromptOptions): GenerateOptions['constraint'] {
  const { responseConstraint: given, omitResponseConstraintInput } = options;
  if (given === undefined || given === null) {
    if (omitResponseConstraintInput) throw new TypeError('omitResponseConstraintInput needs a responseConstraint.');
    return undefined;
  }
  if (typeof given !== 'object') throw new TypeError('responseConstraint must be a JSON Schema or a RegExp.');
  if (!(given instanceof RegExp)) return { kind: 'json_schema', schema: JSON.parse(JSON.stringify(given)) };
  if (HARMLESS_FLAGS.test(given.flags)) return { kind: 'regex', source: given.source };
  throw notSupported(`The flags "${given.flags}" of a regular expression cannot constrain an answer.`);
}

/** The options of a constrained answer beside its constraint: it neither thinks nor calls tools. */
export function constrained(constraint: GenerateOptions['constraint'], { info }: PromptEngine): EngineChatOptions {
  if (!constraint) return {};
  return { constraint, toolChoice: 'none', ...(info.thinking === 'optional' && { thinking: 'off' }) };
}
