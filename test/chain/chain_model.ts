// A tiny model that says prescribed texts, in Hugging Face layout or as a GGUF file: for tests of thinking, of tools and of clients on the
// real engine. Its one layer adds nothing to the residual, so the next token depends on the last token alone: a chain.
// The chat template chooses the script: it ends the prompt with the token that begins the script's chain.

import { halfToNumber } from '../../src/cpu/half';
import { BYTE_TO_CHAR, utf8Bytes } from '../../src/text/byte_alphabet';
import { randomSource } from '../random';
import { type GgufTensor, T, value, writeGguf } from '../storage/write_gguf';
import { chainTemplate } from './chain_template';

export interface Script {
  name: string;
  /** Condition of the template, in Jinja: `last` is the last message, `asked` its text, `thinking` false where it is off. */
  when: string;
  /** The text of the answer, with thinking and calls in the model's own syntax. */
  says: string;
  /** The text is said again and again, with no end. */
  forever?: true;
  /** A character after which the script is said, too: the end of a call that the prompt has begun. */
  after?: string;
}

const BERN = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern", "days": 2}}\n</tool_call>';
const BASEL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Basel"}}\n</tool_call>';

/** The first whose condition holds is said. Users choose by a word in their last message. */
export const SCRIPTS = [
  { name: 'result', when: "last.role == 'tool'", says: 'It is 21 degrees there, and sunny.' },
  { name: 'weather', when: "tools and 'weather' in asked", says: BERN },
  { name: 'both', when: "tools and 'both' in asked", says: `I ask for both cities.\n${BERN}\n${BASEL}` },
  {
    name: 'plan',
    when: "tools and thinking and 'plan' in asked",
    says: `<think>\nA plan needs the weather first.\n</think>\n\n${BASEL}`,
  },
  {
    name: 'broken',
    when: "tools and 'broken' in asked",
    says: '<tool_call>\n{"name": "weather", "arguments": {"city": "Genf"\n</tool_call>',
  },
  {
    name: 'unknown',
    when: "tools and 'unknown' in asked",
    says: '<tool_call>\n{"name": "launch", "arguments": {"rocket": 1}}\n</tool_call>',
  },
  {
    name: 'think',
    when: "thinking and 'think' in asked",
    says: '<think>\nThey ask me to think, and I do: 6 times 7 is 42.\n</think>\n\nThe answer is 42.',
  },
  { name: 'endless', when: "'endless' in asked", says: 'one two three four five six seven eight ', forever: true },
  { name: 'letters', when: "'letters' in asked", says: 'Grüezi, 文字は文字です 🙂🙂, naïveté.' },
  { name: 'hello', when: 'true', says: 'Hello! I am a chain of tokens.' },
  /** A call of any tool, and a call of one by name, begun by the prompt. */
  { name: 'required', when: 'false', after: '"', says: 'weather", "arguments": {"city": "Thun"}}\n</tool_call>' },
  { name: 'named', when: 'false', after: ':', says: ' {"city": "Visp"}}\n</tool_call>' },
  /** After any other token, as in `complete()`: never chosen by the template. */
  { name: 'text', when: 'false', says: ' and so on, to the end.' },
] as const satisfies readonly Script[];

export type ScriptName = (typeof SCRIPTS)[number]['name'];

/** What the model says by a script's name. */
export function says(name: ScriptName): string {
  return SCRIPTS.find((script) => script.name === name)!.says;
}

/** Tokens of their own, once each: the first script that has one says it, the others spell it. */
const MARKERS = ['<tool_call>', '</tool_call>', '<think>', '</think>'];
const FRAME = ['<|im_start|>', '<|im_end|>', '<tool_response>', '</tool_response>'];
/** The script after tokens of no chain. */
const REST = 'text';
const END = '<|im_end|>';

const HIDDEN = 256;
const HEAD_DIM = 64;
const INTERMEDIATE = 64;
const CONTEXT = 2048;
const F16_ONE = 0x3c00;
const F16_SIGN = 0x8000;
/** 0.25, so that the logit of the next token is HIDDEN / 4 = 64. That of any other stays below 24. */
const F16_SCALE = 0x3400;

/**
 * Cuts a text into pieces of at least two bytes that are not in `used`, the shortest first, and adds them to `used`.
 * Null if there are none.
 */
function cut(text: string, used: Set<string>): string[] | null {
  if (text === '') return [];
  for (let length = 2; length <= text.length; length++) {
    const piece = text.slice(0, length);
    if (used.has(piece)) continue;
    used.add(piece);
    const rest = cut(text.slice(length), used);
    if (rest) return [piece, ...rest];
    used.delete(piece);
  }
  return null;
}

