// The table of options: one entry for each option of a load or of an answer.
// Source of the API's types, the worker's checks, the settings dialog, the parameters of the page's address, the
// attributes of the script tag and of <vivace-chat>, the flags of the command line, and docs/api.md.

import type { AttentionName } from '../attention/attention';
import type { Constraint } from '../grammar/constraint';

interface Described {
  /** One line of help, without the default. */
  help: string;
  /** The label in the settings dialog. */
  label?: string;
  /** The name in addresses, attributes and flags. Default: the key. */
  name?: string;
  /** Settable in code only, by no flag. */
  isApiOnly?: true;
}

/** `number`: any number in the range. `integer`: a whole number in the range. */
export interface NumberOption extends Described {
  kind: 'number' | 'integer';
  min: number;
  max?: number;
  /** Absent: the engine chooses. */
  default?: number;
  /** The text of the dialog's empty field. */
  placeholder?: string;
  /** The dialog's slider, inside the range. */
  slider?: readonly [min: number, max: number, step: number];
}

export interface ChoiceOption extends Described {
  kind: 'choice';
  /** The legal values, each with a short description or ''. */
  choices: Readonly<Record<string, string>>;
  default: string;
}

/** An option of any other form. */
interface FormOption extends Described {
  kind: 'integer' | 'switch' | 'text' | 'texts' | 'biases' | 'constraint';
  /** A word that is legal beside the values of the kind. */
  or?: string;
  /** The legal values, in words and as a test. */
  form: readonly [words: string, test: (value: unknown) => boolean];
  default?: string | boolean | readonly string[] | Readonly<Record<number, number>>;
}

export type Option = NumberOption | ChoiceOption | FormOption;
export type Options = Readonly<Record<string, Option>>;
export type Settings = Readonly<Record<string, (NumberOption | ChoiceOption) & { label: string }>>;

const U32 = 2 ** 32 - 1;

function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function isSwitch(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string' && text !== '');
}

/** Most tokens with a bias. */
const MAX_BIASES = 1024;
const MAX_BIAS = 100;

function isBiases(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  const isBias = ([id, bias]: [string, unknown]) =>
    /^\d{1,9}$/.test(id) && typeof bias === 'number' && Math.abs(bias) <= MAX_BIAS;
  return entries.length <= MAX_BIASES && entries.every(isBias);
}

function isConstraint(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value; // its compiler looks at the rest
}

/** Joins two tables. Calls are marked pure, so that bundles without the joined table drop it. */
function and<A extends Options, const B extends Options>(settings: A, others: B): A & B {
  return { ...settings, ...others };
}

