// The text room: text to ids and back. It knows no GPU, no page and no other room, and runs in a worker as in Node.
// This file puts the tokenizer together from the sub-rooms.

import { TokenizerError } from '../errors';
import type { JsonObject } from '../shared/json_object';
import { type Author, type Authors, PERSON, traitsOf } from './authors';
import { utf8Bytes } from './byte_alphabet';
import { type ByteRules, decodeUtf8 } from './decode/token_bytes';
import type { AddedToken } from './encode/added_tokens';
import { Encoder } from './encode/encoder';
import type { TextPipeline } from './encode/text_pipeline';
import { createBpe, type EncoderOptions, type WordModel } from './encode/word_model';
import { findChatTemplate } from './template/find_template';
import type { TokenizerFiles } from './tokenizer_files';
import { ggufVocabulary } from './vocabulary/gguf_vocabulary';
import { findSpecialTokens } from './vocabulary/special_tokens';
import type { Vocabulary } from './vocabulary/vocabulary';

export interface Tokenizer {
  /** The largest id plus one. A model may have more rows; ids beyond decode to nothing. */
  readonly vocabSize: number;
  readonly bosToken: string | null;
  readonly eosToken: string | null;
  /** All ids that end an answer. */
  readonly eosIds: readonly number[];
  /**
   * Ids of a trusted text, in which the text of a control token becomes that token. Begins with bos if the model wants
   * it.
   */
  encode(text: string, options?: { addSpecialTokens?: boolean }): Uint32Array;
  /** Ids of a text from a person. Only harmless added tokens are recognized. */
  encodePlain(text: string): Uint32Array;
  /** Ids of a text by several authors, split into words as if by one author, without prefix and suffix. */
  encodeAuthored(text: string, authors: Authors): Uint32Array;
  /**
   * True if a text contains a token withheld from its author, or could complete one together with adjacent text. With
   * `within`, tokens that hold the text and more on both sides go there instead: a prompt without them is not forged.
   */
  couldForge(text: string, author: Author, within?: Set<string>): boolean;
  /** The UTF-16 units of a text that may belong to a token withheld from its author. */
  forgeableUnits(text: string, author: Author): ReadonlySet<number>;
  /** Text of the ids without control tokens. Spaces stay as generated. */
  decode(ids: ArrayLike<number>): string;
  tokenBytes(id: number): Uint8Array;
  /** True for a token that is looked for before a text is split into words: a control token, a tag. */
  isAdded(id: number): boolean;
  /** One token for display. Half a character shows as U+FFFD, a control token by name. */
  tokenText(id: number): string;
}

/** Longest text per call, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 4_000_000;

const NO_BYTES = new Uint8Array(0);

/** The ids before and after a text that wants no special tokens. */
const NO_EDGES: { prefix: readonly number[]; suffix: readonly number[] } = { prefix: [], suffix: [] };

/** A text of allowed length, without unpaired surrogates. */
function checked(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) {
    throw new TokenizerError(
      `The text has ${text.length} characters; at most ${MAX_TEXT_LENGTH} are encoded at once. Shorten it.`,
    );
  }
  return text.replace(/\p{Surrogate}/gu, '\ufffd'); // with the u flag, this matches only unpaired halves
}

/** The tokenizer of a GGUF file without other files, or null if its rules take the library (any_tokenizer.ts). */
export function createGgufTokenizer(files: TokenizerFiles): Tokenizer | null {
  if (files.tokenizerJson || !files.gguf) return null;
  const vocabulary = ggufVocabulary(files.gguf);
  const { model, config, pipeline, bytes } = vocabulary;
  if (!pipeline) return null;
  return assembleTokenizer(files, config, vocabulary, pipeline, bytes, (options) =>
    createBpe(model, options, pipeline.byteLevel),
  );
}

/** Puts a tokenizer together from what its files say. */
export function assembleTokenizer(
  files: TokenizerFiles,
  config: JsonObject,
  parsed: Vocabulary,
  pipeline: TextPipeline,
  rules: ByteRules,
  createModel: (options: EncoderOptions) => WordModel,
): Tokenizer {
  const { vocab } = parsed;
  const added = new Map(parsed.addedTokens.map((token) => [token.id, token]));
  const addedIds = new Map(parsed.addedTokens.map((token) => [token.content, token.id]));
  const texts: (string | undefined)[] = [];
  for (const [token, id] of vocab) texts[id] = token;
  for (const token of parsed.addedTokens) texts[token.id] = token.content;

  const special = findSpecialTokens(
    config,
    files.generationConfig,
    files.gguf,
    (token) => addedIds.get(token) ?? vocab.get(token),
    (id) => texts[id],
    (id) => added.has(id),
  );

  const ends = new Set(special.eosIds);
  const template = findChatTemplate(files);
  const addedTokens = parsed.addedTokens.map(
    (token): AddedToken => ({ ...token, ...traitsOf(token.content, token.special || ends.has(token.id), template) }),
  );
  const encoder = new Encoder(addedTokens, pipeline, createModel({ ...parsed, addedTokens }));

  const idsOf = (text: string, authors: Authors | null, { prefix, suffix } = NO_EDGES) => {
    const out = [...prefix];
    encoder.encode(text, authors, out);
    for (const id of suffix) out.push(id);
    return Uint32Array.from(out);
  };

  return {
    vocabSize: texts.length,
    ...special,
    encode: (text, { addSpecialTokens = true } = {}) =>
      idsOf(checked(text), null, addSpecialTokens ? parsed : NO_EDGES),
    encodePlain: (text) => idsOf(checked(text), new Uint8Array(text.length).fill(PERSON)),
    encodeAuthored: (text, authors) => idsOf(checked(text), authors),
    couldForge: (...given) => encoder.couldForge(...given),
    forgeableUnits: (text, author) => encoder.forgeableUnits(text, author),
    isAdded: (id) => added.has(id),
    ...createDecoder(texts, added, rules),
  };
}

/** Ids to bytes and text. `added` are the added tokens by id; the control tokens among them have no bytes. */
function createDecoder(
  texts: readonly (string | undefined)[],
  added: ReadonlyMap<number, { content: string; special: boolean }>,
  rules: ByteRules,
): Pick<Tokenizer, 'decode' | 'tokenBytes' | 'tokenText'> {
  const tokenBytes = (id: number): Uint8Array => {
    const token = added.get(id);
    if (token) return token.special ? NO_BYTES : utf8Bytes(token.content);
    const text = texts[id];
    return text === undefined ? NO_BYTES : rules.bytes(text);
  };
  return {
    tokenBytes,
    decode(ids) {
      const text = decodeUtf8(joined(Array.from(ids, tokenBytes)));
      return rules.dropFirstSpace && text.startsWith(' ') ? text.slice(1) : text;
    },
    tokenText: (id) => (added.get(id)?.special ? (texts[id] ?? '') : decodeUtf8(tokenBytes(id))),
  };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
