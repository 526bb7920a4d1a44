// The race of arithmetics: its laps and its refusals on a made-up track, its products on a real device, and the choice.

import { describe, expect, test, vi } from 'vitest';
import type { LinearPass } from '../../../src/kernels/linear/create_linear';
import { planeBytes, type WeightFormat } from '../../../src/kernels/linear/weight_format';
import type { ActivationType } from '../../../src/model/layers/arithmetic';
import { decideArithmetic } from '../../../src/tune/race/arithmetic_choice';
import { race, raceOn, summaryOf } from '../../../src/tune/race/race';
import { raceShape } from '../../../src/tune/race/race_shape';
import { type Lap, RaceTrack, type Track } from '../../../src/tune/race/race_track';
import type { PassRace } from '../../../src/tune/results';
import { requestGpu, testGpu } from '../../gpu/test_device';

type Each = Record<LinearPass, Record<ActivationType, number>>;

/** Runs that take `ms` each, by a clock with the steps of a browser's. `noise` is the factor of a lap, by its number. */
class MadeUpTrack implements Track {
  readonly laps: (Lap & { pass: LinearPass })[] = [];
  distances = 0.004;

  constructor(
    private readonly ms: Each,
    readonly clock: Track['clock'] = 'gpu',
    private readonly noise: (lap: number) => number = () => 1,
  ) {}

  async distance(): Promise<number> {
    return this.distances;
  }

  async time(pass: LinearPass, laps: readonly Lap[]): Promise<number[]> {
    return laps.map(({ type, repeats }) => {
      const ms = this.ms[pass][type] * repeats * this.noise(this.laps.length);
      this.laps.push({ pass, type, repeats });
      const step = this.clock === 'gpu' ? 0.065536 : 0.1;
      return Math.floor(ms / step) * step;
    });
  }
}

const FAST: Each = { decode: { q8: 0.004, f32: 0.009 }, prefill: { q8: 0.01, f32: 0.09 } };
/** An Apple M2 as modeled: bytes are unpacked by shifts. */
const APPLE: Each = { decode: { q8: 0.22, f32: 0.19 }, prefill: { q8: 4, f32: 1.05 } };
const PHONE: Each = { decode: { q8: 1.4, f32: 0.9 }, prefill: { q8: 38, f32: 9 } };
const go = () => {};

describe('laps', () => {
  test.each([
    ['a large GPU', FAST, 'gpu', { decode: 'q8', prefill: 'q8' }],
    ['a large GPU without a clock', FAST, 'cpu', { decode: 'q8', prefill: 'q8' }],
    ['a GPU without products of bytes', APPLE, 'gpu', { decode: 'f32', prefill: 'f32' }],
    ['the same without a clock', APPLE, 'cpu', { decode: 'f32', prefill: 'f32' }],
    ['a phone', PHONE, 'gpu', { decode: 'f32', prefill: 'f32' }],
    [
      'one that differs by pass',
      { decode: FAST.decode, prefill: APPLE.prefill },
      'gpu',
      { decode: 'q8', prefill: 'f32' },
    ],
  ] as const)('%s takes at most 300 ms in all and is judged right', async (_name, ms, clock, choice) => {
    const track = new MadeUpTrack(ms, clock);
    const races = await raceOn(track, go);
    if (typeof races === 'string') throw new Error(races);
    expect(decideArithmetic(races, false)).toEqual(choice);
    for (const pass of ['decode', 'prefill'] as const) {
      for (const type of ['q8', 'f32'] as const) expect(races[pass][type].ms / ms[pass][type]).toBeCloseTo(1, 0);
    }
    const spentMs = track.laps.reduce((sum, { pass, type, repeats }) => sum + ms[pass][type] * repeats, 0);
    expect(spentMs).toBeLessThan(300);
  });

  test('the candidates take turns, and each begins every other round', async () => {
    const track = new MadeUpTrack(APPLE);
    await raceOn(track, go);
    const order = track.laps.filter(({ pass }) => pass === 'decode').map(({ type }) => type);
    expect(order.slice(-8)).toEqual(['q8', 'f32', 'f32', 'q8', 'q8', 'f32', 'f32', 'q8']);
  });

  test('tiny products take few laps, and the steps of the clock count as spread', async () => {
    const tiny = { q8: 0.001, f32: 0.0011 };
    const track = new MadeUpTrack({ decode: tiny, prefill: tiny });
    const calls = vi.spyOn(track, 'time');
    const races = await raceOn(track, go);
    if (typeof races === 'string') throw new Error(races);
    expect(Math.max(...calls.mock.calls.map(([, laps]) => laps.length))).toBeLessThanOrEqual(64); // stamps of a track
    expect(races.decode.q8.spread).toBeGreaterThan(0.1);
    expect(decideArithmetic(races, false)).toEqual({ decode: 'f32', prefill: 'f32' });
  });

  test.each<[string, Each, Track['clock'], (lap: number) => number, RegExp]>([
    [
      'work that is too slow',
      { ...APPLE, decode: { q8: 60, f32: 50 } },
      'gpu',
      () => 1,
      /^decode takes 110 ms a round/,
    ],
    ['a clock that stands still', APPLE, 'gpu', () => 0, /^decode took no time by the clock$/],
    ['a busy GPU', APPLE, 'gpu', (lap) => 1 + (lap % 7), /^decode differed by \d+% from round to round$/],
  ])('%s gives no result', async (_name, ms, clock, noise, why) => {
    expect(await raceOn(new MadeUpTrack(ms, clock, noise), go)).toMatch(why);
  });

  test('products that differ give no result', async () => {
    const track = Object.assign(new MadeUpTrack(FAST), { distances: 0.3 });
    expect(await raceOn(track, go)).toBe('decode in bytes and in f32 differ by 30.0%');
    track.distances = Number.NaN;
    expect(await raceOn(track, go)).toMatch(/differ/);
    expect(track.laps).toEqual([]);
  });

  test('nothing is timed once it is stopped', async () => {
    const track = new MadeUpTrack(FAST);
    let calls = 0;
    const stop = () => {
      if (++calls > 2) throw new Error('stopped');
    };
    await expect(raceOn(track, stop)).rejects.toThrow('stopped');
    expect(track.laps).toHaveLength(2);
  });

  test('the median of five rounds, whose spread leaves out the quickest and the slowest', () => {
    expect(summaryOf([5, 1, 4, 90, 4.5])).toEqual({ ms: 4.5, spread: 1 / 4.5 });
    expect(summaryOf([2, 3])).toEqual({ ms: 3, spread: 1 / 3 });
  });
});

