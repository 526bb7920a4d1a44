// A model of any size that lies in no file: a LLaMA shape in BF16 safetensors, its bytes made on request from one block
// of small numbers.

import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Handler, rangeOf } from './serve';

const BLOCK = 1 << 20;
const VOCAB = 32_000;
const HEAD_DIM = 64;

type Tensor = { name: string; shape: number[]; bytes: number };

export interface Synthetic {
  /** of all weights */
  bytes: number;
  /** by path below `prefix` */
  handlers: Record<string, Handler>;
  /** bytes of weights sent so far */
  sent: () => number;
  /** of the file of weights, in hex; takes a second or so for each GB */
  sha256: () => string;
}

function tensor(name: string, ...shape: number[]): Tensor {
  return { name, shape, bytes: 2 * shape.reduce((product, size) => product * size, 1) };
}

function layerOf(hidden: number, layer: number) {
  const [inner, kv, at] = [4 * hidden, hidden / 4, `model.layers.${layer}`];
  return [
    tensor(`${at}.input_layernorm.weight`, hidden),
    tensor(`${at}.self_attn.q_proj.weight`, hidden, hidden),
    tensor(`${at}.self_attn.k_proj.weight`, kv, hidden),
    tensor(`${at}.self_attn.v_proj.weight`, kv, hidden),
    tensor(`${at}.self_attn.o_proj.weight`, hidden, hidden),
    tensor(`${at}.post_attention_layernorm.weight`, hidden),
    tensor(`${at}.mlp.gate_proj.weight`, inner, hidden),
    tensor(`${at}.mlp.up_proj.weight`, inner, hidden),
    tensor(`${at}.mlp.down_proj.weight`, hidden, inner),
  ];
}

/** Layers until there are so many bytes. */
function shapeOf(bytes: number): { hidden: number; layers: number; tensors: Tensor[] } {
  const hidden = bytes > 4e8 ? 2048 : bytes > 5e7 ? 512 : 256;
  const tensors = [tensor('model.embed_tokens.weight', VOCAB, hidden)];
  const total = () => tensors.reduce((sum, one) => sum + one.bytes, 0);
  let layers = 0;
  do tensors.push(...layerOf(hidden, layers++));
  while (total() < bytes);
  return { hidden, layers, tensors: [...tensors, tensor('model.norm.weight', hidden)] };
}

function headerOf(tensors: Tensor[]): Buffer {
  const entries: Record<string, unknown> = {};
  let at = 0;
  for (const { name, shape, bytes } of tensors) {
    entries[name] = { dtype: 'BF16', shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const text = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text]);
}

/** Numbers of BF16 between 0.008 and 0.03, of both signs. */
function blockOfNumbers() {
  const block = randomBytes(BLOCK);
  for (let i = 1; i < BLOCK; i += 2) block[i] = 0x3c | ((block[i] ?? 0) & 0x80);
  return block;
}

/** A token a byte. */
function tokenizer() {
  const printable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let extra = 256;
  const chars = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : extra++));
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const vocab = Object.fromEntries(chars.map((char, id) => [char, id]));
  const model = { type: 'BPE', vocab, merges: [] };
  return { added_tokens: [], normalizer: null, pre_tokenizer: bytes, post_processor: null, decoder: bytes, model };
}

function configOf(hidden: number, layers: number) {
  return {
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: VOCAB,
    hidden_size: hidden,
    intermediate_size: 4 * hidden,
    num_hidden_layers: layers,
    num_attention_heads: hidden / HEAD_DIM,
    num_key_value_heads: hidden / HEAD_DIM / 4,
    head_dim: HEAD_DIM,
    hidden_act: 'silu',
    max_position_embeddings: 2048,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: true,
  };
}

const json =
  (value: unknown): Handler =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/**
 * @param bytes about so many
 * @param prefix such as '/model/'
 * @param hasRanges else weights come whole
 */
export function syntheticModel(bytes: number, prefix: string, hasRanges: boolean = true): Synthetic {
  const { hidden, layers, tensors } = shapeOf(bytes);
  const header = headerOf(tensors);
  const total = tensors.reduce((sum, one) => sum + one.bytes, 0);
  const size = header.length + total;
  const block = blockOfNumbers();
  let sent = 0;
  /** @param end the last byte */
  function* bytesOf(start: number, end: number) {
    for (let at = start; at <= end; ) {
      const part =
        at < header.length
          ? header.subarray(at, end + 1)
          : block.subarray((at - header.length) % BLOCK, ((at - header.length) % BLOCK) + end + 1 - at);
      at += part.length;
      yield part;
    }
  }
  const weights: Handler = (request, response) => {
    const range = hasRanges ? rangeOf(request.headers.range, size) : null;
    if (range === 'unsatisfiable') return void response.writeHead(416).end();
    const { start, end } = range ?? { start: 0, end: size - 1 };
    response.writeHead(range ? 206 : 200, {
      etag: '"synthetic"',
      'content-length': end - start + 1,
      ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
    });
    sent += end - start + 1;
    Readable.from(bytesOf(start, end))
      .on('error', () => {})
      .pipe(response);
  };
  return {
    bytes: total,
    sent: () => sent,
    sha256() {
      const hash = createHash('sha256');
      for (const part of bytesOf(0, size - 1)) hash.update(part);
      return hash.digest('hex');
    },
    handlers: {
      [`${prefix}config.json`]: json(configOf(hidden, layers)),
      [`${prefix}tokenizer.json`]: json(tokenizer()),
      [`${prefix}model.safetensors`]: weights,
    },
  };
}
