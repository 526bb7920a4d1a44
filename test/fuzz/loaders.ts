// The fuzzed loaders: every entrance for a file.

import { configLoader } from './cases/config_cases';
import { constraintLoader } from './cases/constraint_cases';
import { ggufLoader } from './cases/gguf_cases';
import { jsonLoader } from './cases/json_cases';
import { largeLoader } from './cases/large_cases';
import { markdownLoader } from './cases/markdown_cases';
import { modelLoader } from './cases/model_cases';
import { safetensorsLoader } from './cases/safetensors_cases';
import { templateLoader } from './cases/template_cases';
import { ggufVocabularyLoader, tokenizerLoader } from './cases/tokenizer_cases';
import type { Random } from './random';

/** Loads one hostile file and uses the result. Throws a typed error if the file does not load. */
export type Case = () => unknown;

/** `Input` is plain data that corpus_rows.ts can store, so that a case outlives its generator. */
export interface Loader<Input = unknown> {
  readonly name: string;
  /** The input that follows from the seed. */
  makeInput(random: Random): Input;
  /** The case of an input. Preparing is not measured. */
  prepare(input: Input): Case;
}

export const LOADERS = [
  ggufLoader,
  safetensorsLoader,
  jsonLoader,
  configLoader,
  tokenizerLoader,
  ggufVocabularyLoader,
  templateLoader,
  modelLoader,
  markdownLoader,
  constraintLoader,
  largeLoader,
] as readonly Loader[];
