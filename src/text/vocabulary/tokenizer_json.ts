// Parses tokenizer.json and tokenizer_config.json into checked values.

import { TokenizerError } from '../../errors';
import type { JsonObject } from '../../shared/json_object';
import type { BpeModel, UnigramModel, WordPieceModel } from '../encode/word_model';
import { asArray, asId, asObject, asString, MAX_VOCABULARY, tokenContent } from '../json';
import { shown } from '../rule_text';
import { readMerges } from './merges';
import type { PlainAddedToken, Vocabulary } from './vocabulary';

export interface ParsedTokenizer extends Vocabulary {
  readonly normalizer: JsonObject | null;
  readonly preTokenizer: JsonObject | null;
  readonly decoder: JsonObject | null;
}

/** Keys of tokenizer_config.json whose tokens are control tokens, regardless of tokenizer.json. */
const NAMED_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

export function readTokenizerJson(json: JsonObject, config: JsonObject): ParsedTokenizer {
  const model = asObject(json.model);
  if (!model) throw new TokenizerError('tokenizer.json has no "model".');
  const type = asString(model.type) ?? guessType(model);
  if (type !== 'BPE' && type !== 'Unigram' && type !== 'WordPiece') {
    throw new TokenizerError(
      `The tokenizer's model is "${type}"; "BPE", "Unigram" and "WordPiece" are supported. Use a model with one of them.`,
    );
  }
  const pieces = type === 'Unigram' ? readPieces(model.vocab) : null;
  const vocab = pieces ? new Map(pieces.map(([text], id) => [text, id])) : readVocabulary(model.vocab);
  return {
    normalizer: asObject(json.normalizer),
    preTokenizer: asObject(json.pre_tokenizer),
    decoder: asObject(json.decoder),
    vocab,
    model: pieces ? readUnigram(model, pieces) : type === 'BPE' ? readBpe(model, vocab) : readWordPiece(model),
    addedTokens: readAddedTokens(json, config, vocab),
    unkToken: asString(model.unk_token),
    ...readPostProcessor(asObject(json.post_processor)),
  };
}

/** The model type of older files, which do not name it. */
function guessType(model: JsonObject): string {
  if (Array.isArray(model.merges)) return 'BPE';
  if (Array.isArray(model.vocab)) return 'Unigram';
  return typeof model.continuing_subword_prefix === 'string' ? 'WordPiece' : 'unknown';
}

function readBpe(model: JsonObject, vocab: ReadonlyMap<string, number>): BpeModel {
  if (model.continuing_subword_prefix || model.end_of_word_suffix) {
    throw new TokenizerError('The tokenizer marks the inside or the end of words, which is not supported.');
  }
  return {
    type: 'BPE',
    merges: readMerges(model.merges, vocab),
    mergeRanks: null,
    byteFallback: model.byte_fallback === true,
    ignoreMerges: model.ignore_merges === true,
    fuseUnk: model.fuse_unk === true,
  };
}

function readUnigram(model: JsonObject, pieces: readonly [string, number][]): UnigramModel {
  const unkId = asId(model.unk_id);
  if (unkId !== null && unkId >= pieces.length) {
    throw new TokenizerError(`The unknown token has the id ${unkId}; the vocabulary has ${pieces.length} tokens.`);
  }
  return { type: 'Unigram', pieces, unkId, byteFallback: model.byte_fallback === true };
}

function readWordPiece(model: JsonObject): WordPieceModel {
  return {
    type: 'WordPiece',
    subwordPrefix: asString(model.continuing_subword_prefix) ?? '##',
    longestWord: typeof model.max_input_chars_per_word === 'number' ? model.max_input_chars_per_word : 100,
  };
}

