// The race of arithmetics while a model loads: signed bytes against f32, for decode and prefill apart. GPUs without
// native products of bytes take longer with them. Decides nothing: arithmetic_choice.ts reads the figures.

import type { Gpu } from '../../gpu/device';
import type { LinearPass } from '../../kernels/linear/create_linear';
import type { ActivationType } from '../../model/layers/arithmetic';
import { LateError, withTimeout } from '../../shared/with_timeout';
import type { PassRace, Race, RaceTime } from '../results';
import type { RaceShape } from './race_shape';
import { RaceTrack, type Track } from './race_track';

/** The most that the laps of both kinds of pass take together. */
const BUDGET_MS = 300;
/** After so long the load goes on without a result: a browser may compile, or keep its GPU busy, for longer. */
const LIMIT_MS = 1500;
/** An idle GPU takes this long to reach its clocks. */
const WARM_MS = 25;
const MOST_WARM = 16;
const ROUNDS = 5;
const LEAST_ROUNDS = 2;
/** Growths of a lap: the first laps are too short to predict more than the order of magnitude. */
const GROWTHS = 3;
/** Dispatches of a lap that the CPU records in a few milliseconds. */
const MOST_REPEATS = { gpu: 400, cpu: 4000 };
/** A lap of a clock that browsers round to 65 microseconds, and of one that hears of the end up to 3 ms late. */
const LAP_MS = { gpu: 3, cpu: 15 };
const CLOCK_STEP_MS = { gpu: 0.065, cpu: 1 };
/** Rounds that differ by more say nothing. */
const MOST_SPREAD = 0.5;
/** Largest distance of the products from one another: bytes round. */
const MOST_DISTANCE = 0.05;

/**
 * Races on the track, within BUDGET_MS of laps. A text says why there is no result.
 * @throws the failure of the device; the error of `throwIfStopped`, which is called before all laps
 */
export async function raceOn(track: Track, throwIfStopped: () => void): Promise<Record<LinearPass, PassRace> | string> {
  const races: Partial<Record<LinearPass, PassRace>> = {};
  for (const [pass, budgetMs] of [
    ['decode', BUDGET_MS / 3],
    ['prefill', (2 * BUDGET_MS) / 3],
  ] as const) {
    throwIfStopped();
    const distance = await track.distance(pass);
    if (!(distance <= MOST_DISTANCE)) return `${pass} in bytes and in f32 differ by ${(100 * distance).toFixed(1)}%`;
    const race = await racePass(track, pass, budgetMs, throwIfStopped);
    if (typeof race === 'string') return `${pass} ${race}`;
    races[pass] = race;
  }
  return races as Record<LinearPass, PassRace>;
}

const both = <T>(of: (type: ActivationType) => T): Record<ActivationType, T> => ({ f32: of('f32'), q8: of('q8') });

async function racePass(
  track: Track,
  pass: LinearPass,
  budgetMs: number,
  throwIfStopped: () => void,
): Promise<PassRace | string> {
  const { clock } = track;
  let leftMs = budgetMs;
  let repeats = both(() => 1);
  const time = async (order: readonly ActivationType[]) => {
    throwIfStopped();
    const laps = order.map((type) => ({ type, repeats: repeats[type] }));
    const times = await track.time(pass, laps);
    for (const ms of times) leftMs -= ms;
    return times.map((ms, i) => ms / laps[i].repeats);
  };
  let each = { f32: 0, q8: 0 };
  for (let growth = 0; growth <= GROWTHS; growth++) {
    const [f32, q8] = await time(['f32', 'q8']);
    each = { f32, q8 };
    const least = both((type) => Math.max(each[type], CLOCK_STEP_MS[clock] / repeats[type]));
    if (growth === GROWTHS || Math.min(f32 * repeats.f32, q8 * repeats.q8) >= LAP_MS[clock]) break;
    repeats = both((type) =>
      Math.min(MOST_REPEATS[clock], Math.max(repeats[type], Math.ceil(LAP_MS[clock] / least[type]))),
    );
  }
  const roundMs = each.f32 * repeats.f32 + each.q8 * repeats.q8;
  const rounds = Math.min(ROUNDS, Math.floor(leftMs / roundMs));
  if (!(roundMs > 0)) return 'took no time by the clock';
  if (rounds < LEAST_ROUNDS) return `takes ${Math.round(roundMs)} ms a round, which is too long to race`;
  const affordable = Math.floor(leftMs / roundMs) - rounds;
  const warm = Math.max(0, Math.min(MOST_WARM, Math.ceil(WARM_MS / roundMs), affordable));
  const order = Array.from({ length: warm + rounds }, (_, i) => (i % 2 ? ORDER.toReversed() : ORDER)).flat();
  const times = await time(order);
  const result = both((type): RaceTime => {
    const { ms, spread } = summaryOf(times.filter((_, i) => order[i] === type).slice(warm));
    return { ms, spread: Math.max(spread, CLOCK_STEP_MS[clock] / (each[type] * repeats[type])) };
  });
  const { f32, q8 } = result;
  const spread = Math.max(f32.spread, q8.spread);
  if (!(f32.ms > 0 && q8.ms > 0)) return 'took no time by the clock';
  return spread <= MOST_SPREAD ? result : `differed by ${Math.round(100 * spread)}% from round to round`;
}

const ORDER: readonly ActivationType[] = ['f32', 'q8'];

/** The median, and the spread of the rounds without the quickest and the slowest fifth. */
export function summaryOf(times: readonly number[]): RaceTime {
  const sorted = [...times].sort((a, b) => a - b);
  const ms = sorted[Math.floor(sorted.length / 2)];
  const cut = Math.floor(sorted.length / ROUNDS);
  return { ms, spread: (sorted[sorted.length - 1 - cut] - sorted[cut]) / ms };
}

/**
 * Races over synthetic weights, which are freed at the end. A text says why there is no result.
 * @throws the failure of the device; the reason of `signal`
 */
export async function race(
  gpu: Gpu,
  shape: RaceShape,
  signal?: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<Race | string> {
  let isLate = false;
  const throwIfStopped = () => {
    signal?.throwIfAborted();
    if (gpu.failure) throw gpu.failure;
    if (isLate) throw new LateError(limitMs);
  };
  const run = async () => {
    const track = await RaceTrack.lay(gpu, shape);
    try {
      return { clock: track.clock, races: await raceOn(track, throwIfStopped) };
    } finally {
      track.destroy();
    }
  };
  try {
    const { clock, races } = await withTimeout(run, limitMs);
    return typeof races === 'string' ? races : { ...shape, clock, ...races };
  } catch (error) {
    signal?.throwIfAborted();
    isLate = error instanceof LateError;
    if (isLate) return `it took longer than ${limitMs} ms`;
    const known = await gpu.explain(error);
    if (gpu.failure) throw gpu.failure;
    return known instanceof Error ? known.message : String(known);
  }
}