/** The tokens of a text: each marker that no text before has, and pieces of the text around it. */
function tokensOf(text: string, used: Set<string>): string[] {
  const marker = text.match(/<\/?(?:tool_call|think)>/g)?.find((found) => !used.has(found));
  if (marker) {
    used.add(marker);
    const at = text.indexOf(marker);
    return [...tokensOf(text.slice(0, at), used), marker, ...tokensOf(text.slice(at + marker.length), used)];
  }
  const pieces = cut(Array.from(utf8Bytes(text), (byte) => BYTE_TO_CHAR[byte]).join(''), used);
  if (!pieces) throw new Error(`${JSON.stringify(text)} cannot be cut into pieces of its own. Reword the script.`);
  return pieces;
}

const startOf = (name: string) => `<|start_${name}|>`;

interface Chain {
  /** By id. */
  tokens: string[];
  /** Number of tokens that are not added tokens. */
  nPlain: number;
  /** The id after each id. */
  next: Map<number, number>;
}

function chainOf(scripts: readonly Script[]): Chain {
  const used = new Set<string>();
  const said = scripts.map(({ says, name }) => ({ name, said: tokensOf(says, used) }));
  const plain = [...BYTE_TO_CHAR, ...[...used].filter((token) => !MARKERS.includes(token))];
  const tokens = [...plain, ...MARKERS, ...FRAME, ...scripts.map(({ name }) => startOf(name))];
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const next = new Map<number, number>();
  said.forEach(({ name, said }, i) => {
    const way = [startOf(name), ...said, scripts[i].forever ? said[0] : END].map((token) => ids.get(token)!);
    for (let at = 0; at + 1 < way.length; at++) next.set(way[at], way[at + 1]);
    const { after } = scripts[i];
    if (after) next.set(ids.get(after)!, way[1]);
  });
  const rest = next.get(ids.get(startOf(REST)) ?? -1);
  for (const id of tokens.keys()) if (rest !== undefined && !next.has(id)) next.set(id, rest);
  return { tokens, nPlain: plain.length, next };
}

function tokenizerOf({ tokens, nPlain }: Chain) {
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const vocab = Object.fromEntries(tokens.slice(0, nPlain).map((token, id) => [token, id]));
  const added = tokens.slice(nPlain).map((content, i) => ({
    id: nPlain + i,
    content,
    normalized: false,
    single_word: false,
    lstrip: false,
    rstrip: false,
    special: content.startsWith('<|'),
  }));
  return {
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: null,
    decoder: bytes,
    model: { type: 'BPE', vocab, merges: [] },
  };
}

/** Rows of random signs, one for each token: a token's row of the head, and the embedding of each token before it. */
function signs(rows: number): Uint16Array {
  const random = randomSource(1);
  return Uint16Array.from({ length: rows * HIDDEN }, () => F16_ONE | (random() < 0.5 ? F16_SIGN : 0));
}

function weightsOf({ tokens, next }: Chain): Record<string, [shape: number[], values: Uint16Array]> {
  const head = signs(tokens.length);
  const embedding = new Uint16Array(head.length);
  for (const [id, after] of next) {
    embedding.set(head.subarray(after * HIDDEN, (after + 1) * HIDDEN), id * HIDDEN);
  }
  const zeros = (rows: number, columns: number): [number[], Uint16Array] => [
    [rows, columns],
    new Uint16Array(rows * columns),
  ];
  const all = (value: number): [number[], Uint16Array] => [[HIDDEN], new Uint16Array(HIDDEN).fill(value)];
  const layer = 'model.layers.0';
  return {
    'model.embed_tokens.weight': [[tokens.length, HIDDEN], embedding],
    [`${layer}.input_layernorm.weight`]: all(F16_ONE),
    [`${layer}.self_attn.q_proj.weight`]: zeros(HIDDEN, HIDDEN),
    [`${layer}.self_attn.k_proj.weight`]: zeros(HEAD_DIM, HIDDEN),
    [`${layer}.self_attn.v_proj.weight`]: zeros(HEAD_DIM, HIDDEN),
    [`${layer}.self_attn.o_proj.weight`]: zeros(HIDDEN, HIDDEN),
    [`${layer}.post_attention_layernorm.weight`]: all(F16_ONE),
    [`${layer}.mlp.gate_proj.weight`]: zeros(INTERMEDIATE, HIDDEN),
    [`${layer}.mlp.up_proj.weight`]: zeros(INTERMEDIATE, HIDDEN),
    [`${layer}.mlp.down_proj.weight`]: zeros(HIDDEN, INTERMEDIATE),
    'model.norm.weight': all(F16_SCALE),
    'lm_head.weight': [[tokens.length, HIDDEN], head],
  };
}

function safetensors(weights: Record<string, [shape: number[], values: Uint16Array]>): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = {};
  let size = 0;
  for (const [name, [shape, { byteLength }]] of Object.entries(weights)) {
    header[name] = { dtype: 'F16', shape, data_offsets: [size, size + byteLength] };
    size += byteLength;
  }
  const text = utf8Bytes(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + size);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  let at = 8 + text.length;
  for (const [, { buffer, byteLength }] of Object.values(weights)) {
    bytes.set(new Uint8Array(buffer), at);
    at += byteLength;
  }
  return bytes;
}

