// The head shapes that benches measure attention at, by the models that have them. Runs in Node and in the page.

/** @typedef {{ nHeads: number, nKvHeads: number, headDim: number }} HeadShape query heads, key heads, width of a head */

/** Layers of the same models: each has K and V of its own. @satisfies {Record<string, number>} */
export const LAYERS = { storyteller: 8, 'llama-3.2-1b': 16, 'llama-3.1-8b': 32 };

/** @satisfies {Record<string, HeadShape>} */
export const SHAPES = {
  storyteller: { nHeads: 6, nKvHeads: 2, headDim: 64 },
  'llama-3.2-1b': { nHeads: 32, nKvHeads: 8, headDim: 64 },
  'llama-3.1-8b': { nHeads: 32, nKvHeads: 8, headDim: 128 },
};
