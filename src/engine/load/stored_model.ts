// What keys and values in storage depend on, but for the ids. Another answer to any of it is another prompt.

import type { ModelCache } from '../../storage/cache/cache';
import { isModelKept } from '../../storage/cache/cached_models';
import { inStores } from '../../storage/cache/watched_stores';
import type { PromptModel } from '../../storage/prompts/prompt_piece';
import { shaderHash } from '../../tune/profile/shader_hash';
import type { EngineInfo } from '../protocol';
import type { ResolvedLoad } from './load_options';

/** The number of the layout of a piece. A change of the order of its bytes is another layout. */
const LAYOUT = 1;

export interface StoredModel extends PromptModel {
  /** False once a person has deleted the model. */
  isKept(): Promise<boolean>;
}

/** Null where not all of the model's bytes are known and kept. The cache must be closed. */
export function storedModel(cache: ModelCache, info: EngineInfo, { quantize }: ResolvedLoad): StoredModel | null {
  const { contents, location } = cache;
  if (contents === null) return null;
  return {
    location,
    get root() {
      const { backend, adapter, contextLength, kvCache, arithmetic, attention } = info; // a tuning may change some
      const computed = [
        backend,
        adapter,
        kvCache,
        quantize,
        arithmetic?.prefill,
        arithmetic?.decode,
        attention.prefill,
      ];
      return JSON.stringify([LAYOUT, contents, contextLength, shaderHash(), ...computed]);
    },
    isKept: () => inStores((stores) => isModelKept(stores, location), false),
  };
}
