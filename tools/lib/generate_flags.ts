// The flags of `generate`, and the request that they make. Pure: no files, no process.
// Ranges of sampling parameters are the engine's to judge; the kind of value is checked here.

import { readFlags, UsageError, usageOf, type Values } from './flags';
import type { TypedRequest } from './generate_in_page';

const ATTENTION = ['auto', 'cpu', 'eager', 'chunked', 'flash_prefill', 'fused_decode', 'split_kv_decode'] as const;

const FLAGS = {
  prompt: { kind: 'text', value: 'TEXT', help: 'what to answer or continue (required)' },
  model: {
    kind: 'text',
    value: 'DIR|FILE.gguf|URL|owner/repo',
    help: 'default: the embedded storyteller; hf:owner/repo[@revision][/file.gguf|:Q4_K_M] is never a path',
  },
  hub: { kind: 'text', value: 'URL', help: 'where owner/repo is (default https://huggingface.co)' },
  sha256: { kind: 'text', value: 'HEX', help: "that the model's .gguf file or model.safetensors should have" },
  chat: { kind: 'switch', help: 'the prompt is one user message (default for a model with a template)' },
  raw: { kind: 'switch', help: 'no template: continue the prompt as it is' },
  'max-tokens': { kind: 'whole', value: 'N', help: 'most tokens to generate (default: to the end of the context)' },
  temperature: { kind: 'number', value: 'T', help: '0 is greedy (default 0)' },
  'top-k': { kind: 'whole', value: 'N', help: '0 turns it off' },
  'top-p': { kind: 'number', value: 'P', help: '1 turns it off' },
  'min-p': { kind: 'number', value: 'P', help: '0 turns it off' },
  'repetition-penalty': { kind: 'number', value: 'R', help: '1 turns it off' },
  seed: { kind: 'whole', value: 'N', help: 'the same seed gives the same text (default 0)' },
  stop: { kind: 'texts', value: 'S', help: 'end before this text; may be given again' },
  context: { kind: 'whole', value: 'N', help: 'tokens of context' },
  attention: {
    kind: 'text',
    words: ATTENTION,
    help: 'force a kernel for prefill and decode alike (default auto: by length, or as tuned)',
  },
  kv: { kind: 'text', words: ['f16', 'f32'], help: 'how keys and values are stored (default f16)' },
  quantize: { kind: 'text', words: ['q8', 'q4'], help: 'quantize F32, F16 and BF16 weights while they load' },
  backend: { kind: 'text', words: ['webgpu', 'cpu'], help: 'default: webgpu, or cpu where there is none' },
  'run-ahead': {
    kind: 'whole',
    words: ['auto'],
    value: 'auto|N',
    help: 'steps in flight on the GPU, the one being read among them',
  },
  activations: {
    kind: 'text',
    words: ['auto', 'f32', 'q8'],
    help: 'what products read (default auto: q8 where weights have integers, on hardware; f32 is exact)',
  },
  json: { kind: 'switch', help: 'one JSON object on stdout, nothing else' },
} as const;

export type GenerateFlags = Values<typeof FLAGS> & { help?: boolean };

export const generateUsage = (): string => usageOf('npm run --silent generate -- --prompt TEXT', FLAGS);

/** @throws UsageError */
export function readGenerateFlags(args: readonly string[]): GenerateFlags {
  const values = readFlags(FLAGS, args);
  if (values.help) return values;
  if (values.prompt === undefined) throw new UsageError('--prompt is needed.');
  if (values.chat && values.raw) throw new UsageError('--chat and --raw exclude each other.');
  return values;
}

/** Drops what was not asked for, so that it stays the engine's choice. */
function given<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}

export function toRequest(flags: GenerateFlags): TypedRequest {
  return {
    model: flags.model,
    prompt: flags.prompt ?? '',
    chat: flags.chat ? true : flags.raw ? false : null,
    load: given({
      contextLength: flags.context,
      attention: flags.attention,
      kvCache: flags.kv,
      quantize: flags.quantize,
      activations: flags.activations,
      backend: flags.backend,
      hubUrl: flags.hub,
      sha256: flags.sha256,
    }),
    options: given({
      maxTokens: flags['max-tokens'],
      temperature: flags.temperature ?? 0, // a measurement can be repeated unless asked otherwise
      topK: flags['top-k'],
      topP: flags['top-p'],
      minP: flags['min-p'],
      repetitionPenalty: flags['repetition-penalty'],
      seed: flags.seed ?? 0,
      stop: flags.stop,
      runAhead: flags['run-ahead'],
    }),
  };
}
