// The flags of `generate`, and the request that they make. Pure: no files, no process.
// Flags check the kind of a value. The engine checks its range.

import { GENERATE_OPTIONS, LOAD_OPTIONS } from '../../../src/engine/options';
import type { ChatSettings } from '../../../src/engine/protocol';
import { type Flags, readFlags, UsageError, usageOf, type Values } from '../command_line/flags';
import { flagsOf, optionsOf } from '../command_line/option_flags';
import type { TypedRequest } from './generate_in_page';

const OWN = {
  prompt: { kind: 'text', value: 'TEXT', help: 'what to answer or continue (this or --messages)' },
  messages: { kind: 'text', value: 'FILE.json', help: "a conversation to answer: a list of messages, or OpenAI's" },
  'continue-last': { kind: 'switch', help: "go on with the last message of the conversation, the assistant's" },
  tools: { kind: 'text', value: 'FILE.json', help: "tools that the model may call: a list, or OpenAI's" },
  'tool-choice': { kind: 'text', value: 'auto|none|required|NAME', help: 'whether the answer calls a tool, or which' },
  'json-object': { kind: 'switch', help: 'the answer is a JSON object' },
  'json-schema': { kind: 'text', value: 'FILE.json', help: 'the answer is JSON that fits this schema' },
  grammar: { kind: 'text', value: 'FILE.gbnf', help: 'the answer is a text of this grammar' },
  model: {
    kind: 'text',
    value: 'DIR|FILE.gguf|URL|owner/repo',
    help: 'default: the embedded storyteller; hf:owner/repo[@revision][/file.gguf|:Q4_K_M] is never a path',
  },
  chat: { kind: 'switch', help: 'the prompt is one user message (default for a model with a template)' },
  raw: { kind: 'switch', help: 'no template: continue the prompt as it is' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else; with --n its choices are the answers' },
} as const;

/** Differs from the engine's defaults, so that a measurement can be repeated. */
const REPEATABLE = { temperature: 0, seed: 0 };

const FLAGS: Flags = {
  ...OWN,
  ...flagsOf(LOAD_OPTIONS),
  ...flagsOf({
    ...GENERATE_OPTIONS,
    temperature: { ...GENERATE_OPTIONS.temperature, default: REPEATABLE.temperature },
    seed: { ...GENERATE_OPTIONS.seed, default: REPEATABLE.seed, help: 'The same seed gives the same answer.' },
  }),
};

/** Flags that constrain the answer. */
const CONSTRAINTS = ['json-object', 'json-schema', 'grammar'] as const;

/** Flags that need a chat template. */
const OF_CHAT = ['messages', 'continue-last', 'tools', 'tool-choice'] as const;

/** The values of the command's own flags, and by name those of the options. */
export type GenerateFlags = Values<typeof OWN> & { help?: boolean; [option: string]: unknown };

export const generateUsage = (): string => usageOf('npm run --silent generate -- --prompt TEXT', FLAGS);

/** @throws UsageError */
export function readGenerateFlags(args: readonly string[]): GenerateFlags {
  const values = readFlags(FLAGS, args) as GenerateFlags;
  if (values.help) return values;
  const { prompt, messages, raw } = values;
  if (prompt === undefined && messages === undefined) throw new UsageError('--prompt is needed, or --messages.');
  if (prompt !== undefined && messages !== undefined)
    throw new UsageError('--prompt and --messages exclude each other.');
  for (const name of OF_CHAT) {
    if (raw && values[name] !== undefined) throw new UsageError(`--raw and --${name} exclude each other.`);
  }
  const constraints = CONSTRAINTS.filter((name) => values[name] !== undefined);
  if (constraints.length > 1) throw new UsageError(`--${constraints.join(' and --')} exclude each other.`);
  if (values.chat && values.raw) throw new UsageError('--chat and --raw exclude each other.');
  return values;
}

export function toRequest(flags: GenerateFlags): TypedRequest {
  return {
    model: flags.model,
    prompt: flags.prompt ?? '',
    chat: flags.chat ? true : flags.raw ? false : null,
    load: optionsOf(LOAD_OPTIONS, flags),
    settings: settingsOf(flags),
    options: { ...REPEATABLE, ...optionsOf(GENERATE_OPTIONS, flags) },
  };
}

/** What the chat template gets beside messages and tools, if anything. */
function settingsOf({ 'tool-choice': choice, 'continue-last': continueLast }: GenerateFlags): ChatSettings | undefined {
  if (choice === undefined && continueLast === undefined) return undefined;
  const isWord = choice === 'auto' || choice === 'none' || choice === 'required';
  return { toolChoice: isWord || choice === undefined ? choice : { name: choice }, continueLast };
}
