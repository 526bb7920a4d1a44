// The sizes of buffers for logits, apart from the kernels that change them.

/** Logits that share a maximum. */
export const MAXIMA_GROUP = 32;

/** Bytes of the logits, such that 16 at a time can be read. */
export function logitsBytes(vocabSize: number): number {
  return Math.ceil(vocabSize / 4) * 16;
}

/** Bytes of `maxima`: a key for every 32 logits, such that four at a time can be read. */
export function maximaBytes(vocabSize: number): number {
  return Math.ceil(vocabSize / (4 * MAXIMA_GROUP)) * 16;
}

/** Bytes of the scratch buffer `seen` of penalties: a word for each id. Each dispatch leaves it zero. */
export function seenBytes(vocabSize: number): number {
  return 4 * vocabSize;
}