/** The load options in the settings dialog. */
export const LOAD_SETTINGS = {
  /**
   * Limited by the model and by the GPU. Default: the longest context that both allow within a share of memory, but no
   * longer than the training context where a longer one changes RoPE (longrope, dynamic). A context shorter than the
   * model's is a warning.
   */
  contextLength: {
    kind: 'integer',
    min: 2,
    name: 'context',
    label: 'Context length',
    placeholder: 'auto',
    help: 'Most tokens of a conversation. Empty: as many as model and memory allow.',
  },
  /** A named attention that cannot run is an error. It is never replaced by another. */
  attention: {
    kind: 'choice',
    choices: {
      auto: 'the fastest that runs here, tuned or not',
      ...({
        cpu: 'reads everything back; the slow baseline',
        eager: 'five kernels, all scores in memory; the unfused baseline',
        chunked: 'a block of queries at a time over all keys; little memory',
        flash_prefill: 'tiles, no scores in memory; made for prompts',
        flash_prefill_q8: 'the same tiles in signed bytes; made for long prompts',
        fused_decode: 'one pass over each KV head; made for short caches',
        split_kv_decode: 'the cache split over many workgroups; made for long caches',
      } satisfies Record<AttentionName, string>),
    },
    default: 'auto',
    label: 'Attention',
    help: 'Which kernel computes attention, in prefill and decode alike. Auto takes the fastest that fits.',
  },
  kvCache: {
    kind: 'choice',
    choices: { f16: '', f32: '', q8: '' },
    default: 'f16',
    name: 'kv',
    label: 'KV cache',
    help: 'How keys and values are stored: f16 takes half the memory of f32, q8 about a quarter; f32 is exact.',
  },
  /** Matrices that the file holds quantized stay unchanged, with a warning if that is all of them. */
  quantize: {
    kind: 'choice',
    choices: {
      none: 'as in the file',
      q8: 'half the memory of F16',
      q4: 'a quarter of the memory of F16; less exact',
    },
    default: 'none',
    label: 'Quantize',
    help: 'What weights in F32, F16 and BF16 become while they load.',
  },
  /**
   * The format of activations in products with an integer matrix (every quantized type except Q2_K). `auto`: what a
   * race at the first load found faster on this GPU, in decode and in prefill; f32 on a software adapter and on the
   * cpu. `q8` is an error if the model has no integer matrix.
   */
  activations: {
    kind: 'choice',
    choices: {
      auto: 'what is faster on this GPU',
      q8: 'signed bytes; needs quantized weights',
      f32: 'exact',
    },
    default: 'auto',
    label: 'Activations',
    help: 'What matrices are multiplied with, where they are quantized: q8 is fast, f32 is exact.',
  },
  /** A named step that cannot run is an error. Both compute the same, within rounding. */
  step: {
    kind: 'choice',
    choices: {
      auto: 'the fused step where it was measured faster here',
      fused: 'one dispatch for all layers',
      plain: 'a dispatch for each operation',
    },
    default: 'auto',
    label: 'Decode step',
    help: 'How the GPU computes a token: all layers in one dispatch, or a dispatch for each operation.',
  },
  /** `auto`: webgpu, or the cpu with a warning if there is no WebGPU. */
  backend: {
    kind: 'choice',
    choices: { auto: '', webgpu: '', cpu: '' },
    default: 'auto',
    label: 'Backend',
    help: 'Auto takes WebGPU, or the CPU where there is none.',
  },
} as const satisfies Settings;

/** The load options in the page's address and in attributes: those of the dialog, and some for who writes the page. */
export const LOAD_ATTRIBUTES = /* @__PURE__ */ and(LOAD_SETTINGS, {
  /**
   * Copies of conversations that lost the cache to another one. When they are full, the least recently used go first.
   * Default: as much as the cache, but for large caches a quarter of it, and a quarter of the GPU's largest buffer.
   */
  kvBudgetBytes: {
    kind: 'integer',
    min: 0,
    name: 'kv-budget',
    help: 'Most bytes of conversations kept beside the one that runs, so that none is read again. 0 keeps none.',
  },
  /**
   * Requests that run at a time take turns of some steps, each with its own text, times and stop. Further ones wait, as
   * all do where `kvBudgetBytes` has no room for the conversation that gives way.
   */
  maxConcurrent: {
    kind: 'integer',
    min: 1,
    max: 16,
    default: 4,
    name: 'max-concurrent',
    help: 'Most answers that are written at the same time. With 1, each waits for the one before.',
  },
  /**
   * Keys and values of these beginnings of conversations stay in this browser, up to 256 MB, and come back after a
   * reload where reading is faster than computing. Only beside a model that this browser keeps (`cache`). Their text
   * can be rebuilt from them. `system`: the system prompt and the tools, from 256 tokens on.
   */
  keepPrompts: {
    kind: 'choice',
    choices: { system: 'system prompts and tools', all: 'whole conversations', none: '' },
    default: 'system',
    name: 'keep-prompts',
    help: 'What is still read after a reload: keys and values in this browser, from which the text can be rebuilt.',
  },
});

