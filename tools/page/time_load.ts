// The page's part of `load-memory`: one load with its times.

import { Engine, type EngineInfo, type EngineLoadOptions } from '../../src/engine/engine';

export interface LoadRequest {
  model: string;
  load: Pick<EngineLoadOptions, 'hubUrl' | 'cache' | 'backend'>;
}

export interface TimedLoad {
  seconds: number;
  weightsSeconds: number;
  cachedBytes: number;
  warnings: EngineInfo['warnings'];
  adapter: string | null;
  /** The size of the model's files. */
  bytes: number;
}

export async function timeLoad({ model: asked, load }: LoadRequest): Promise<TimedLoad> {
  const started = performance.now();
  let cachedBytes = 0;
  const engine = await Engine.load(asked, {
    ...load,
    contextLength: 64,
    onProgress: (progress) => {
      cachedBytes = progress.cachedBytes ?? 0;
    },
  });
  const seconds = (performance.now() - started) / 1000;
  const { loadMs, warnings, adapter, model } = engine.info;
  await engine.unload();
  return { seconds, weightsSeconds: loadMs.weights / 1000, cachedBytes, warnings, adapter, bytes: model.fileBytes };
}
