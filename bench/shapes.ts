// The shapes that benches measure at, by the models that have them. Runs in Node and in the page.

/** Query heads, key heads and the width of a head. */
interface HeadShape {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
}

/** Heads with scores as most models have them. */
export interface AttentionHeads extends HeadShape {
  scale: number;
  softcap: null;
  windowed: false;
}

interface ModelShape extends HeadShape {
  nLayers: number;
  hiddenSize: number;
  intermediateSize: number;
  vocabSize: number;
  tiedEmbedding: boolean;
}

export const MODELS = {
  /** No model: as small as all kernels run, to see that a bench works. */
  tiny: {
    nLayers: 2,
    hiddenSize: 128,
    intermediateSize: 256,
    nHeads: 4,
    nKvHeads: 2,
    headDim: 32,
    vocabSize: 4096,
    tiedEmbedding: true,
  },
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
} as const satisfies Record<string, ModelShape>;

/** The shape that attention alone is measured at. */
export function headShape(name: keyof typeof MODELS): AttentionHeads {
  const { nHeads, nKvHeads, headDim } = MODELS[name];
  return { nHeads, nKvHeads, headDim, scale: headDim ** -0.5, softcap: null, windowed: false };
}
