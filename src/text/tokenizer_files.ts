/** What is known of a model's vocabulary; at least one of `tokenizerJson` and `gguf` must be there. */
export interface TokenizerFiles {
  tokenizerJson: Record<string, unknown> | null;
  tokenizerConfig: Record<string, unknown> | null;
  generationConfig: Record<string, unknown> | null;
  gguf: ReadonlyMap<string, unknown> | null;
}
