// A prompt that an engine has written to this browser's storage, and the next one reads: what `bench -- kv` says of it.

import { StoredPrompts } from '../../../src/engine/worker/prefix_cache/stored_prompts';
import { openPromptFiles } from '../../../src/storage/prompts/prompt_files';
import { ownerOf } from '../../../src/storage/prompts/prompt_piece';
import { PromptStore } from '../../../src/storage/prompts/prompt_store';
import type { StoredFigures } from '../../report';
import { type Answer, answer, type SyntheticModel } from '../synthetic/synthetic_session';

/** The times of a prompt from storage, as after a reload. `prompt` is in the cache. */
export async function measureStored(
  model: SyntheticModel,
  prompt: string,
  tokens: number,
  rounds: number,
): Promise<StoredFigures | null> {
  const { session } = model;
  const { parking } = session.backend;
  const kv = await session.backend.kvBytes?.();
  if (!kv || !parking) return null;
  const location = `bench:${crypto.randomUUID()}`;
  const common = { location, root: '', isKept: async () => true };
  const open = async () => {
    const store = await PromptStore.open(await openPromptFiles());
    const sources = { store: Promise.resolve(store), location, model: Promise.resolve(common), kv };
    session.stored = new StoredPrompts({ ...sources, bytesPerToken: parking.bytesPerToken, keeps: 'all' });
    return store;
  };
  const store = await open();
  try {
    session.cachedIds = [];
    const cold = await answer(model, prompt, tokens); // tells what computing takes
    const started = performance.now();
    await session.stored?.write(
      session,
      (work) => work(),
      () => true,
    );
    const writeMs = performance.now() - started;
    const bytes = store.bytesOf(ownerOf(location));
    const heard: Answer[] = [];
    for (let round = 0; round < rounds; round++) {
      await open();
      session.cachedIds = [];
      heard.push(await answer(model, prompt, tokens));
    }
    const times = heard.map(({ metrics }) => metrics.ttftMs ?? 0).sort((a, b) => a - b);
    const storedTokens = Math.min(...heard.map(({ usage }) => usage.storedTokens ?? 0));
    const coldMs = cold.metrics.ttftMs ?? 0;
    return { bytes, writeMs, coldMs, ttftMs: times[Math.floor(times.length / 2)] ?? 0, tokens: storedTokens };
  } finally {
    session.stored = undefined;
    await store.clear(ownerOf(location));
  }
}
