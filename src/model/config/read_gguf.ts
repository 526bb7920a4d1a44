// A door of this folder: turns the metadata of a GGUF file into a checked ModelConfig. The reader of config.json is
// elsewhere (read.ts), because the page fetches it only for models that have one.

import type { ModelFiles } from '../../storage/model_files';
import { checked } from './checked';
import type { ModelConfig } from './config';
import { configFromGguf } from './gguf';

/** @throws UnsupportedModelError; ModelFileError */
export function readGgufConfig({ gguf, tensors }: Pick<ModelFiles, 'gguf' | 'tensors'>): ModelConfig {
  return checked(configFromGguf(gguf ?? new Map(), tensors));
}
