// The page's part of `check-models`: one load, one greedy answer in f32.

import { Engine, type EngineLoadOptions } from '../../src/engine/engine';

export interface AnswerRequest {
  model: string;
  prompt: string;
  tokens: number;
  load: Pick<EngineLoadOptions, 'kvCache' | 'attention' | 'contextLength'>;
}

export interface AnswerIds {
  ids: number[];
  adapter: string | null;
  warnings: string[];
}

export async function answerIds({ model, prompt, tokens, load }: AnswerRequest): Promise<AnswerIds> {
  const engine = await Engine.load(model, { ...load, activations: 'f32', cache: false, backend: 'webgpu' });
  const ids: number[] = [];
  for await (const event of engine.complete(prompt, { maxTokens: tokens, temperature: 0 })) {
    if (event.type === 'token') ids.push(event.id);
  }
  const { adapter, warnings } = engine.info;
  await engine.unload();
  return { ids, adapter, warnings: warnings.map(({ message }) => message) };
}
