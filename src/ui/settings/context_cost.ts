// The memory of keys and values for a context, foreseen from the running model's. Pure.

import type { EngineInfo } from '../../engine/engine';
import { type KvType, kvRoom, kvRowBytes } from '../../shared/kv_rows';

/** Bytes of a context of so many tokens, with keys and values of a type. Null where no GPU holds them. */
export function contextBytes(
  { bytesPerToken, kvCache, model }: EngineInfo,
  tokens: number,
  kvType: KvType,
): number | null {
  if (!bytesPerToken) return null;
  const rowBytes = (type: KvType) => kvRowBytes({ headDim: model.headDim, kvType: type });
  const { kvPerPosition, kvInWindows = [] } = bytesPerToken;
  const bytes = kvInWindows.reduce((sum, { positions, perPosition }) => {
    return sum + perPosition * kvRoom({ contextLength: tokens, maxTokens: 0 }, positions + 1);
  }, kvPerPosition * tokens);
  return (bytes * rowBytes(kvType)) / rowBytes(kvCache);
}
