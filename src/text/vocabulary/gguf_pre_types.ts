// `tokenizer.ggml.pre`: the name of a GGUF file's rules for splitting text into words. Each name stands for expressions
// that are applied one after another; every match and every stretch between matches is a word.

import { CONTRACTIONS, caseWords, GPT2_WORDS, SPACES, words } from '../encode/word_regexes';

export interface PreType {
  readonly splits: readonly string[];
  /** A word that is a token itself is not merged. */
  readonly ignoreMerges: boolean;
  /** Texts begin with bos unless the file says otherwise. */
  readonly addBos: boolean;
  /** The library must rewrite the expressions, or bound the time that they take. */
  readonly isIntricate: boolean;
}

const DEEPSEEK3 = [
  '\\p{N}{1,3}',
  '[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
  '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+' +
    `| ?[\\p{P}\\p{S}]+[\\r\\n]*|${SPACES}`,
];

const type = (splits: readonly string[], ignoreMerges = false, addBos = false): PreType => ({
  splits,
  ignoreMerges,
  addBos,
  isIntricate: false,
});
const intricate = (splits: readonly string[]): PreType => ({ ...type(splits), isIntricate: true });

const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';
const MARKS = ' ?[^\\s\\p{L}\\p{N}]+';
/** Words between spaces and the punctuation of many scripts. */
const BLOOM = ' ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+';
/** Runs of spaces in pieces whose lengths are powers of two. */
const SPACES_BY_TWOS = `${[512, 256, 128, 64, 32, 16, 8, 4].map((n) => `\\s{${n}}(?!\\S)`).join('|')}|\\s{1,2}(?!\\S)|\\s{1}`;

const GPT2 = type([GPT2_WORDS]);
const DIGITS = type(['\\p{N}', GPT2_WORDS]);
const LLAMA3 = type([words('\\p{N}{1,3}')], true, true);
const LLAMA3_PLAIN = type([words('\\p{N}{1,3}')]);
const QWEN2 = type([words('\\p{N}')]);
const GPT4O = type([caseWords(`${CONTRACTIONS}?`, '\\p{N}{1,3}')]);
const BAILING = intricate([
  `'(?i:[sdmt]|ll|ve|re)|${LEAD}\\p{L}+|\\p{N}|${MARKS}[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+`,
]);

/** Assigns the same rules to several names. */
const named = (names: string, rules: PreType) => names.split(' ').map((name) => [name, rules] as const);

/** Rules of llama.cpp's llama-vocab.cpp, except for types split by special code (kimi-k2, afmoe, gemma4). */
export const PRE_TYPES: ReadonlyMap<string, PreType> = new Map([
  ...named('default', type(['[\\p{P}\\$\\+<=>\\^~\\|]+', GPT2_WORDS, '\\p{N}+', '[0-9][0-9][0-9]'])),
  ...named('gpt-2 phi-2 mpt olmo jais gigachat trillion exaone4 a.x-4.0 mellum granite-docling modern-bert', GPT2),
  ...named('starcoder refact smollm command-r codeshell exaone minerva-7b mellum2', DIGITS),
  ...named('llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2', LLAMA3),
  ...named('dbrx smaug-bpe glm4 chatglm-bpe', LLAMA3_PLAIN),
  ...named('qwen2 stablelm2 deepseek-r1-qwen megrez kormo hunyuan solar-open grok-2', QWEN2),
  ...named('tekken', type([caseWords('', '\\p{N}')], true, true)),
  ...named('gpt-4o llama4 kanana2 talkie minimax-m2', GPT4O),
  ...named('deepseek-v3 hunyuan-dense hy_v4 joyai-llm', type(DEEPSEEK3)),
  ...named('bailingmoe bailingmoe2 llada-moe', BAILING),
  ...named('bloom gpt3-finnish poro-chat', type([BLOOM])),
  ...named('viking', type([BLOOM, '\\p{N}'])),
  ...named('falcon', type(['[\\p{P}\\$\\+<=>\\^~\\|`]+', GPT2_WORDS, '[0-9][0-9][0-9]'])),
  ...named(
    'deepseek-coder',
    type(['[\\r\\n]', '\\s?\\p{L}+', '\\s?\\p{P}+', '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+', '\\p{N}']),
  ),
  ...named(
    'qwen35',
    type([`${CONTRACTIONS}|${LEAD}[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${SPACES}`]),
  ),
  ...named('seed-coder', type([`${CONTRACTIONS}|${LEAD}\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${SPACES}`])),
  ...named('ufakzeka', type([`${LEAD}\\p{L}+|\\p{N}|${MARKS}[\\r\\n]*|${SPACES}`])),
  ...named('laguna', type(['[^\\n]+|[\\n]+', words('\\p{N}')])),
  ...named('minicpm5', type(['\\p{N}{1,3}', words('\\p{N}+')], true)),
  ...named(
    'exaone-moe',
    type([
      `${CONTRACTIONS}|${LEAD}(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}|${MARKS}[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+`,
    ]),
  ),
  ...named(
    'jais-2',
    intricate([`${CONTRACTIONS}|${LEAD}\\p{L}+|\\p{N}{1,3}|${MARKS}[\\r\\n]*|\\s*[\\r\\n]+|${SPACES_BY_TWOS}`]),
  ),
  ...named(
    'tiny_aya cohere2moe',
    intricate(['\\d{1,3}(?=(?:\\d{3})*\\b)', caseWords(`${CONTRACTIONS}?`, '\\p{N}{1,3}')]),
  ),
]);
