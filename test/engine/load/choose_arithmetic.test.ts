// The arithmetic of a load: by name, remembered, raced, or as ever where a race brings nothing. The race is made up.

import { describe, expect, test, vi } from 'vitest';
import { type ArithmeticLoad, chooseBy, knownArithmetic } from '../../../src/engine/load/choose_arithmetic';
import { raceWhile } from '../../../src/engine/load/race_while';
import type { ArithmeticChoice } from '../../../src/engine/protocol';
import type { Gpu } from '../../../src/gpu/device';
import type { LayerWeights } from '../../../src/model/weights/weights';
import { storeProfile } from '../../../src/tune/profile/profile_store';
import type { Race } from '../../../src/tune/results';

vi.mock('../../../src/tune/profile/profile_store', async (original) => ({
  ...(await original<typeof import('../../../src/tune/profile/profile_store')>()),
  storeProfile: vi.fn(async () => true),
}));

const GPU = { isSoftware: false } as Gpu;
const SHAPE = { format: 'q4', rows: 1024, cols: 256, copies: 2 } as const;
const time = (ms: number) => ({ ms, spread: 0.01 });
const FIGURES = {
  clock: 'gpu',
  decode: { q8: time(0.22), f32: time(0.19) },
  prefill: { q8: time(4), f32: time(1.05) },
} as const;
const RACE: Race = { ...SHAPE, ...FIGURES };
const never = new Promise<never>(() => {});

function layersOf(format: 'q4' | 'f16'): LayerWeights[] {
  const linear = (rows: number) => ({ matrix: { rows, cols: 256, parts: [{ format, row0: 0, rows }] } });
  const layer = { qkv: linear(768), o: linear(256), gateUp: linear(1024), down: linear(256) };
  return [layer, layer] as unknown as LayerWeights[];
}

const loadOf = (change: Partial<ArithmeticLoad> = {}): ArithmeticLoad => ({
  options: { activations: 'auto', step: 'auto' },
  layers: layersOf('q4'),
  mayFuse: false,
  profile: null,
  warnings: [],
  signal: new AbortController().signal,
  ...change,
});

describe('without a race', () => {
  const kept = { race: { 'q4 1024x256 2': FIGURES } };
  test.each<[string, Partial<Gpu>, Partial<ArithmeticLoad>, object]>([
    [
      'q8 by name',
      {},
      { options: { activations: 'q8', step: 'auto' }, profile: kept },
      { decode: 'q8', prefill: 'q8', cause: 'asked' },
    ],
    [
      'f32 by name',
      {},
      { options: { activations: 'f32', step: 'auto' } },
      { decode: 'f32', prefill: 'f32', cause: 'asked' },
    ],
    [
      'q8 by name in software',
      { isSoftware: true },
      { options: { activations: 'q8', step: 'auto' } },
      { decode: 'q8', cause: 'asked' },
    ],
    [
      'a GPU in software',
      { isSoftware: true },
      { profile: kept },
      { decode: 'f32', prefill: 'f32', cause: 'software' },
    ],
    ['no integers', {}, { layers: layersOf('f16') }, { decode: 'f32', prefill: 'f32', cause: 'plain', race: null }],
    ['an earlier load', {}, { profile: kept }, { decode: 'f32', prefill: 'f32', cause: 'kept', race: RACE }],
    [
      'an earlier load, where decode may fuse',
      {},
      { profile: kept, mayFuse: true },
      { decode: 'q8', prefill: 'f32', cause: 'kept' },
    ],
  ])('%s', (_name, gpu, change, choice) => {
    expect(knownArithmetic({ ...GPU, ...gpu } as Gpu, loadOf(change))).toMatchObject(choice);
  });

  test('a model that was lost runs as before, even where nothing is kept; one that ran on the CPU is raced', () => {
    const before = { decode: 'q8', prefill: 'q8', cause: 'failed', reason: 'busy', race: null } as const;
    const again = (change: Partial<ArithmeticChoice>) =>
      loadOf({ profile: kept, options: { activations: 'auto', step: 'auto', before: { ...before, ...change } } });
    expect(knownArithmetic(GPU, again({}))).toEqual(before);
    expect(knownArithmetic(GPU, again({ cause: 'cpu' }))).toMatchObject({ decode: 'f32', cause: 'kept' });
    const named = again({});
    expect(knownArithmetic(GPU, { ...named, options: { ...named.options, activations: 'f32' } })).toMatchObject({
      cause: 'asked',
    });
  });

  test('figures of another shape do not count', () => {
    expect(knownArithmetic(GPU, loadOf({ profile: { race: { 'q4 2048x256 2': FIGURES } } }))).toEqual(SHAPE);
  });
});

describe('raced', () => {
  const raceWith = (result: () => Promise<Race | string>, change: Partial<ArithmeticLoad> = {}, reading = never) => {
    vi.mocked(storeProfile).mockClear();
    const load = loadOf(change);
    const racing = raceWhile(GPU, load, SHAPE, reading, vi.fn(result));
    return { load, choosing: racing.then((figures) => chooseBy(figures, load)) };
  };

  test('the figures are told and kept, so that the next load decides the same', async () => {
    const { load, choosing } = raceWith(async () => RACE);
    const choice = await choosing;
    expect(choice).toEqual({
      decode: 'f32',
      prefill: 'f32',
      cause: 'raced',
      reason: 'decode 0.220 ms in q8, 0.190 ms in f32; prefill 4.00 ms in q8, 1.05 ms in f32',
      race: RACE,
    });
    const race = { 'q4 1024x256 2': FIGURES };
    expect(storeProfile).toHaveBeenCalledExactlyOnceWith(GPU, { race });
    expect(knownArithmetic(GPU, { ...load, profile: { race } })).toEqual({ ...choice, cause: 'kept' });
    expect(load.warnings).toEqual([]);
  });

  test('a fused step by name multiplies bytes', async () => {
    const { choosing } = raceWith(async () => RACE, { options: { activations: 'auto', step: 'fused' } });
    expect(await choosing).toMatchObject({ decode: 'q8', prefill: 'f32' });
  });

  test('without a result: q8 as ever, a warning, and nothing kept', async () => {
    const { load, choosing } = raceWith(async () => 'decode differed by 80% from round to round');
    expect(await choosing).toMatchObject({ decode: 'q8', prefill: 'q8', cause: 'failed', race: null });
    const message = expect.stringMatching(/^q8 was not raced against f32: decode differed by 80%.* q8; the next load/);
    expect(load.warnings).toEqual([{ code: 'race-failed', message }]);
    expect(storeProfile).not.toHaveBeenCalled();
  });

  test('a race that outlasts the reading is waited for', async () => {
    let end = (_: Race) => {};
    const result = new Promise<Race>((resolve) => {
      end = resolve;
    });
    const { choosing } = raceWith(() => result, {}, Promise.resolve() as Promise<never>);
    setTimeout(() => end(RACE));
    expect(await choosing).toMatchObject({ cause: 'raced' });
  });

  test('reading that fails before the race has come is heard', async () => {
    const reading = Promise.reject(new Error('no weights'));
    await expect(raceWhile(GPU, loadOf(), SHAPE, reading)).rejects.toThrow('no weights');
  });

  test('reading that fails, or a lost device, is the error of the load', async () => {
    const broken = raceWith(() => never, {}, Promise.reject(new Error('no network')) as Promise<never>);
    await expect(broken.choosing).rejects.toThrow('no network');
    const lost = raceWith(() => Promise.reject(new Error('lost')));
    await expect(lost.choosing).rejects.toThrow('lost');
    expect(storeProfile).not.toHaveBeenCalled();
  });
});
