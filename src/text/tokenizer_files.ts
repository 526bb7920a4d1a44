/** The files that define a vocabulary. At least one of `tokenizerJson` and `gguf` must be present. */
export interface TokenizerFiles {
  tokenizerJson: Record<string, unknown> | null;
  tokenizerConfig: Record<string, unknown> | null;
  generationConfig: Record<string, unknown> | null;
  gguf: ReadonlyMap<string, unknown> | null;
}
