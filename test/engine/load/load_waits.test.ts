// A load that has accepted the headers waits for the receiver of that report: meanwhile a page may unload another
// model.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadModel } from '../../../src/engine/load/load';
import type { LoadProgress } from '../../../src/engine/protocol';
import { STORYTELLER } from '../storyteller';

const WEIGHTS = 12_000_000;

/** The storyteller, with a count of the bytes that were read. */
function watchedFile(): { file: File; asked(): number } {
  const file = new File([readFileSync(STORYTELLER)], 'storyteller-q8_0.gguf');
  const slice = file.slice.bind(file);
  let bytes = 0;
  file.slice = (from = 0, to = file.size) => {
    bytes += Math.min(to, file.size) - from;
    return slice(from, to);
  };
  return { file, asked: () => bytes };
}

const OPTIONS = { backend: 'cpu', contextLength: 32 } as const;
const turns = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('no weights are read before the page has heard that the model is accepted', async () => {
  const { file, asked } = watchedFile();
  let isHeard = () => {};
  const accepted = new Promise<void>((resolve) => {
    const onProgress = ({ stage }: LoadProgress) => {
      if (stage !== 'weights') return undefined;
      resolve();
      return new Promise<void>((done) => {
        isHeard = done;
      });
    };
    void loading(onProgress);
  });
  let loaded: unknown = null;
  async function loading(onProgress: (progress: LoadProgress) => unknown) {
    loaded = await loadModel(file, OPTIONS, onProgress, new AbortController().signal);
  }
  await accepted;
  await turns();
  expect(asked()).toBeLessThan(WEIGHTS);
  expect(loaded).toBeNull();
  isHeard();
  await expect.poll(() => loaded, { timeout: 30_000 }).not.toBeNull();
  expect(asked()).toBeGreaterThan(WEIGHTS);
});

test('a load that is canceled meanwhile ends, and a page that fails to hear ends nothing', async () => {
  const abort = new AbortController();
  const { file, asked } = watchedFile();
  const canceled = loadModel(file, OPTIONS, ({ stage }) => stage === 'weights' && abort.abort(), abort.signal);
  await expect(canceled).rejects.toThrow(/abort/i);
  expect(asked()).toBeLessThan(WEIGHTS);
  const deaf = () => Promise.reject(new Error('The page has gone.'));
  expect((await loadModel(file, OPTIONS, deaf, new AbortController().signal)).info.backend).toBe('cpu');
});
