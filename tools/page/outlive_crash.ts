// The page's part of `crash-cost`: one answer twice, undisturbed and through a crash that the terminal causes.

import { Engine, type EngineLoadOptions } from '../../src/engine/engine';

export interface CrashRequest {
  model: string;
  load: Pick<EngineLoadOptions, 'backend' | 'quantize' | 'contextLength'>;
  /** Tokens of the prompt and of the answer, and those before the crash. */
  prompt: number;
  tokens: number;
  crashAfter: number;
}

export interface OutlivedCrash {
  /** Seconds of the load that the crash undoes. */
  loadSeconds: number;
  /** Seconds between the last token before the crash and the first one after it, as the reader sees them. */
  pauseSeconds: number;
  /** Seconds from the news of the loss to the recovery. */
  recoverySeconds: number | null;
  /** Tokens of the two answers that are equal, from the first one on. */
  equalTokens: number;
  tokens: number;
  adapter: string | null;
}

/** Tells the terminal `{crash: true}` after so many tokens, and reports how the answer went on. */
export async function outliveCrash(
  { model, load, prompt, tokens, crashAfter }: CrashRequest,
  tell: (said: object) => void,
): Promise<OutlivedCrash> {
  const started = performance.now();
  const engine = await Engine.load(model, load);
  const loadSeconds = (performance.now() - started) / 1000;
  const ids = Array.from({ length: prompt }, (_, i) => (31 * i + 7) % 256);
  const options = { maxTokens: tokens, ignoreEos: true, temperature: 0 };
  const emptyCache = () => engine.embed(['x']); // both answers begin alike
  const undisturbed: number[] = [];
  await emptyCache();
  for await (const event of engine.complete(ids, options)) if (event.type === 'token') undisturbed.push(event.id);
  await emptyCache();
  const answer: number[] = [];
  let pauseSeconds = 0;
  let recoverySeconds: number | null = null;
  let lastAt = 0;
  for await (const event of engine.complete(ids, options)) {
    if (event.type === 'recovered') recoverySeconds = event.pauseMs / 1000;
    if (event.type !== 'token') continue;
    if (answer.length > 0) pauseSeconds = Math.max(pauseSeconds, (event.atMs - lastAt) / 1000);
    lastAt = event.atMs;
    if (answer.push(event.id) === crashAfter) tell({ crash: true });
  }
  const firstOther = answer.findIndex((id, i) => id !== undisturbed[i]);
  const { adapter } = engine.info;
  await engine.unload();
  return {
    loadSeconds,
    pauseSeconds,
    recoverySeconds,
    equalTokens: firstOther < 0 ? answer.length : firstOther,
    tokens: answer.length,
    adapter,
  };
}