/** A Unigram vocabulary: a list of [text, score], indexed by id. */
function readPieces(value: unknown): [string, number][] {
  const pieces = asArray(value);
  if (pieces.length === 0 || pieces.length > MAX_VOCABULARY) {
    throw new TokenizerError(`The vocabulary has ${pieces.length} tokens; 1 to ${MAX_VOCABULARY} are supported.`);
  }
  return pieces.map((piece, id) => {
    const [text, score] = asArray(piece);
    if (typeof text !== 'string' || !Number.isFinite(score)) {
      throw new TokenizerError(`Token ${id} of the vocabulary is not a text with a score.`);
    }
    return [text, score as number];
  });
}

function readVocabulary(value: unknown): Map<string, number> {
  const entries = asObject(value);
  if (!entries) throw new TokenizerError('tokenizer.json has no vocabulary.');
  const vocab = new Map<string, number>();
  for (const token of Object.keys(entries)) {
    const id = asId(entries[token]);
    if (id === null) {
      throw new TokenizerError(
        `Token ${JSON.stringify(token)} has the id ${shown(entries[token])}; ids are whole numbers below ${MAX_VOCABULARY}.`,
      );
    }
    vocab.set(token, id);
  }
  if (vocab.size === 0) throw new TokenizerError('The vocabulary has 0 tokens.');
  return vocab;
}

function readAddedTokens(json: JsonObject, config: JsonObject, vocab: ReadonlyMap<string, number>): PlainAddedToken[] {
  const named = new Set<string>();
  for (const name of NAMED_TOKENS) named.add(tokenContent(config[name]) ?? '');
  for (const token of asArray(config.additional_special_tokens)) named.add(tokenContent(token) ?? '');
  named.delete('');

  const tokens = new Map<number, PlainAddedToken>();
  const add = (id: number | null, entry: JsonObject | null) => {
    const content = asString(entry?.content);
    if (id === null || !entry || content === null) {
      throw new TokenizerError(`An added token has the id ${shown(entry?.id ?? id)} and no usable text.`);
    }
    if (tokens.has(id) || content === '') return;
    const special = entry.special === true || named.has(content);
    tokens.set(id, {
      id,
      content,
      special,
      normalized: typeof entry.normalized === 'boolean' ? entry.normalized : !special,
      singleWord: entry.single_word === true,
      lstrip: entry.lstrip === true,
      rstrip: entry.rstrip === true,
    });
  };
  for (const token of asArray(json.added_tokens)) add(asId(asObject(token)?.id), asObject(token));
  const more = asObject(config.added_tokens_decoder) ?? {};
  for (const id of Object.keys(more)) add(asId(Number(id)), asObject(more[id]));
  const known = new Set(Array.from(tokens.values(), (token) => token.content));
  for (const content of named) {
    const id = vocab.get(content);
    if (id !== undefined && !known.has(content)) add(id, { content, special: true, normalized: false });
  }
  return [...tokens.values()];
}

function readPostProcessor(processor: JsonObject | null): { prefix: number[]; suffix: number[] } {
  const prefix: number[] = [];
  const suffix: number[] = [];
  if (processor?.type === 'Sequence') {
    for (const step of asArray(processor.processors)) {
      const inner = readPostProcessor(asObject(step));
      prefix.unshift(...inner.prefix);
      suffix.push(...inner.suffix);
    }
  } else if (processor?.type === 'TemplateProcessing') {
    let target = prefix;
    for (const item of asArray(processor.single)) {
      const token = asString(asObject(asObject(item)?.SpecialToken)?.id);
      if (token === null)
        target = suffix; // the place of the text
      else target.push(...templateIds(processor, token));
    }
  } else if (processor?.type === 'BertProcessing' || processor?.type === 'RobertaProcessing') {
    prefix.push(asId(asArray(processor.cls)[1]) ?? 0);
    suffix.push(asId(asArray(processor.sep)[1]) ?? 0);
  }
  return { prefix, suffix };
}

function templateIds(processor: JsonObject, token: string): number[] {
  const ids = asArray(asObject(asObject(processor.special_tokens)?.[token])?.ids).map(asId);
  if (ids.length === 0 || ids.includes(null)) {
    throw new TokenizerError(`The post-processor names the token ${JSON.stringify(token)}, which has no usable ids.`);
  }
  return ids as number[];
}