export const LOAD_OPTIONS = /* @__PURE__ */ and(LOAD_ATTRIBUTES, {
  /**
   * `true`: keep the files of a URL in this browser and use the kept copy. A complete copy loads without the network.
   * `'check'`: first ask for a newer version (a hub for its newest commit, another server for each file's version) and
   * fetch the changed files. Kept bytes without a verified hash are compared with the server's once. Offline it behaves
   * like `true`.
   * `false`: keep nothing.
   */
  cache: {
    kind: 'switch',
    or: 'check',
    form: ['true, false or check', (value) => isSwitch(value) || value === 'check'],
    default: true,
    isApiOnly: true,
    help: 'Keep what is fetched in this browser, and load what was kept. check: ask for a newer version first.',
  },
  /** A tensor with a NaN or an infinity is an error that names it. Reading takes several times as long. */
  debug: {
    kind: 'switch',
    form: ['true or false', isSwitch],
    default: false,
    help: 'Checks every number of the model while it loads, and names the tensor of one that is none. Slow.',
  },
  /** A file with another hash is an error. Hubs send the hash themselves, other servers may (Repr-Digest). */
  sha256: {
    kind: 'text',
    form: ['64 hex digits', (value) => typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value)],
    help: 'The SHA-256 that the model file (.gguf or model.safetensors) must have.',
  },
  /**
   * The hub behind `hf:`. It must serve `/{owner}/{repo}/resolve/{revision}/{path}`, and may serve
   * `/api/models/{owner}/{repo}/revision/{revision}`, which names commit, files and hashes.
   */
  hubUrl: {
    kind: 'text',
    form: ['an http or https address', isWebAddress],
    name: 'hub',
    help: 'The hub of owner/name, such as a mirror. Without it https://huggingface.co.',
  },
});

/** The options of an answer in the settings dialog. */
export const SAMPLING_SETTINGS = {
  temperature: {
    kind: 'number',
    min: 0,
    max: 100,
    default: 0.6,
    label: 'Temperature',
    slider: [0, 2, 0.05],
    help: 'How freely words are drawn. 0 always takes the likeliest.',
  },
  topK: {
    kind: 'integer',
    min: 0,
    max: U32,
    default: 40,
    label: 'Top-k',
    slider: [0, 200, 1],
    help: 'Draws from the k likeliest tokens only. 0 turns it off.',
  },
  topP: {
    kind: 'number',
    min: 0,
    max: 1,
    default: 0.9,
    label: 'Top-p',
    slider: [0, 1, 0.01],
    help: 'Draws from the likeliest tokens that make up this much probability. 1 turns it off.',
  },
  minP: {
    kind: 'number',
    min: 0,
    max: 1,
    default: 0.05,
    label: 'Min-p',
    slider: [0, 1, 0.01],
    help: 'Leaves out tokens less likely than this part of the likeliest. 0 turns it off.',
  },
  repetitionPenalty: {
    kind: 'number',
    min: 0.01,
    max: 100,
    default: 1,
    label: 'Repetition penalty',
    slider: [1, 2, 0.01],
    help: 'Above 1, tokens that were there already become less likely. 1 turns it off.',
  },
  /** OpenAI's presence_penalty: a logit loses this much once its token is in the answer. */
  presencePenalty: {
    kind: 'number',
    min: -2,
    max: 2,
    default: 0,
    label: 'Presence penalty',
    slider: [-2, 2, 0.05],
    help: 'Above 0, tokens that are in the answer already become less likely. 0 turns it off.',
  },
  /** OpenAI's frequency_penalty: a logit loses this much for each time its token is in the answer. */
  frequencyPenalty: {
    kind: 'number',
    min: -2,
    max: 2,
    default: 0,
    label: 'Frequency penalty',
    slider: [-2, 2, 0.05],
    help: 'Above 0, tokens become less likely each time they come in the answer. 0 turns it off.',
  },
  maxTokens: {
    kind: 'integer',
    min: 1,
    label: 'Max tokens',
    placeholder: 'context',
    help: 'Most tokens of one answer. Empty: to the end of the context.',
  },
  /** The `done` event reports the seed. */
  seed: {
    kind: 'integer',
    min: 0,
    max: U32,
    label: 'Seed',
    placeholder: 'random',
    help: 'The same seed gives the same answer. Empty: a new one each time.',
  },
} as const satisfies Settings;

