// The fields of a request that set how an answer is made: validated, and as options of the engine.

import type { ApiEngine, EngineGenerateOptions } from './api_engine';
import type { Fields } from './fields';

type NumberName = {
  [K in keyof EngineGenerateOptions]-?: EngineGenerateOptions[K] extends number | undefined ? K : never;
}[keyof EngineGenerateOptions];

interface NumberField {
  option: NumberName;
  isInteger?: true;
  min: number;
  max?: number;
}

const MAX_TOKENS: NumberField = { option: 'maxTokens', isInteger: true, min: 1 };

/** Number fields of all routes, with the engine's own ranges. Of two fields for an option, the later one wins. */
export const NUMBER_FIELDS: Readonly<Record<string, NumberField>> = {
  max_tokens: MAX_TOKENS,
  max_completion_tokens: MAX_TOKENS,
  max_output_tokens: MAX_TOKENS,
  temperature: { option: 'temperature', min: 0, max: 100 },
  top_p: { option: 'topP', min: 0, max: 1 },
  min_p: { option: 'minP', min: 0, max: 1 },
  repetition_penalty: { option: 'repetitionPenalty', min: 0.01, max: 100 },
  presence_penalty: { option: 'presencePenalty', min: -2, max: 2 },
  frequency_penalty: { option: 'frequencyPenalty', min: -2, max: 2 },
  min_tokens: { option: 'minTokens', isInteger: true, min: 0 },
  n: { option: 'n', isInteger: true, min: 1, max: 128 },
};

const MAX_TOP_K = 2 ** 32 - 1;
const MAX_STOPS = 64;
const MAX_BIASES = 1024;
const MAX_BIAS = 100;
export const MAX_LOGPROBS = 20;

/** The options that all routes of generated text share. */
export function readOptions(body: Fields): EngineGenerateOptions {
  const options: EngineGenerateOptions = {};
  for (const [key, { option, isInteger, min, max }] of Object.entries(NUMBER_FIELDS)) {
    const value = isInteger ? body.integer(key, min, max) : body.number(key, min, max);
    if (value !== undefined) options[option] = value;
  }
  const topK = body.integer('top_k', -1, MAX_TOP_K);
  if (topK !== undefined) options.topK = Math.max(topK, 0); // vLLM's -1 turns it off, as 0 does
  const seed = body.integer('seed');
  if (seed !== undefined) options.seed = seed >>> 0;
  if (body.flag('ignore_eos')) options.ignoreEos = true;
  const stop = readStops(body);
  if (stop.length > 0) options.stop = stop;
  if (body.has('logit_bias')) options.logitBias = readBiases(body);
  return options;
}

function readStops(body: Fields): readonly string[] {
  const stops = typeof body.json.stop === 'string' ? [body.json.stop] : (body.list('stop') ?? []);
  const areTexts = stops.every((stop) => typeof stop === 'string' && stop !== '');
  if (areTexts && stops.length <= MAX_STOPS) return stops as string[];
  throw body.wrong('stop', `must be a text, or up to ${MAX_STOPS}, none of them empty`);
}

function readBiases(body: Fields): Record<number, number> {
  const entries = Object.entries(body.object('logit_bias')?.json ?? {});
  const isBias = ([id, bias]: [string, unknown]) =>
    /^\d{1,9}$/.test(id) && typeof bias === 'number' && Math.abs(bias) <= MAX_BIAS;
  if (entries.length <= MAX_BIASES && entries.every(isBias))
    return Object.fromEntries(entries) as Record<number, number>;
  throw body.wrong('logit_bias', `must give up to ${MAX_BIASES} token ids a number from -${MAX_BIAS} to ${MAX_BIAS}`);
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** `none` turns thinking off, any other effort turns it on: there are no degrees of it. */
export function readEffort(fields: Fields, key: string, engine: ApiEngine): 'on' | 'off' | undefined {
  const effort = fields.word(key, EFFORTS);
  if (effort === undefined) return undefined;
  const { thinking } = engine.info;
  const isOn = effort !== 'none';
  if (isOn ? thinking === 'none' : thinking === 'always')
    throw fields.unsupported(key, `this model ${isOn ? 'does not think' : 'always thinks'}`);
  return thinking === 'optional' ? (isOn ? 'on' : 'off') : undefined;
}

/** Refuses fields that cannot be done, unless they have a value that asks for nothing. */
export function refuseFields(body: Fields, reasons: Readonly<Record<string, string>>): void {
  for (const [key, why] of Object.entries(reasons)) if (asksSomething(body.json[key])) throw body.unsupported(key, why);
}

function asksSomething(value: unknown): boolean {
  return value != null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** Refuses every format but text. */
export function refuseFormats(format: Fields | undefined): void {
  if (format && format.need('type', format.text('type')) !== 'text')
    throw format.unsupported('type', 'answers are free text; no grammar constrains them yet');
}
