// What an opened model consists of.

import type { GgufValue } from './formats/gguf';
import type { TensorInfo } from './formats/tensor';
import type { SentenceModule } from './sentence_modules';

/** The checked contents of a model's headers and JSON files. No tensor data has been read. */
export interface ModelFiles {
  readonly format: 'safetensors' | 'gguf';
  /** Display name: the folder's or the file's. */
  readonly name: string;
  /** Total size of all tensors in bytes, for progress. */
  readonly totalBytes: number;
  /** Tensors by name in file order, so that a loader that iterates over them reads sequentially. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly config: Record<string, unknown> | null;
  readonly generationConfig: Record<string, unknown> | null;
  readonly tokenizerJson: Record<string, unknown> | null;
  /** tokenizer_config.json. A separate chat_template.jinja replaces its chat_template. */
  readonly tokenizerConfig: Record<string, unknown> | null;
  /** The modules behind the language model in a folder of sentence-transformers, else null. */
  readonly modules?: readonly SentenceModule[] | null;
  /** Metadata of a GGUF file, else null. */
  readonly gguf: ReadonlyMap<string, GgufValue> | null;
}

export type SideFiles = Pick<ModelFiles, 'generationConfig' | 'tokenizerJson' | 'tokenizerConfig'>;
export type Weights = Pick<ModelFiles, 'format' | 'tensors' | 'gguf'>;
