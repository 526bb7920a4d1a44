/** File names of a folder's weights: a single file, or the index of several. */
export const WEIGHTS = 'model.safetensors';
export const SHARD_INDEX = 'model.safetensors.index.json';
