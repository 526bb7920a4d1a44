// Converts the vocabulary in GGUF metadata (tokenizer.ggml.*) to tokenizer.json, so that both kinds of model files
// share one path.

import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { byteOfToken } from '../byte_alphabet';
import { markPipeline, type TextPipeline, wordPipeline } from '../encode/text_pipeline';
import { asId, asString, MAX_VOCABULARY } from '../json';
import { PRE_TYPES } from './gguf_pre_types';
import { END_TOKENS } from './special_tokens';

// Values of tokenizer.ggml.token_type.
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const NORMAL = 1;

const SPACE_MARK = '\u2581';
/** Longest token that merging makes: every cut of each token is looked up. Those in use are far shorter. */
const LONGEST_MERGED = 256;

interface Words {
  tokens: readonly string[];
  types: ArrayLike<number>;
  /** Ids by text. Of equal texts the later one wins, as in the reference. */
  vocab: JsonObject;
}

export function ggufVocabulary(gguf: ReadonlyMap<string, unknown>): {
  tokenizerJson: JsonObject;
  tokenizerConfig: JsonObject;
  /** Applies the rules to a text. Null if that takes the library. */
  pipeline: TextPipeline | null;
} {
  const get = (name: string) => gguf.get(`tokenizer.ggml.${name}`);
  const model = asString(get('model'));
  const words = readWords(get('tokens'), get('token_type'));
  const text = (name: string) => {
    const id = asId(get(`${name}_token_id`));
    return id === null ? null : (words.tokens[id] ?? null);
  };
  const bos = text('bos');
  const eos = text('eos');
  const rules =
    model === 'gpt2' ? byteLevelRules(get, words) : model === 'llama' ? sentencePieceRules(gguf, get, words) : null;
  if (!rules) {
    throw new TokenizerError(
      `The GGUF file's vocabulary is of the kind ${JSON.stringify(model)}; "gpt2" and "llama" are supported. Put the model's tokenizer.json beside it.`,
    );
  }
  const flag = (name: string, otherwise: boolean) => (typeof get(name) === 'boolean' ? get(name) === true : otherwise);
  const tokenizerJson = {
    version: '1.0',
    added_tokens: addedTokens(words, gguf),
    post_processor: template(
      words,
      flag('add_bos_token', rules.addBos) ? bos : null,
      flag('add_eos_token', false) ? eos : null,
    ),
    ...rules.json,
  };
  const tokenizerConfig = { bos_token: bos, eos_token: eos, clean_up_tokenization_spaces: false };
  return { tokenizerJson, tokenizerConfig, pipeline: rules.pipeline };
}

function readWords(tokens: unknown, types: unknown): Words {
  if (!Array.isArray(tokens) || tokens.length === 0)
    throw new TokenizerError('The GGUF file has 0 tokens in its vocabulary.');
  if (tokens.length > MAX_VOCABULARY) {
    throw new TokenizerError(`The GGUF file has ${tokens.length} tokens; at most ${MAX_VOCABULARY} are supported.`);
  }
  const bad = tokens.findIndex((token) => typeof token !== 'string');
  if (bad >= 0) throw new TokenizerError(`Token ${bad} of the GGUF vocabulary is not text.`);
  const kinds = types === undefined ? new Uint8Array(tokens.length).fill(NORMAL) : numbers(types);
  if (kinds === null || kinds.length !== tokens.length) {
    throw new TokenizerError(
      `The GGUF vocabulary has ${tokens.length} tokens but ${kinds?.length ?? 'no usable'} token types.`,
    );
  }
  const vocab: JsonObject = Object.create(null);
  tokens.forEach((token: string, id) => {
    vocab[token] = id;
  });
  return { tokens, types: kinds, vocab };
}

function numbers(value: unknown): ArrayLike<number> | null {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return value as unknown as ArrayLike<number>;
  return Array.isArray(value) ? value.map(Number) : null;
}

function addedTokens({ tokens, types }: Words, gguf: ReadonlyMap<string, unknown>): JsonObject[] {
  // Phi-3's own tokenizer removes the spaces after its control tokens; GGUF has no field for this.
  const swallows = gguf.get('general.architecture') === 'phi3';
  const keeps = ['<unk>', '<s>', '<|endoftext|>'];
  return tokens.flatMap((content, id) => {
    const kind = types[id];
    // Some files type the end-of-turn token as ordinary or user-defined. <unk> is as invisible as <s>.
    const isEnd = (kind === NORMAL || kind === USER_DEFINED) && END_TOKENS.has(content);
    const special = kind === CONTROL || kind === UNKNOWN || isEnd;
    if ((!special && kind !== USER_DEFINED) || content === '') return [];
    return { id, content, special, normalized: false, rstrip: swallows && !keeps.includes(content) };
  });
}