describe('choice', () => {
  const of = (q8: number, f32: number, spread = 0.01): PassRace => ({
    q8: { ms: q8, spread },
    f32: { ms: f32, spread },
  });
  test.each([
    [of(1, 1.031), 'q8'],
    [of(1, 1.029), 'f32'],
    [of(1, 1), 'f32'],
    [of(1, 1.3, 0.4), 'f32'],
    [of(1, 1.5, 0.4), 'q8'],
    [of(1, 0.5), 'f32'],
  ] as const)('a tie is exact: %o', (pass, choice) => {
    expect(decideArithmetic({ decode: pass, prefill: pass }, false)).toEqual({ decode: choice, prefill: choice });
  });

  test.each([
    [of(1, 1), 'q8'],
    [of(1.24, 1), 'q8'],
    [of(1.26, 1), 'f32'],
    [of(1.3, 1, 0.4), 'q8'],
  ] as const)('decode stays in bytes for the fused step, unless f32 is far ahead: %o', (decode, choice) => {
    expect(decideArithmetic({ decode, prefill: of(1, 1) }, true)).toEqual({ decode: choice, prefill: 'f32' });
  });
});

describe('shape', () => {
  const matrix = (format: WeightFormat, rows: number, cols: number) => ({
    matrix: { rows, cols, parts: [{ format, row0: 0, rows, weights: {} as never, scales: {} as never }] },
  });
  const layers = (n: number, down: WeightFormat, gateUp: WeightFormat, [hidden, intermediate]: [number, number]) =>
    Array.from({ length: n }, () => ({
      qkv: matrix(gateUp, 3 * hidden, hidden),
      o: matrix(gateUp, hidden, hidden),
      gateUp: matrix(gateUp, 2 * intermediate, hidden),
      down: matrix(down, hidden, intermediate),
    }));

  test.each([
    ['1B', layers(16, 'q6_k', 'q4_k', [2048, 8192]), { format: 'q4_k', rows: 16384, cols: 2048, copies: 4 }],
    ['8B: fewer rows', layers(32, 'q4', 'q4', [4096, 14336]), { format: 'q4', rows: 8192, cols: 4096, copies: 4 }],
    [
      'a small model: no more copies than layers',
      layers(8, 'q8', 'q8', [384, 1024]),
      { format: 'q8', rows: 2048, cols: 384, copies: 8 },
    ],
    [
      'gate and up without integers',
      layers(2, 'q8', 'f16', [256, 512]),
      { format: 'q8', rows: 1024, cols: 256, copies: 2 },
    ],
    ['no integers at all', layers(2, 'q2_k', 'f16', [256, 512]), null],
  ] as const)('%s', (_name, all, shape) => {
    expect(raceShape(all)).toEqual(shape);
    if (shape) expect(shape.copies * planeBytes(shape.format, shape.rows, shape.cols).weights).toBeLessThan(2 ** 27);
  });
});

describe('on a device', () => {
  const SHAPE = { rows: 128, cols: 256, copies: 2 } as const;

  test.each([
    ['q4_k', []],
    ['q6_k', ['subgroups', 'immediates']],
  ] as const)('products of %s agree, and all memory is free again', async (format, without) => {
    const gpu = await testGpu(without);
    const free = new Set<number>();
    for (let time = 0; time < 2; time++) {
      const track = await RaceTrack.lay(gpu, { ...SHAPE, format });
      for (const pass of ['decode', 'prefill'] as const) {
        const distance = await track.distance(pass);
        expect(distance, pass).toBeGreaterThan(1e-5);
        expect(distance, pass).toBeLessThan(0.02);
        const [ms] = await track.time(pass, [{ type: 'q8', repeats: 5 }]);
        expect(ms).toBeGreaterThanOrEqual(0);
      }
      track.destroy();
      free.add(gpu.allocatedBytes);
    }
    expect(free.size).toBe(1);
    expect(gpu.failure).toBeNull();
    const canceled = AbortSignal.abort(new Error('canceled'));
    await expect(race(gpu, { ...SHAPE, format }, canceled)).rejects.toThrow('canceled');
    expect(free).toContain(gpu.allocatedBytes);
  });

  test('memory that is refused is a reason, and the device works on', async () => {
    const gpu = await testGpu();
    const before = gpu.allocatedBytes;
    expect(await race(gpu, { ...SHAPE, rows: 2 ** 26, format: 'q4' })).toMatch(/^race.weights .* bytes/);
    expect(gpu.allocatedBytes).toBe(before);
    expect(gpu.failure).toBeNull();
  });

  test('a lost device is the error of the load', async () => {
    const gpu = await requestGpu();
    gpu.device.destroy();
    await expect(race(gpu, { ...SHAPE, format: 'q4' })).rejects.toMatchObject({ code: 'device-lost' });
  });
});
