// The fuzzed loaders: every entrance for a file.

import { configLoader } from './config_cases';
import { constraintLoader } from './constraint_cases';
import { ggufLoader } from './gguf_cases';
import { jsonLoader } from './json_cases';
import { largeLoader } from './large_cases';
import { markdownLoader } from './markdown_cases';
import { modelLoader } from './model_cases';
import type { Random } from './random';
import { safetensorsLoader } from './safetensors_cases';
import { templateLoader } from './template_cases';
import { ggufVocabularyLoader, tokenizerLoader } from './tokenizer_cases';

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
