// The tokenizer of any model. What tokenizer.json may ask for beyond the rules of common GGUF files takes a library: a
// part that comes with the models that need it.

import { TokenizerError } from '../errors';
import { createByteRules } from './decode/decoder_rules';
import { createTextPipeline } from './encode/pre_tokenizer';
import type { TextPipeline } from './encode/text_pipeline';
import { createModel } from './encode/unigram_wordpiece';
import { checkDecoder } from './rule_bounds';
import { assembleTokenizer, createGgufTokenizer, type Tokenizer } from './tokenizer';
import type { TokenizerFiles } from './tokenizer_files';
import { type GgufVocabulary, ggufVocabulary } from './vocabulary/gguf_vocabulary';
import { readTokenizerJson } from './vocabulary/tokenizer_json';

export function createTokenizer(files: TokenizerFiles): Tokenizer {
  return createGgufTokenizer(files) ?? createByRules(files);
}

function createByRules(files: TokenizerFiles): Tokenizer {
  const { tokenizerJson, tokenizerConfig, gguf } = files;
  if (!tokenizerJson && gguf) return createBySplits(files, ggufVocabulary(gguf));
  if (!tokenizerJson)
    throw new TokenizerError(
      'The model has 0 vocabularies: neither a tokenizer.json nor one in a GGUF file. Put the tokenizer.json of its repository beside it.',
    );
  const config = tokenizerConfig ?? {};
  const parsed = readTokenizerJson(tokenizerJson, config);
  checkDecoder(parsed.decoder);
  const pipeline = createTextPipeline(parsed.normalizer, parsed.preTokenizer, parsed.model.type !== 'BPE');
  const bytes = createByteRules(parsed.decoder, pipeline.byteLevel);
  return assembleTokenizer(files, config, parsed, pipeline, bytes, (options) =>
    createModel(options, pipeline.byteLevel),
  );
}

/** The tokenizer of a GGUF file whose expressions are too intricate for JavaScript's own. */
function createBySplits(files: TokenizerFiles, vocabulary: GgufVocabulary): Tokenizer {
  const pipeline = splitPipeline(vocabulary.splits);
  return assembleTokenizer(files, vocabulary.config, vocabulary, pipeline, vocabulary.bytes, (options) =>
    createModel(options, pipeline.byteLevel),
  );
}

/** The words of a text by these expressions, one after another, to be written in the byte alphabet. */
export function splitPipeline(splits: readonly string[]): TextPipeline {
  const isolate = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
  return createTextPipeline(null, { type: 'Sequence', pretokenizers: [...splits.map(isolate), bytes] });
}