/** The post-processor of tokenizer.json that puts bos before and eos after a text. */
function template({ vocab }: Words, bos: string | null, eos: string | null): JsonObject | null {
  const used = [bos, eos].filter((token) => token !== null);
  if (used.length === 0) return null;
  const item = (token: string) => ({ SpecialToken: { id: token, type_id: 0 } });
  return {
    type: 'TemplateProcessing',
    single: [
      ...(bos === null ? [] : [item(bos)]),
      { Sequence: { id: 'A', type_id: 0 } },
      ...(eos === null ? [] : [item(eos)]),
    ],
    special_tokens: Object.fromEntries(
      used.map((token) => [token, { id: token, ids: [vocab[token]], tokens: [token] }]),
    ),
  };
}

type Get = (name: string) => unknown;
interface ModelRules {
  json: JsonObject;
  addBos: boolean;
  pipeline: TextPipeline | null;
}

function byteLevelRules(get: Get, words: Words): ModelRules {
  const name = asString(get('pre')) ?? 'default';
  const pre = PRE_TYPES.get(name);
  if (!pre) {
    throw new TokenizerError(
      `The GGUF file splits text by the rules "${name}", which are not among the ${PRE_TYPES.size} known: ${[...PRE_TYPES.keys()].join(', ')}. Put the model's tokenizer.json beside it.`,
    );
  }
  const merges = get('merges');
  if (!Array.isArray(merges)) throw new TokenizerError('The GGUF vocabulary has no list of merges.');
  const isolate = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
  return {
    addBos: pre.addBos,
    pipeline: pre.isIntricate ? null : wordPipeline(pre.splits),
    json: {
      normalizer: null,
      pre_tokenizer: { type: 'Sequence', pretokenizers: [...pre.splits.map(isolate), bytes] },
      decoder: bytes,
      model: { type: 'BPE', vocab: words.vocab, merges, ignore_merges: pre.ignoreMerges, byte_fallback: false },
    },
  };
}

/**
 * A SentencePiece vocabulary as byte pair encoding. Both merge the best pair of neighbors until no pair forms a token.
 * SentencePiece prefers the token with the highest score, wherever it was cut. So every cut of a token in two tokens
 * becomes a merge, ranked by the token's score among all scores. Equal scores share a rank, and the leftmost pair wins.
 */
function sentencePieceRules(gguf: ReadonlyMap<string, unknown>, get: Get, words: Words): ModelRules {
  const { tokens, types, vocab } = words;
  const scores = numbers(get('scores'));
  if (!scores || scores.length !== tokens.length) {
    throw new TokenizerError(`The GGUF vocabulary has ${tokens.length} tokens but ${scores?.length ?? 0} scores.`);
  }
  if (get('remove_extra_whitespaces') === true || gguf.has('tokenizer.ggml.precompiled_charsmap')) {
    throw new TokenizerError(
      'The GGUF vocabulary rewrites its text, which is not supported. Put the model’s tokenizer.json beside it.',
    );
  }
  const ids = new Map<string, number>(); // of the tokens that merging may use
  tokens.forEach((token, id) => {
    if (types[id] !== NORMAL || vocab[token] !== id || byteOfToken(token)) return;
    if (token.length <= LONGEST_MERGED) ids.set(token, id);
  });
  const order = [...ids.values()].sort((a, b) => scores[b] - scores[a] || a - b);
  const merges: number[] = [];
  const ranks: number[] = [];
  let rank = 0;
  order.forEach((id, place) => {
    if (place > 0 && scores[id] !== scores[order[place - 1]]) rank++;
    const token = tokens[id];
    for (let cut = 1; cut < token.length; cut++) {
      const left = ids.get(token.slice(0, cut));
      const right = left === undefined ? undefined : ids.get(token.slice(cut));
      if (left === undefined || right === undefined) continue;
      merges.push(left, right, id);
      ranks.push(rank);
    }
  });
  const unkId = asId(get('unknown_token_id')) ?? Array.prototype.indexOf.call(types, UNKNOWN);
  const prefix = get('add_space_prefix') !== false;
  return {
    addBos: true,
    pipeline: markPipeline(prefix),
    json: {
      ...spaceRules(prefix),
      model: {
        type: 'BPE',
        vocab,
        merges: Uint32Array.from(merges),
        merge_ranks: Uint32Array.from(ranks),
        unk_token: tokens[unkId] ?? null,
        fuse_unk: true,
        byte_fallback: true,
      },
    },
  };
}

/** SentencePiece writes a space as a mark, and by default one before each text. */
function spaceRules(prefix: boolean): JsonObject {
  const replace = (from: string, content: string) => ({ type: 'Replace', pattern: { String: from }, content });
  return {
    normalizer: {
      type: 'Sequence',
      normalizers: [...(prefix ? [{ type: 'Prepend', prepend: SPACE_MARK }] : []), replace(' ', SPACE_MARK)],
    },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        replace(SPACE_MARK, ' '),
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(prefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
  };
}
