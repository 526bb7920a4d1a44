// The tokenizer of any model. What tokenizer.json may ask for beyond the rules of common GGUF files takes a library: a
// part that comes with the models that need it.

import { TokenizerError } from '../errors';
import { createTextPipeline } from './encode/pre_tokenizer';
import { createModel } from './encode/unigram_wordpiece';
import { checkDecoder } from './rule_bounds';
import { assembleTokenizer, createGgufTokenizer, type Tokenizer } from './tokenizer';
import type { TokenizerFiles } from './tokenizer_files';
import { ggufVocabulary } from './vocabulary/gguf_vocabulary';
import { readTokenizerJson } from './vocabulary/tokenizer_json';

export function createTokenizer(files: TokenizerFiles): Tokenizer {
  return createGgufTokenizer(files) ?? createByRules(files);
}

function createByRules(files: TokenizerFiles): Tokenizer {
  const { tokenizerJson, tokenizerConfig } = vocabularyOf(files);
  const parsed = readTokenizerJson(tokenizerJson, tokenizerConfig);
  checkDecoder(parsed.decoder);
  const pipeline = createTextPipeline(parsed.normalizer, parsed.preTokenizer);
  return assembleTokenizer(files, tokenizerConfig, parsed, pipeline, (options) =>
    createModel(options, pipeline.byteLevel),
  );
}

/** The vocabulary of a tokenizer.json or of a GGUF file. */
function vocabularyOf(files: TokenizerFiles) {
  const vocabulary = files.tokenizerJson
    ? { tokenizerJson: files.tokenizerJson, tokenizerConfig: files.tokenizerConfig ?? {} }
    : files.gguf && ggufVocabulary(files.gguf);
  if (!vocabulary)
    throw new TokenizerError(
      'The model has 0 vocabularies: neither a tokenizer.json nor one in a GGUF file. Put the tokenizer.json of its repository beside it.',
    );
  return vocabulary;
}
