// Reads the vocabulary in GGUF metadata (tokenizer.ggml.*).

import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import { byteOfToken } from '../byte_alphabet';
import { BYTE_LEVEL, type ByteRules, spaceMarks } from '../decode/token_bytes';
import { markPipeline, type TextPipeline, wordPipeline } from '../encode/text_pipeline';
import type { BpeModel } from '../encode/word_model';
import { asId, asString, MAX_VOCABULARY } from '../json';
import { PRE_TYPES } from './gguf_pre_types';
import { readMerges } from './merges';
import { END_TOKENS } from './special_tokens';
import type { PlainAddedToken, Vocabulary } from './vocabulary';

// Values of tokenizer.ggml.token_type.
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const NORMAL = 1;

/** Longest token that merging makes: every cut of each token is looked up. Those in use are far shorter. */
const LONGEST_MERGED = 256;

interface Words {
  tokens: readonly string[];
  types: ArrayLike<number>;
  /** Ids by text. Of equal texts the later one wins, as in the reference. */
  vocab: ReadonlyMap<string, number>;
}

interface ModelRules {
  model: BpeModel;
  unkToken: string | null;
  addBos: boolean;
  /** Applies the rules to a text. Null if that takes the library. */
  pipeline: TextPipeline | null;
  /** The expressions that split a text where it does. */
  splits: readonly string[];
  bytes: ByteRules;
}

export interface GgufVocabulary extends Vocabulary, Pick<ModelRules, 'pipeline' | 'splits' | 'bytes'> {
  readonly model: BpeModel;
  /** As of tokenizer_config.json. */
  readonly config: JsonObject;
}

export function ggufVocabulary(gguf: ReadonlyMap<string, unknown>): GgufVocabulary {
  const get = (name: string) => gguf.get(`tokenizer.ggml.${name}`);
  const model = asString(get('model'));
  const words = readWords(get('tokens'), get('token_type'));
  const { tokens, vocab } = words;
  const text = (name: string) => {
    const id = asId(get(`${name}_token_id`));
    return id === null ? null : (tokens[id] ?? null);
  };
  const [bos, eos] = [text('bos'), text('eos')];
  const rules =
    model === 'gpt2' ? byteLevelRules(get, words) : model === 'llama' ? sentencePieceRules(gguf, get, words) : null;
  if (!rules) {
    throw new TokenizerError(
      `The GGUF file's vocabulary is of the kind ${JSON.stringify(model)}; "gpt2" and "llama" are supported. Put the model's tokenizer.json beside it.`,
    );
  }
  const edge = (name: string, otherwise: boolean, token: string | null): number[] => {
    const flag = get(`add_${name}_token`);
    return (typeof flag === 'boolean' ? flag : otherwise) && token !== null ? [vocab.get(token)!] : [];
  };
  return {
    ...rules,
    vocab,
    addedTokens: addedTokens(words, gguf, [bos, eos]),
    prefix: edge('bos', rules.addBos, bos),
    suffix: edge('eos', false, eos),
    config: { bos_token: bos, eos_token: eos },
  };
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
  return { tokens, types: kinds, vocab: new Map(tokens.map((token: string, id) => [token, id])) };
}

function numbers(value: unknown): ArrayLike<number> | null {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return value as unknown as ArrayLike<number>;
  return Array.isArray(value) ? value.map(Number) : null;
}

/** @param named tokens that are control tokens whatever their type, if there are any */
function addedTokens(
  { tokens, types, vocab }: Words,
  gguf: ReadonlyMap<string, unknown>,
  named: readonly (string | null)[],
): PlainAddedToken[] {
  // Phi-3's own tokenizer removes the spaces after its control tokens; GGUF has no field for this.
  const swallows = gguf.get('general.architecture') === 'phi3';
  const keeps = ['<unk>', '<s>', '<|endoftext|>'];
  const rest = { normalized: false, singleWord: false, lstrip: false };
  const added = tokens.flatMap((content, id): PlainAddedToken[] => {
    const kind = types[id];
    // Some files type the end-of-turn token as ordinary or user-defined. <unk> is as invisible as <s>.
    const isEnd = (kind === NORMAL || kind === USER_DEFINED) && END_TOKENS.has(content);
    const isControl = kind === CONTROL || kind === UNKNOWN || isEnd;
    if ((!isControl && kind !== USER_DEFINED) || content === '') return [];
    const special = isControl || named.includes(content);
    return [{ id, content, special, ...rest, rstrip: swallows && !keeps.includes(content) }];
  });
  const known = new Set(added.map(({ content }) => content));
  for (const content of new Set(named)) {
    if (content && !known.has(content))
      added.push({ id: vocab.get(content)!, content, special: true, ...rest, rstrip: false });
  }
  return added;
}

type Get = (name: string) => unknown;

function byteLevelRules(get: Get, words: Words): ModelRules {
  const name = asString(get('pre')) ?? 'default';
  const pre = PRE_TYPES.get(name);
  if (!pre) {
    throw new TokenizerError(
      `The GGUF file splits text by the rules "${name}", which are not among the ${PRE_TYPES.size} known: ${[...PRE_TYPES.keys()].join(', ')}. Put the model's tokenizer.json beside it.`,
    );
  }
  return {
    addBos: pre.addBos,
    unkToken: null,
    pipeline: pre.isIntricate ? null : wordPipeline(pre.splits),
    splits: pre.splits,
    bytes: BYTE_LEVEL,
    model: {
      type: 'BPE',
      merges: readMerges(get('merges'), words.vocab),
      mergeRanks: null,
      ignoreMerges: pre.ignoreMerges,
      byteFallback: false,
      fuseUnk: false,
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
    if (types[id] !== NORMAL || vocab.get(token) !== id || byteOfToken(token)) return;
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
    unkToken: tokens[unkId] ?? null,
    pipeline: markPipeline(prefix),
    splits: [],
    bytes: spaceMarks(prefix),
    model: {
      type: 'BPE',
      merges: Uint32Array.from(merges),
      mergeRanks: Uint32Array.from(ranks),
      ignoreMerges: false,
      byteFallback: true,
      fuseUnk: true,
    },
  };
}
