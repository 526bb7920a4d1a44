// Vocabularies from tokenizer.json with its two companions and from GGUF metadata, changed anywhere or with random
// rules.

import fc from 'fast-check';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { MODEL, PERSON, TEMPLATE } from '../../../src/text/authors';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../src/text/template/find_template';
import { loadProvenance } from '../../../src/text/template/late_provenance';
import type { TokenizerFiles } from '../../../src/text/tokenizer_files';
import { byteLevelGguf, byteLevelJson, sentencePieceGguf, sentencePieceJson } from '../../text/tiny_vocabulary';
import { EDGE_LENGTHS, NASTY_NAMES } from '../edges';
import { readJsonFile } from '../fixtures';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { jsonBytes, readJson } from './json_cases';
import { TEMPLATES } from './template_grammar';
import { decoders, normalizers, postProcessors, preTokenizers } from './tokenizer_grammar';

await loadProvenance(); // or a hostile text would get no further

const STORYTELLER = readJsonFile('public/models/storyteller/tokenizer.json');
/** Unigram, WordPiece and byte pair encoding, as trained by the reference. */
const TRAINED = readJsonFile('test/fixtures/tokenizer/models.json').models as Record<
  string,
  { tokenizer: Record<string, unknown> }
>;
const VOCABULARIES = [
  ...Object.values(TRAINED).map(({ tokenizer }) => tokenizer),
  byteLevelJson(),
  byteLevelJson(),
  sentencePieceJson(),
];
const CONFIG = {
  bos_token: '<s>',
  eos_token: { content: '<|end|>', special: true },
  additional_special_tokens: ['<|user|>', '<|assistant|>'],
  added_tokens_decoder: { '300': { content: '<more>', special: false, lstrip: true, rstrip: true, single_word: true } },
  chat_template: [{ name: 'default', template: TEMPLATES[0] }],
};
const GENERATION = { eos_token_id: [1, 2], bos_token_id: 1 };
const TEXTS = [
  'the quick <|end|> brown 🙂 fox \n\n jumps',
  `${'a'.repeat(40)}!`,
  ' \u2581\u2581 é\u0301 \ud800 文字 \ufeff <0x0A> <tool>',
];
/** Long texts take most of the time, so few cases encode them. */
const LONG_TEXTS = ['x'.repeat(30_000), `${' '.repeat(5000)}${'ab '.repeat(2000)}`];

interface TokenizerInput {
  /** tokenizer.json and its two companions. */
  json: Uint8Array;
  config: Uint8Array;
  generation: Uint8Array;
  isLong: boolean;
}

export const tokenizerLoader: Loader<TokenizerInput> = {
  name: 'tokenizer',
  makeInput(random) {
    const whole = random.chance(0.003) ? STORYTELLER : random.pick(VOCABULARIES);
    const vocabulary = random.chance(0.4) ? withRules(random, whole) : whole;
    const [json, config, generation] = changeOne(random, [vocabulary, CONFIG, GENERATION]);
    return { json, config, generation, isLong: random.chance(0.1) };
  },
  prepare({ json, config, generation, isLong }) {
    return () => {
      const tokenizerConfig = readJson(config);
      use(
        { tokenizerJson: readJson(json), tokenizerConfig, generationConfig: readJson(generation), gguf: null },
        isLong ? LONG_TEXTS : TEXTS,
      );
    };
  },
};

export const ggufVocabularyLoader: Loader<{ gguf: Map<string, unknown>; isLong: boolean }> = {
  name: 'gguf vocabulary',
  makeInput(random) {
    const gguf = new Map(random.chance(0.5) ? byteLevelGguf() : sentencePieceGguf());
    for (let n = 1 + random.int(2); n > 0; n--) {
      const key = random.pick([...gguf.keys(), ...MORE_KEYS]);
      gguf.set(key, changed(random, gguf.get(key)));
    }
    return { gguf, isLong: random.chance(0.1) };
  },
  prepare({ gguf, isLong }) {
    const files = { tokenizerJson: null, tokenizerConfig: null, generationConfig: null, gguf };
    return () => use(files, isLong ? LONG_TEXTS : TEXTS);
  },
};

const MORE_KEYS = [
  'add_bos_token',
  'add_space_prefix',
  'remove_extra_whitespaces',
  'eog_token_ids',
  'eot_token_id',
].map((name) => `tokenizer.ggml.${name}`);

/** Changes at least one of three files. */
function changeOne(random: Random, files: readonly unknown[]): Uint8Array[] {
  const chosen = random.pick([0, 0, 0, 1, 2]);
  return files.map((file, i) =>
    i === chosen ? jsonBytes(random, file) : new TextEncoder().encode(JSON.stringify(file)),
  );
}

function withRules(random: Random, json: Record<string, unknown>): Record<string, unknown> {
  const rules = {
    normalizer: normalizers,
    pre_tokenizer: preTokenizers,
    decoder: decoders,
    post_processor: postProcessors,
  };
  const part = random.pick(Object.keys(rules) as (keyof typeof rules)[]);
  return { ...json, [part]: random.sample<unknown>(rules[part]) };
}

/** Another value of a type that the GGUF parser returns. */
function changed(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.int(value.length);
    return random.pick<() => unknown[]>([
      () => value.slice(0, at),
      () => value.with(at, random.pick(NASTY_NAMES)),
      () => value.with(at, value[random.int(value.length)]),
      () => value.with(at, random.pick<unknown>([-1, 2n ** 64n - 1n, true, null])),
      () => [...value, ...value],
      () => value.map(() => value[at]),
      () => value.with(at, 'x'.repeat(20_000)),
    ])();
  }
  if (ArrayBuffer.isView(value) && random.chance(0.7)) {
    const numbers = (value as Int32Array | Float32Array).slice();
    numbers[random.int(numbers.length)] = random.pick([-1, 0, 3, 6, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]);
    return random.chance(0.3) ? numbers.slice(1) : random.chance(0.2) ? numbers.fill(random.int(8)) : numbers;
  }
  return random.pick<unknown>([
    undefined,
    random.pick(EDGE_LENGTHS),
    random.sample(fc.oneof(fc.double(), fc.integer())),
    random.pick([true, false, '', 'gpt2', 'llama', 't5', 'bert', 'default', ...NASTY_NAMES]),
    Float32Array.of(0, Number.NaN),
    [],
  ]);
}

/** Uses a vocabulary as an engine does. */
export function use(files: TokenizerFiles, texts: readonly string[] = TEXTS): void {
  const tokenizer = createTokenizer(files);
  for (const text of texts) {
    const ids = tokenizer.encode(text);
    tokenizer.decode(ids);
    tokenizer.encodePlain(text);
    for (const author of [MODEL, PERSON] as const) {
      tokenizer.couldForge(text, author);
      tokenizer.forgeableUnits(text, author);
    }
  }
  const typed = ' <|end|> hi';
  const authors = [...'<|user|>', ...typed, ...'<|end|>'].map((_, i) =>
    i < 8 || i >= 8 + typed.length ? TEMPLATE : PERSON,
  );
  tokenizer.encodeAuthored(`<|user|>${typed}<|end|>`, Uint8Array.from(authors));
  for (const id of [0, 1, 300, tokenizer.vocabSize - 1, tokenizer.vocabSize, 2 ** 32]) tokenizer.tokenText(id);
  const template = findChatTemplate(files);
  if (template !== null)
    createChatTemplate(template, tokenizer).encode({ messages: [{ role: 'user', content: typed }] }, tokenizer).ids;
}
