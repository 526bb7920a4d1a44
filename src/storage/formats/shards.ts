// Weights in several safetensors files.

import { ModelFetchError, ModelFileError } from '../../errors';
import { isJsonObject, type JsonObject } from '../../shared/json_object';
import { isPlainName, quoted } from '../checks/bounds';
import type { ModelFolder } from '../source/byte_source';
import { parseSafetensors } from './safetensors';
import type { TensorInfo } from './tensor';
import { SHARD_INDEX } from './weight_names';

const MAX_SHARDS = 1024;

/**
 * The tensors of several safetensors files, ordered by file name. `index` is model.safetensors.index.json; its
 * weight_map assigns each tensor to a shard, and both must agree exactly.
 * @throws ModelFileError for a malformed map, and for a tensor that is missing, unmapped or in two shards
 * @throws ModelFetchError for a missing shard
 */
export async function openShards(folder: ModelFolder, index: JsonObject): Promise<TensorInfo[]> {
  const shardOf = readWeightMap(index);
  const shards = [...new Set(shardOf.values())].sort();
  if (shards.length > MAX_SHARDS) {
    throw new ModelFileError(SHARD_INDEX, `names ${shards.length} shards; at most ${MAX_SHARDS} are accepted.`);
  }
  const tensors: TensorInfo[] = [];
  const found = new Set<string>();
  for (const shard of shards) {
    const source = await folder.open(shard);
    if (!source) {
      throw new ModelFetchError(
        folder.name,
        null,
        `${folder.name} lacks the weights file ${shard}, one of ${shards.length} that its index names. Add it.`,
      );
    }
    for (const tensor of await parseSafetensors(source)) {
      const mapped = shardOf.get(tensor.name);
      if (mapped !== shard) {
        const where = mapped === undefined ? 'does not name' : `places in ${mapped}`;
        throw new ModelFileError(shard, `holds tensor ${quoted(tensor.name)}, which ${SHARD_INDEX} ${where}.`);
      }
      found.add(tensor.name);
      tensors.push(tensor);
    }
  }
  for (const [name, shard] of shardOf) {
    if (found.has(name)) continue;
    throw new ModelFileError(shard, `lacks tensor ${quoted(name)}, which ${SHARD_INDEX} places there.`);
  }
  return tensors;
}

function readWeightMap(index: JsonObject): Map<string, string> {
  const map = index.weight_map;
  if (!isJsonObject(map)) throw new ModelFileError(SHARD_INDEX, 'has no "weight_map" object.');
  const shardOf = new Map<string, string>();
  for (const [tensor, shard] of Object.entries(map)) {
    // A shard must be a file of the same folder, never a path or an address elsewhere.
    if (typeof shard !== 'string' || !isPlainName(shard) || !shard.endsWith('.safetensors')) {
      throw new ModelFileError(
        SHARD_INDEX,
        `places tensor ${quoted(tensor)} in ${quoted(typeof shard === 'string' ? shard : typeof shard)}, no file name.`,
      );
    }
    shardOf.set(tensor, shard);
  }
  return shardOf;
}
