// tokenizer.json and tokenizer_config.json as checked values: what the rest of the room may rely on.

import { TokenizerError } from '../errors';
import type { AddedToken } from './added_tokens';
import { asArray, asId, asObject, asString, type JsonObject, MAX_VOCABULARY, tokenContent } from './json';

export interface TokenizerParts {
  readonly normalizer: JsonObject | null;
  readonly preTokenizer: JsonObject | null;
  readonly decoder: JsonObject | null;
  readonly vocab: ReadonlyMap<string, number>;
  readonly merges: readonly (readonly [string, string])[];
  readonly mergeRanks: readonly number[] | null;
  readonly addedTokens: readonly AddedToken[];
  readonly unkToken: string | null;
  readonly byteFallback: boolean;
  readonly ignoreMerges: boolean;
  readonly fuseUnk: boolean;
  /** Ids that the post-processor puts before and after a text. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

/** Names of tokenizer_config.json whose tokens are control tokens, whatever tokenizer.json says of them. */
const NAMED_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

export function readTokenizerJson(json: JsonObject, config: JsonObject): TokenizerParts {
  const model = asObject(json.model);
  if (!model) throw new TokenizerError('tokenizer.json has no "model".');
  const type = asString(model.type) ?? (Array.isArray(model.merges) ? 'BPE' : 'unknown');
  if (type !== 'BPE') throw new TokenizerError(`The tokenizer's model is "${type}"; only BPE is supported.`);
  if (model.continuing_subword_prefix || model.end_of_word_suffix) {
    throw new TokenizerError('The tokenizer marks the inside or the end of words, which is not supported.');
  }
  const vocab = readVocabulary(model.vocab);
  return {
    normalizer: asObject(json.normalizer),
    preTokenizer: asObject(json.pre_tokenizer),
    decoder: asObject(json.decoder),
    vocab,
    merges: readMerges(model.merges),
    mergeRanks: Array.isArray(model.merge_ranks) ? (model.merge_ranks as number[]) : null, // ours: gguf_vocabulary.ts
    addedTokens: readAddedTokens(json, config, vocab),
    unkToken: asString(model.unk_token),
    byteFallback: model.byte_fallback === true,
    ignoreMerges: model.ignore_merges === true,
    fuseUnk: model.fuse_unk === true,
    ...readPostProcessor(asObject(json.post_processor)),
  };
}

function readVocabulary(value: unknown): Map<string, number> {
  const entries = asObject(value);
  if (!entries) throw new TokenizerError('tokenizer.json has no vocabulary.');
  const vocab = new Map<string, number>();
  for (const token of Object.keys(entries)) {
    const id = asId(entries[token]);
    if (id === null) {
      throw new TokenizerError(
        `Token ${JSON.stringify(token)} has the id ${String(entries[token])}; ids are whole numbers below ${MAX_VOCABULARY}.`,
      );
    }
    vocab.set(token, id);
  }
  if (vocab.size === 0) throw new TokenizerError('The vocabulary has 0 tokens.');
  return vocab;
}

/** Both spellings: "a b", and ["a", "b"] where tokens may hold spaces. */
function readMerges(value: unknown): [string, string][] {
  if (!Array.isArray(value)) throw new TokenizerError('tokenizer.json has no list of merges.');
  return value.map((merge: unknown, i) => {
    const pair = typeof merge === 'string' ? merge.split(' ') : merge;
    if (Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string' && part !== '')) {
      return pair as [string, string];
    }
    throw new TokenizerError(`Merge ${i} is not a pair of tokens.`);
  });
}

function readAddedTokens(json: JsonObject, config: JsonObject, vocab: ReadonlyMap<string, number>): AddedToken[] {
  const named = new Set<string>();
  for (const name of NAMED_TOKENS) named.add(tokenContent(config[name]) ?? '');
  for (const token of asArray(config.additional_special_tokens)) named.add(tokenContent(token) ?? '');
  named.delete('');

  const tokens = new Map<number, AddedToken>();
  const add = (id: number | null, entry: JsonObject | null) => {
    const content = asString(entry?.content);
    if (id === null || !entry || content === null) {
      throw new TokenizerError(`An added token has the id ${String(entry?.id ?? id)} and no usable text.`);
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
        target = suffix; // the text itself
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
