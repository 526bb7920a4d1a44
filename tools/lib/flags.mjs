// Flags of a command line, and those of `generate`: one table gives parsing, checks and the usage text. Pure: no files, no process.
// Ranges of sampling parameters are the engine's to judge; here only the kind of value is.

const ATTENTION = ['auto', 'cpu', 'eager', 'chunked', 'flash_prefill', 'fused_decode', 'split_kv_decode'];

/**
 * @typedef {'text' | 'texts' | 'switch' | 'number' | 'whole'} Kind
 * @typedef {{ kind: Kind, words?: string[], value?: string, help: string }} Flag
 *   `words`: the values allowed, or for numbers those allowed beside them
 * @typedef {Record<string, string | number | boolean | string[]>} Values by flag name without the dashes
 */

/** @type {Record<string, Flag>} */
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
  help: { kind: 'switch', help: 'this text' },
};

const COLUMN = 36;

/** One line a flag. @param {Record<string, Flag>} flags */
export function flagLines(flags) {
  return Object.entries(flags).map(([name, { kind, words, value, help }]) => {
    const shown = kind === 'switch' ? `--${name}` : `--${name} ${value ?? words?.join('|')}`;
    return shown.length < COLUMN ? `  ${shown.padEnd(COLUMN)}${help}` : `  ${shown}\n  ${' '.repeat(COLUMN)}${help}`;
  });
}

/** @returns {string} */
export function usage() {
  return ['Usage: npm run --silent generate -- --prompt TEXT [flags]', ...flagLines(FLAGS)].join('\n');
}

/** A command line that cannot be understood: one sentence for the person who typed it. */
export class UsageError extends Error {}

/** @param {string} name @param {Flag} flag @param {string} text @returns {string | number} */
function readValue(name, { kind, words }, text) {
  if (words?.includes(text)) return text;
  if (kind === 'text' || kind === 'texts') {
    if (words) throw new UsageError(`--${name} ${text}: choose ${words.join(', ')}.`);
    return text;
  }
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number) || (kind === 'whole' && !Number.isSafeInteger(number))) {
    throw new UsageError(`--${name} ${text}: not a ${kind === 'whole' ? 'whole number' : 'number'}.`);
  }
  return number;
}

/**
 * A value may look like anything, a flag among them: `--prompt --help` asks about "--help".
 * @param {Record<string, Flag>} flags @param {readonly string[]} args @returns {Values}
 */
export function readFlags(flags, args) {
  /** @type {Values} */
  const values = {};
  for (let i = 0; i < args.length; i++) {
    const match = /^--([a-z0-9-]+)(?:=([\s\S]*))?$/.exec(args[i] ?? '');
    const [, name = '', attached] = match ?? [];
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (!flag) throw new UsageError(`Unknown argument ${args[i]}.`);
    if (flag.kind === 'switch') {
      if (attached !== undefined) throw new UsageError(`--${name} takes no value.`);
      values[name] = true;
      continue;
    }
    const text = attached ?? args[++i];
    if (text === undefined) throw new UsageError(`--${name} needs a value.`);
    const value = readValue(name, flag, text);
    const before = values[name];
    values[name] = flag.kind === 'texts' ? [...(Array.isArray(before) ? before : []), text] : value;
  }
  return values;
}

/** The flags of `generate`. @param {readonly string[]} args @returns {Values} */
export function parseFlags(args) {
  const values = readFlags(FLAGS, args);
  if (values.help) return values;
  if (values.prompt === undefined) throw new UsageError('--prompt is needed.');
  if (values.chat && values.raw) throw new UsageError('--chat and --raw exclude each other.');
  return values;
}