export const GENERATE_OPTIONS = /* @__PURE__ */ and(SAMPLING_SETTINGS, {
  stop: {
    kind: 'texts',
    form: ['a list of strings, each of at least one character', isTexts],
    default: [],
    help: 'The answer ends before the first of these texts.',
  },
  /** Turns thinking on or off. If the chat template has no switch, only its fixed behavior is legal. */
  thinking: {
    kind: 'choice',
    choices: { auto: 'as the chat template does', on: '', off: '' },
    default: 'auto',
    help: 'Whether the model thinks before it answers, where its chat template can switch that.',
  },
  reasoning: {
    kind: 'choice',
    choices: { split: 'events of their own', text: 'with its markers in the text of the answer' },
    default: 'split',
    isApiOnly: true,
    help: 'Where thinking goes.',
  },
  minTokens: {
    kind: 'integer',
    min: 0,
    default: 0,
    help: 'Fewest tokens of an answer: those that end it cannot come before.',
  },
  ignoreEos: {
    kind: 'switch',
    form: ['true or false', isSwitch],
    default: false,
    help: 'The tokens that end an answer never come.',
  },
  /** False: every token of the prompt goes through the model, so that times compare. */
  reuseCache: {
    kind: 'switch',
    form: ['true or false', isSwitch],
    default: true,
    isApiOnly: true,
    help: 'What the prompt has in common with earlier requests is not computed again.',
  },
  logitBias: {
    kind: 'biases',
    form: [`up to ${MAX_BIASES} ids, each with a number from -100 to 100`, isBiases],
    default: {},
    help: 'Added to the logits of tokens, by id. -100 forbids a token.',
  },
  /**
   * Holds behind the thinking; a model that can choose thinks only where it is asked to. The page compiles it, and the
   * GPU walks it: no step waits for the CPU. An answer that is cut may be a part of a document. docs/constraints.md has
   * the rest.
   */
  constraint: {
    kind: 'constraint',
    form: ['an object whose kind is json_object, json_schema, regex, grammar or choice', isConstraint],
    isApiOnly: true,
    help: 'The answer is JSON, fits a JSON schema, a regular expression or a grammar (GBNF), or is one of some texts.',
  },
  /**
   * Where a schema cannot be enforced, a warning names the keyword, and the arguments of that tool are any object. In a
   * notation that no constraint knows (docs/chat_templates.md: literal), calls are free.
   */
  toolArguments: {
    kind: 'choice',
    choices: { schema: 'fit the schema of the tool, and no other tool can be called', free: 'as the model likes' },
    default: 'schema',
    help: 'The arguments of calls.',
  },
  /** Under softmax(logits) without the tokens that a constraint refuses, before penalties, biases and filters. */
  logprobs: {
    kind: 'integer',
    min: 0,
    max: 20,
    help: 'Sends the log probability of each token and of so many of the likeliest.',
  },
  n: {
    kind: 'integer',
    min: 1,
    max: 128,
    default: 1,
    help: 'Answers to the same prompt, one after another. The seed of each is one more than that of the one before.',
  },
  /** Limited by the number of unread steps that the backend supports. */
  runAhead: {
    kind: 'integer',
    or: 'auto',
    form: ['auto or a whole number of at least 1', (value) => value === 'auto' || isCount(value)],
    default: 'auto',
    help: 'Steps in flight on the GPU, the one being read among them.',
  },
  /** The times are read once, after the answer. */
  gpuTimes: {
    kind: 'switch',
    form: ['true or false', isSwitch],
    default: false,
    isApiOnly: true,
    help: "Times each step by the GPU's clock, where it has one, and sends the event gpuTimes after done.",
  },
});

/** Options of a call beside its table. The page takes them out before the worker sees the others. */
export const BESIDE = {
  load: ['workerUrl', 'onProgress', 'signal'],
  complete: ['signal'],
  chat: ['tools', 'toolChoice', 'templateArguments', 'continueLast', 'signal'],
  tokenize: ['tools', 'toolChoice', 'templateArguments', 'continueLast'],
  embed: ['dimensions', 'signal'],
  tune: ['onResult', 'signal'],
  roofline: ['signal'],
} as const;

type Basic<O> = O extends { kind: 'number' | 'integer' }
  ? number
  : O extends { choices: infer C }
    ? keyof C & string
    : O extends { kind: 'switch' }
      ? boolean
      : O extends { kind: 'texts' }
        ? readonly string[]
        : O extends { kind: 'biases' }
          ? Readonly<Record<number, number>>
          : O extends { kind: 'constraint' }
            ? Constraint
            : string;

export type Value<O> = Basic<O> | (O extends { or: infer Word } ? Word : never);

/** Options as a caller passes them. Undefined counts as absent. */
export type Given<T> = { -readonly [K in keyof T]?: Value<T[K]> };

/** Options with every default filled in. Undefined: the engine chooses. */
export type Resolved<T> = {
  -readonly [K in keyof T]: Value<T[K]> | (T[K] extends { default: unknown } ? never : undefined);
};
