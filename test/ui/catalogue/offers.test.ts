// What the page offers: the list, the machine, what was seen of it, and the state of each card.

import { beforeEach, expect, test, vi } from 'vitest';
import type { CachedModel, EngineInfo } from '../../../src/engine/engine';
import { cardState } from '../../../src/ui/catalogue/card_state';
import { storyteller } from '../../../src/ui/catalogue/list/catalogue';
import type { Inspected } from '../../../src/ui/catalogue/machine/machine';
import { Offers } from '../../../src/ui/catalogue/offers';

const place = { base: 'https://example.com/', hub: 'https://huggingface.co' };
const story = storyteller(place);
const able = { ...story, id: 'able', name: 'Able', location: 'https://x.org/able.gguf', tellsStories: false };
const machine: Inspected = {
  gpu: 'hardware',
  name: 'gpu',
  maxBufferBytes: 2 ** 31,
  isMobile: false,
  memoryBytes: null,
};
const copy: CachedModel = {
  location: able.location,
  name: 'able.gguf',
  bytes: 50,
  totalBytes: 200,
  isComplete: false,
  usedAt: 0,
};

let stored: Map<string, string>;
beforeEach(() => {
  stored = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  });
  return () => vi.unstubAllGlobals();
});

async function offersOf(kept: CachedModel[] = []): Promise<Offers> {
  const offers = new Offers(place, true, {
    catalogue: async () => ({ models: [story, able], complaints: ['One is missing.'] }),
    machine: async () => machine,
    kept: async () => kept,
  });
  await offers.read();
  return offers;
}

const info = (adapter: string | null): EngineInfo =>
  ({
    adapter,
    gpuBytes: { weights: 1e9, kvCache: 2e9, activations: 3e9 },
    bytesPerToken: { weights: 1e9, kvPerPosition: 1 },
    model: { parameters: 5 },
  }) as EngineInfo;

test('before anything is read there is the storyteller, and nothing is recommended', async () => {
  const offers = new Offers(place, true);
  expect([offers.find(story.location), offers.recommended, offers.machine]).toEqual([story, null, null]);
});

test('the list, its complaints and the recommended model come with one change', async () => {
  const heard = vi.fn();
  const offers = await offersOf();
  offers.onChange(heard);
  await offers.read();
  expect(heard).toHaveBeenCalledTimes(1);
  expect([offers.models.length, offers.complaints, offers.recommended]).toEqual([2, ['One is missing.'], able]);
});

test('a card goes from its download over the load to the running model', async () => {
  const offers = await offersOf();
  const state = () => cardState(able, offers);
  expect(state()).toEqual({ kind: 'get' });
  offers.show({ loading: { location: able.location, loadedBytes: 0, totalBytes: 0 } });
  expect(state()).toEqual({ kind: 'loading', percent: null });
  offers.show({ loading: { location: able.location, loadedBytes: 99.9, totalBytes: 200 } });
  expect(state()).toEqual({ kind: 'loading', percent: 49 });
  offers.show({ loading: null });
  offers.kept = [copy];
  expect(state()).toEqual({ kind: 'resume', percent: 25 });
  offers.kept = [{ ...copy, bytes: 200, totalBytes: null }];
  expect(state()).toEqual({ kind: 'resume', percent: 0 });
  offers.kept = [{ ...copy, isComplete: true }];
  expect(state()).toEqual({ kind: 'downloaded' });
  offers.show({ running: able.location });
  expect(state()).toEqual({ kind: 'running' });
});

test('what is seen on this GPU is kept for the next visit; what an engine on the CPU shows is not', async () => {
  const offers = await offersOf();
  offers.noteLoaded(info(null));
  offers.noteAnswer(able.location, info(null), 3);
  offers.noteAnswer(able.location, info('gpu'), null);
  expect(stored.size).toBe(0);
  offers.noteLoaded(info('gpu'));
  offers.noteAnswer(able.location, info('gpu'), 30);
  offers.noteRoofline({ readGBps: 100, clock: 'gpu' });
  offers.noteRoofline(null);
  offers.noteRefused('https://unknown.org/');
  const expected = {
    adapter: 'gpu',
    readGBps: 100,
    grantedBytes: 6e9,
    refusedBytes: null,
    rates: { [able.location]: { tokensPerSecond: 30, bytesPerToken: 1e9 } },
  };
  expect(offers.seen).toEqual(expected);
  expect((await offersOf()).seen).toEqual(expected);
});

test('a refusal makes the model too large here', async () => {
  const offers = await offersOf();
  offers.noteRefused(able.location);
  expect(offers.recommended).toBeNull();
});

test('a list of downloads that cannot be read is an empty one', async () => {
  const offers = new Offers(place, true, { kept: () => Promise.reject(new Error('no worker')) });
  await offers.readKept();
  expect(offers.kept).toEqual([]);
});
