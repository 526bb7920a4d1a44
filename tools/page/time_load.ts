// The page's part of `load-memory`: one load with its times.

import { Engine, type EngineInfo, type EngineLoadOptions } from '../../src/engine/engine';

export interface LoadRequest {
  model: string;
  load: Pick<EngineLoadOptions, 'hubUrl' | 'cache' | 'backend'>;
}

export interface TimedLoad {
  /** Until the model is ready, and from there until the first token of a first and of a second answer. */
  seconds: number;
  ttftMs: number[];
  weightsSeconds: number;
  cachedBytes: number;
  warnings: EngineInfo['warnings'];
  adapter: string | null;
  /** The size of the model's files. */
  bytes: number;
}

const CONTEXT = 64;
/** Of the made-up model, whose tokens are bytes. */
const PROMPT_TOKENS = 32;

/** Milliseconds from the question for an answer to its first token. */
async function firstToken(engine: Engine, letter: string): Promise<number> {
  const asked = performance.now();
  for await (const event of engine.complete(letter.repeat(PROMPT_TOKENS), { maxTokens: 2, temperature: 0 })) {
    if (event.type === 'token') return performance.now() - asked;
  }
  return Number.NaN;
}

export async function timeLoad({ model: asked, load }: LoadRequest): Promise<TimedLoad> {
  const started = performance.now();
  let cachedBytes = 0;
  const engine = await Engine.load(asked, {
    ...load,
    contextLength: CONTEXT,
    onProgress: (progress) => {
      cachedBytes = progress.cachedBytes ?? 0;
    },
  });
  const seconds = (performance.now() - started) / 1000;
  const { loadMs, warnings, adapter, model } = engine.info;
  const ttftMs = [await firstToken(engine, 'a'), await firstToken(engine, 'b')];
  await engine.unload();
  return {
    seconds,
    ttftMs,
    weightsSeconds: loadMs.weights / 1000,
    cachedBytes,
    warnings,
    adapter,
    bytes: model.fileBytes,
  };
}
