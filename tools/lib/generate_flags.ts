// The flags of `generate`, and the request that they make. Pure: no files, no process.
// Flags check the kind of a value. The engine checks its range.

import { GENERATE_OPTIONS, LOAD_OPTIONS } from '../../src/engine/options';
import { type Flags, readFlags, UsageError, usageOf, type Values } from './flags';
import type { TypedRequest } from './generate_in_page';
import { flagsOf, optionsOf } from './option_flags';

const OWN = {
  prompt: { kind: 'text', value: 'TEXT', help: 'what to answer or continue (required)' },
  model: {
    kind: 'text',
    value: 'DIR|FILE.gguf|URL|owner/repo',
    help: 'default: the embedded storyteller; hf:owner/repo[@revision][/file.gguf|:Q4_K_M] is never a path',
  },
  chat: { kind: 'switch', help: 'the prompt is one user message (default for a model with a template)' },
  raw: { kind: 'switch', help: 'no template: continue the prompt as it is' },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
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

/** The values of the command's own flags, and by name those of the options. */
export type GenerateFlags = Values<typeof OWN> & { help?: boolean; [option: string]: unknown };

export const generateUsage = (): string => usageOf('npm run --silent generate -- --prompt TEXT', FLAGS);

/** @throws UsageError */
export function readGenerateFlags(args: readonly string[]): GenerateFlags {
  const values = readFlags(FLAGS, args) as GenerateFlags;
  if (values.help) return values;
  if (values.prompt === undefined) throw new UsageError('--prompt is needed.');
  if (values.chat && values.raw) throw new UsageError('--chat and --raw exclude each other.');
  return values;
}

export function toRequest(flags: GenerateFlags): TypedRequest {
  return {
    model: flags.model,
    prompt: flags.prompt ?? '',
    chat: flags.chat ? true : flags.raw ? false : null,
    load: optionsOf(LOAD_OPTIONS, flags),
    options: { ...REPEATABLE, ...optionsOf(GENERATE_OPTIONS, flags) },
  };
}
