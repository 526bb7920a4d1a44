// `tokenizer.ggml.pre`: the name that a GGUF file gives to its rules for splitting text into words.
// Each name stands for expressions applied one after another, every match and every stretch between matches a word.

import { CONTRACTIONS, caseWords, GPT2_WORDS, SPACES, words } from './word_patterns';

export interface PreType {
  readonly splits: readonly string[];
  /** A word that is a token as a whole is not merged. */
  readonly ignoreMerges: boolean;
  /** Texts begin with bos unless the file says otherwise. */
  readonly addBos: boolean;
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
});

const GPT2 = type([GPT2_WORDS]);
const DIGITS = type(['\\p{N}', GPT2_WORDS]);
const LLAMA3 = type([words('\\p{N}{1,3}')], true, true);
const LLAMA3_PLAIN = type([words('\\p{N}{1,3}')]);
const QWEN2 = type([words('\\p{N}')]);

export const PRE_TYPES: ReadonlyMap<string, PreType> = new Map(
  Object.entries({
    default: type(['[\\p{P}\\$\\+<=>\\^~\\|]+', GPT2_WORDS, '\\p{N}+', '[0-9][0-9][0-9]']),
    'gpt-2': GPT2,
    'phi-2': GPT2,
    mpt: GPT2,
    olmo: GPT2,
    jais: GPT2,
    gigachat: GPT2,
    trillion: GPT2,
    exaone4: GPT2,
    'a.x-4.0': GPT2,
    mellum: GPT2,
    'granite-docling': GPT2,
    starcoder: DIGITS,
    refact: DIGITS,
    smollm: DIGITS,
    'command-r': DIGITS,
    codeshell: DIGITS,
    exaone: DIGITS,
    'minerva-7b': DIGITS,
    llama3: LLAMA3,
    'llama-v3': LLAMA3,
    'llama-bpe': LLAMA3,
    falcon3: LLAMA3,
    'falcon-h1': LLAMA3,
    pixtral: LLAMA3,
    'midm-2.0': LLAMA3,
    lfm2: LLAMA3,
    dbrx: LLAMA3_PLAIN,
    'smaug-bpe': LLAMA3_PLAIN,
    glm4: LLAMA3_PLAIN,
    'chatglm-bpe': LLAMA3_PLAIN,
    qwen2: QWEN2,
    stablelm2: QWEN2,
    'deepseek-r1-qwen': QWEN2,
    megrez: QWEN2,
    hunyuan: QWEN2,
    'solar-open': QWEN2,
    'grok-2': QWEN2,
    tekken: type([caseWords('', '\\p{N}')], true, true),
    'gpt-4o': type([caseWords(`${CONTRACTIONS}?`, '\\p{N}{1,3}')]),
    llama4: type([caseWords(`${CONTRACTIONS}?`, '\\p{N}{1,3}')]),
    'deepseek-v3': type(DEEPSEEK3),
    'hunyuan-dense': type(DEEPSEEK3),
  }),
);
