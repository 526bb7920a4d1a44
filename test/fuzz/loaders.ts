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

export interface Loader {
  readonly name: string;
  /** The case that follows from the seed. Its making is not measured. */
  makeCase(random: Random): Case;
}

export const LOADERS: readonly Loader[] = [
  ggufLoader,
  safetensorsLoader,
  jsonLoader,
  configLoader,
  tokenizerLoader,
  ggufVocabularyLoader,
  templateLoader,
  modelLoader,
  largeLoader,
];
