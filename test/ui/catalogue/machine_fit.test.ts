// What a model means on a machine: its memory, its fit, its speed and the one that is recommended, without a clock.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeFit, describeSpeed } from '../../../src/ui/catalogue/catalogue_words';
import type { CatalogueModel } from '../../../src/ui/catalogue/list/catalogue';
import { parseCatalogue } from '../../../src/ui/catalogue/list/catalogue_parse';
import {
  type Experience,
  noExperience,
  parseExperience,
  withGranted,
  withRate,
  withRefused,
} from '../../../src/ui/catalogue/machine/experience';
import { fitOf, needOf } from '../../../src/ui/catalogue/machine/fit';
import { inspectMachine, type Machine } from '../../../src/ui/catalogue/machine/machine';
import { recommend } from '../../../src/ui/catalogue/machine/recommend';
import { speedOf } from '../../../src/ui/catalogue/machine/speed';

const GIB = 2 ** 30;
const FILE = path.resolve(import.meta.dirname, '../../../public/catalogue.json');
const place = { base: 'https://example.com/', hub: 'https://huggingface.co' };
const { models } = parseCatalogue(readFileSync(FILE, 'utf8'), place);
function model(id: string): CatalogueModel {
  const found = models.find((other) => other.id === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
}

const desktop: Machine = {
  gpu: 'hardware',
  name: 'x',
  maxBufferBytes: 4 * GIB,
  isMobile: false,
  memoryBytes: 8 * GIB,
  kvType: 'f16',
};
const laptop: Machine = { ...desktop, maxBufferBytes: 2 * GIB, memoryBytes: 4 * GIB };
const phone: Machine = { ...desktop, maxBufferBytes: GIB, isMobile: true };
const cpu: Machine = { gpu: 'none', name: '', maxBufferBytes: 0, isMobile: false, memoryBytes: 8 * GIB, kvType: 'f16' };
const software: Machine = { ...desktop, gpu: 'software', maxBufferBytes: 2 * GIB };
const none = noExperience('x');

test('memory is the weights, the usual conversation and something beside; on the CPU four bytes a weight', () => {
  const { downloadBytes, parameters } = model('qwen3-0.6b');
  const rows = 2 * 28 * 8;
  expect(needOf(model('qwen3-0.6b'), desktop)).toBe(downloadBytes + 4096 * rows * 256 + 150e6);
  expect(needOf(model('qwen3-0.6b'), { ...desktop, kvType: 'q8' })).toBe(downloadBytes + 4096 * rows * 132 + 150e6);
  expect(needOf(model('qwen3-0.6b'), cpu)).toBe(4 * parameters + 4096 * rows * 512 + 150e6);
  expect(needOf(model('storyteller'), desktop)).toBe(15_201_408 + 1024 * 4096 + 150e6);
});

test('layers with a window keep it and what may reach back, on the CPU all', () => {
  const { downloadBytes, parameters } = model('gemma-3-1b');
  const positions = 4 * 4096 + 22 * (511 + 1024);
  expect(needOf(model('gemma-3-1b'), desktop)).toBe(downloadBytes + 2 * positions * 512 + 150e6);
  expect(needOf(model('gemma-3-1b'), cpu)).toBe(4 * parameters + 2 * 26 * 4096 * 1024 + 150e6);
  const short = { ...model('gemma-3-1b'), contextLength: 700 };
  expect(needOf(short, desktop)).toBe(downloadBytes + 2 * 26 * 700 * 512 + 150e6);
});

describe('a model fits', () => {
  const verdicts = (machine: Machine, seen: Experience = none) =>
    Object.fromEntries(models.map((each) => [each.id, fitOf(each, machine, seen).verdict]));

  test('a desktop likely, whichever of the list it is', () => {
    expect(new Set(Object.values(verdicts(desktop)))).toEqual(new Set(['likely']));
  });

  test('a laptop with 4 GB: the small ones likely, 3B perhaps, 4B perhaps', () => {
    expect(verdicts(laptop)).toMatchObject({ 'qwen3-1.7b': 'likely', 'smollm3-3b': 'unsure', 'qwen3-4b': 'unsure' });
  });

  test('a phone: the smallest, and not the largest', () => {
    expect(verdicts(phone)).toMatchObject({ 'smollm2-360m': 'likely', 'qwen3-1.7b': 'unsure', 'qwen3-4b': 'no' });
    expect(fitOf(model('qwen3-4b'), phone, none).obstacle).toBe('phone');
  });

  test('a device that reports little memory: not at all', () => {
    const small = { ...desktop, memoryBytes: 2 * GIB };
    expect(fitOf(model('smollm3-3b'), small, none)).toMatchObject({ verdict: 'no', obstacle: 'memory' });
  });

  test('the CPU: up to a billion parameters', () => {
    expect(verdicts(cpu)).toMatchObject({ 'smollm2-360m': 'likely', 'llama-3.2-1b': 'no', 'qwen3-4b': 'no' });
    expect(fitOf(model('qwen3-4b'), cpu, none).obstacle).toBe('cpu');
  });

  test('for certain where as much memory was granted, and not where it was refused', () => {
    const need = needOf(model('qwen3-1.7b'), laptop);
    expect(verdicts(laptop, withGranted(none, need))).toMatchObject({ 'qwen3-1.7b': 'fits', 'qwen3-4b': 'unsure' });
    const refused = withRefused(withGranted(none, 1e9), need);
    expect(fitOf(model('qwen3-4b'), laptop, refused)).toMatchObject({ verdict: 'no', obstacle: 'refused' });
    expect(verdicts(laptop, refused)).toMatchObject({ 'qwen3-1.7b': 'no', 'smollm2-360m': 'fits' });
    expect(withGranted(refused, need).refusedBytes).toBeNull(); // refused for another reason then
  });
});

describe('a speed is expected', () => {
  const qwen = model('qwen3-1.7b');
  const rate = { tokensPerSecond: 100, bytesPerToken: qwen.bytesPerToken };

  test('from nothing: not at all', () => {
    for (const machine of [desktop, phone, cpu, software]) expect(speedOf(qwen, machine, none)).toBeNull();
    const tiny = withRate(none, model('storyteller').location, { tokensPerSecond: 900, bytesPerToken: 15e6 });
    expect(speedOf(qwen, desktop, tiny)).toBeNull(); // of a tiny model, nothing follows for a large one
  });

  test('from its own answers, then from those of others, then from the speed of memory', () => {
    const measured: Experience = { ...none, readGBps: 200 };
    expect(speedOf(qwen, desktop, measured)).toEqual({
      basis: 'roofline',
      wordsPerSecond: 0.75 * ((0.4 * 1e9 * 200) / qwen.bytesPerToken),
    });
    const other = withRate(measured, qwen.location, rate);
    const half = { ...qwen, location: 'https://x.org/', bytesPerToken: qwen.bytesPerToken / 2 };
    expect(speedOf(half, desktop, other)).toEqual({ basis: 'other-run', wordsPerSecond: 150 });
    expect(speedOf(qwen, desktop, other)).toEqual({ basis: 'run', wordsPerSecond: 75 });
  });

  test('on the CPU from any answer, by parameters', () => {
    const bytesPerToken = 4 * model('storyteller').parameters;
    const seen = withRate(noExperience(''), model('storyteller').location, { tokensPerSecond: 50, bytesPerToken });
    const speed = speedOf(model('smollm2-360m'), cpu, seen);
    expect(speed?.basis).toBe('other-run');
    expect(speed?.wordsPerSecond).toBeCloseTo((0.75 * 50 * 14_162_304) / 361_821_120);
  });
});

describe('recommended is', () => {
  const idOf = (machine: Machine, seen = none) => recommend(models, machine, seen)?.id ?? null;

  test('what fits comfortably, where no speed is known', () => {
    expect(idOf(desktop)).toBe('qwen3-1.7b');
    expect(idOf(phone)).toBe('llama-3.2-1b');
  });

  test('the most capable that runs at reading speed, where it is known', () => {
    expect(idOf(desktop, { ...none, readGBps: 800 })).toBe('qwen3-4b');
    expect(idOf(desktop, { ...none, readGBps: 18 })).toBe('llama-3.2-1b');
    expect(idOf(desktop, { ...none, readGBps: 1 })).toBe('smollm2-360m');
  });

  test('the smallest without a real GPU', () => {
    expect(idOf(cpu)).toBe('smollm2-360m');
    expect(idOf(software)).toBe('smollm2-360m');
  });

  test('nothing where nothing fits, and never a storyteller', () => {
    expect(recommend([model('storyteller')], desktop, none)).toBeNull();
    expect(idOf(desktop, withRefused(none, 2e8))).toBeNull();
  });
});

describe('what was seen', () => {
  const seen = withRate({ ...none, readGBps: 12.5, grantedBytes: 5, refusedBytes: 9 }, 'https://x.org/m', {
    tokensPerSecond: 3,
    bytesPerToken: 4,
  });

  test('comes back for the same GPU, and for no other', () => {
    expect(parseExperience(JSON.stringify(seen), 'x')).toEqual(seen);
    expect(parseExperience(JSON.stringify(seen), 'y')).toEqual(noExperience('y'));
  });

  test.each([
    ['nothing', null],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    [
      'wrong values',
      JSON.stringify({ adapter: 'x', readGBps: -1, grantedBytes: '9', refusedBytes: 1e300, rates: [1] }),
    ],
    ['wrong rates', JSON.stringify({ adapter: 'x', rates: { a: null, b: { tokensPerSecond: 0, bytesPerToken: 1 } } })],
    ['too much', JSON.stringify({ adapter: 'x', more: 'x'.repeat(60_000) })],
  ])('%s is as if nothing was seen', (_, text) => {
    expect(parseExperience(text, 'x')).toEqual(none);
  });

  test('the oldest of many speeds is forgotten', () => {
    let many = none;
    for (let i = 0; i < 25; i++) many = withRate(many, `https://x.org/${i}`, { tokensPerSecond: 1, bytesPerToken: 1 });
    expect(Object.keys(many.rates)).toHaveLength(20);
    expect(Object.keys(many.rates)).not.toContain('https://x.org/4');
    expect(Object.keys(withRate(many, 'https://x.org/5', { tokensPerSecond: 2, bytesPerToken: 1 }).rates).at(-1)).toBe(
      'https://x.org/5',
    );
  });
});

describe('the machine', () => {
  const adapter = (info: Partial<GPUAdapterInfo>) => ({
    requestAdapter: async () => ({ info, limits: { maxBufferSize: 7 } }) as unknown as GPUAdapter,
  });

  test('is known by its adapter, and by what the browser says of the device', async () => {
    const gpu = adapter({ vendor: 'apple', architecture: 'metal-3', device: '', description: '' });
    expect(await inspectMachine(true, { gpu, deviceMemory: 4, userAgentData: { mobile: true } })).toEqual({
      gpu: 'hardware',
      name: 'apple metal-3',
      maxBufferBytes: 7,
      isMobile: true,
      memoryBytes: 4 * GIB,
    });
    expect(await inspectMachine(true, { gpu: adapter({ isFallbackAdapter: true }) })).toMatchObject({
      gpu: 'software',
      name: 'unknown adapter',
      memoryBytes: null,
    });
  });

  test('has no GPU where there is none, where it is refused, and where the reader chose the CPU', async () => {
    const refused = { requestAdapter: () => Promise.reject(new Error()) };
    const nothing = { requestAdapter: async () => null };
    const userAgent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Mobile/15E148';
    for (const gpu of [undefined, refused, nothing])
      expect(await inspectMachine(true, { gpu, userAgent })).toMatchObject({ gpu: 'none', isMobile: true });
    expect(await inspectMachine(false, { gpu: adapter({}) })).toMatchObject({ gpu: 'none', isMobile: false });
  });
});

test('fits and speeds are told with what they rest on', () => {
  const qwen = model('qwen3-1.7b');
  expect(describeFit(fitOf(qwen, desktop, none), desktop)).toEqual({
    text: 'Should fit this GPU',
    title: 'Needs about 1.7 GB of memory (estimate). Browsers don’t say how much is free.',
  });
  expect(describeFit(fitOf(model('qwen3-4b'), cpu, none), cpu).text).toBe('Needs a GPU');
  const told = (wordsPerSecond: number) => describeSpeed({ wordsPerSecond, basis: 'run' }, desktop)?.text;
  expect([0.4, 1.2, 7.4, 43, 157, 1234].map(told)).toEqual([
    'Less than a word per second',
    'About 1 word per second',
    'About 7 words per second',
    'About 45 words per second',
    'About 160 words per second',
    'About 1200 words per second',
  ]);
  expect(describeSpeed(null, desktop)).toBeNull();
  expect(describeSpeed(null, software)?.text).toBe('Slow on this device');
});