function configOf(vocabSize: number) {
  return {
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: vocabSize,
    hidden_size: HIDDEN,
    intermediate_size: INTERMEDIATE,
    num_hidden_layers: 1,
    num_attention_heads: HIDDEN / HEAD_DIM,
    num_key_value_heads: 1,
    head_dim: HEAD_DIM,
    hidden_act: 'silu',
    max_position_embeddings: CONTEXT,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: false,
  };
}

/** The files of the model, by name. */
export function chainModel(scripts: readonly Script[] = SCRIPTS): Record<string, Uint8Array<ArrayBuffer>> {
  const chain = chainOf(scripts);
  const json = (value: unknown) => utf8Bytes(JSON.stringify(value)) as Uint8Array<ArrayBuffer>;
  return {
    'config.json': json(configOf(chain.tokens.length)),
    'tokenizer.json': json(tokenizerOf(chain)),
    'tokenizer_config.json': json({ eos_token: END, chat_template: chainTemplate(scripts, startOf) }),
    'model.safetensors': safetensors(weightsOf(chain)),
  };
}

const GGUF_NAMES: Record<string, string> = {
  'model.embed_tokens': 'token_embd',
  'model.layers.0.input_layernorm': 'blk.0.attn_norm',
  'model.layers.0.self_attn.q_proj': 'blk.0.attn_q',
  'model.layers.0.self_attn.k_proj': 'blk.0.attn_k',
  'model.layers.0.self_attn.v_proj': 'blk.0.attn_v',
  'model.layers.0.self_attn.o_proj': 'blk.0.attn_output',
  'model.layers.0.post_attention_layernorm': 'blk.0.ffn_norm',
  'model.layers.0.mlp.gate_proj': 'blk.0.ffn_gate',
  'model.layers.0.mlp.up_proj': 'blk.0.ffn_up',
  'model.layers.0.mlp.down_proj': 'blk.0.ffn_down',
  'model.norm': 'output_norm',
  lm_head: 'output',
};
const GGUF_F32 = 0;
const GGUF_F16 = 1;
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;
const USER_TOKEN = 4;

function ggufTensor(name: string, shape: number[], values: Uint16Array): GgufTensor {
  const isMatrix = shape.length > 1; // llama.cpp takes vectors in F32 alone
  const { buffer } = isMatrix ? values : Float32Array.from(values, halfToNumber);
  return {
    name: `${GGUF_NAMES[name.replace(/\.weight$/, '')]}.weight`,
    ne: [...shape].reverse(),
    type: isMatrix ? GGUF_F16 : GGUF_F32,
    data: new Uint8Array(buffer),
  };
}

/** The model as one GGUF file, such as llama.cpp reads. */
export function chainGguf(scripts: readonly Script[] = SCRIPTS): Uint8Array<ArrayBuffer> {
  const chain = chainOf(scripts);
  const { tokens, nPlain } = chain;
  const types = Int32Array.from(tokens, (token, id) => {
    if (id < nPlain) return NORMAL_TOKEN;
    return token.startsWith('<|') ? CONTROL_TOKEN : USER_TOKEN;
  });
  return writeGguf({
    keys: [
      ['general.architecture', value.string('llama')],
      ['llama.vocab_size', value.u32(tokens.length)],
      ['llama.block_count', value.u32(1)],
      ['llama.context_length', value.u32(CONTEXT)],
      ['llama.embedding_length', value.u32(HIDDEN)],
      ['llama.feed_forward_length', value.u32(INTERMEDIATE)],
      ['llama.attention.head_count', value.u32(HIDDEN / HEAD_DIM)],
      ['llama.attention.head_count_kv', value.u32(1)],
      ['llama.attention.key_length', value.u32(HEAD_DIM)],
      ['llama.attention.value_length', value.u32(HEAD_DIM)],
      ['llama.attention.layer_norm_rms_epsilon', value.f32(1e-5)],
      ['llama.rope.freq_base', value.f32(10_000)],
      ['llama.rope.dimension_count', value.u32(HEAD_DIM)],
      ['tokenizer.ggml.model', value.string('gpt2')],
      ['tokenizer.ggml.pre', value.string('gpt-2')],
      ['tokenizer.ggml.tokens', value.strings(tokens)],
      ['tokenizer.ggml.token_type', value.array(T.i32, tokens.length, new Uint8Array(types.buffer))],
      ['tokenizer.ggml.merges', value.strings([])],
      ['tokenizer.ggml.eos_token_id', value.u32(tokens.indexOf(END))],
      ['tokenizer.ggml.add_bos_token', value.bool(0)],
      ['tokenizer.chat_template', value.string(chainTemplate(scripts, startOf))],
    ],
    tensors: Object.entries(weightsOf(chain)).map(([name, [shape, values]]) => ggufTensor(name, shape, values)),
  });
}

/** The model as a page gets it when a person drops its folder. */
export function chainFiles(scripts?: readonly Script[]): File[] {
  return Object.entries(chainModel(scripts)).map(([name, bytes]) => new File([bytes], name));
}
