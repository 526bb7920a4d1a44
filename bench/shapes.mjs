// The shapes that benches measure at, by the models that have them. Runs in Node and in the page.

/**
 * @typedef {{ nHeads: number, nKvHeads: number, headDim: number }} HeadShape query heads, key heads, width of a head
 * @typedef {HeadShape & { scale: number, softcap: null, windowed: false }} AttentionHeads with scores as most models have them
 * @typedef {HeadShape & { nLayers: number, hiddenSize: number, intermediateSize: number, vocabSize: number, tiedEmbedding: boolean }} ModelShape
 */

/** @satisfies {Record<string, ModelShape>} */
export const MODELS = {
  storyteller: {
    nLayers: 8,
    hiddenSize: 384,
    intermediateSize: 1024,
    nHeads: 6,
    nKvHeads: 2,
    headDim: 64,
    vocabSize: 4096,
    tiedEmbedding: true,
  },
  'smollm2-135m': {
    nLayers: 30,
    hiddenSize: 576,
    intermediateSize: 1536,
    nHeads: 9,
    nKvHeads: 3,
    headDim: 64,
    vocabSize: 49152,
    tiedEmbedding: true,
  },
  'llama-3.2-1b': {
    nLayers: 16,
    hiddenSize: 2048,
    intermediateSize: 8192,
    nHeads: 32,
    nKvHeads: 8,
    headDim: 64,
    vocabSize: 128256,
    tiedEmbedding: true,
  },
  'llama-3.1-8b': {
    nLayers: 32,
    hiddenSize: 4096,
    intermediateSize: 14336,
    nHeads: 32,
    nKvHeads: 8,
    headDim: 128,
    vocabSize: 128256,
    tiedEmbedding: false,
  },
};

/** What attention alone is measured at. @param {keyof typeof MODELS} name @returns {AttentionHeads} */
export function headShape(name) {
  const { nHeads, nKvHeads, headDim } = MODELS[name];
  return { nHeads, nKvHeads, headDim, scale: headDim ** -0.5, softcap: null, windowed: false };
}
