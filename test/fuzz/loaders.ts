// What is fuzzed: every door through which a file comes in.

import { configLoader } from './config_cases';
import { ggufLoader } from './gguf_cases';
import { jsonLoader } from './json_cases';
import { largeLoader } from './large_cases';
import { modelLoader } from './model_cases';
import type { Random } from './random';
import { safetensorsLoader } from './safetensors_cases';
import { templateLoader } from './template_cases';
import { ggufVocabularyLoader, tokenizerLoader } from './tokenizer_cases';

/** Loads one hostile file and uses what came of it; throws a typed error where it does not load. */
export type Case = () => unknown;

/** `Input` is plain data that corpus_rows.ts can write down, so that a case outlives the generator that found it. */
export interface Loader<Input = unknown> {
  readonly name: string;
  /** The input that follows from the seed. */
  makeInput(random: Random): Input;
  /** The case of an input. Its making is not measured. */
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
  largeLoader,
] as readonly Loader[];
