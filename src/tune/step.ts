// The decision between a fused and a plain decode step on this GPU: the limit of a wait, one step both ways compared,
// then both timed.

import type { Gpu } from '../gpu/device';
import { CommandList } from '../gpu/kernel';
import { timePass } from '../gpu/time_pass';
import type { StepDecision } from '../model/step/decode_step';
import { type FusedLayers, type FusedStep, LONG_CONTEXT } from '../model/step/fused_step';
import { quoted, type Reason, why } from '../shared/why';
import { relativeDistance } from './distance';

/** Milliseconds of polling after which a wait gives up: far longer than any hand-over, far shorter than a hang. */
const WAIT_MS = 8;
/** Polls of the first measured wait. It grows until the difference of two waits outweighs the clock's steps. */
const FIRST_SPINS = 1 << 12;
const MOST_SPINS = 1 << 22;
const LEAST_WAIT_MS = 1;
/** Tokens in front of the step that is compared. */
const COMPARED_AT = 24;
/** Largest distance of x after a fused step from x after a plain step, as a share of x. Both round x to bytes. */
const MOST_DISTANCE = 0.05;
/** Keys of the steps that are timed. */
const TIMED_AT = 512;
/** Steps timed each way, where they take no longer than TIMED_MS. */
const TIMED_STEPS = 200;
const TIMED_MS = 150;
/** Measurements of each way, in turns, and rounds of each measurement. */
const TURNS = 2;
const ROUNDS = 4;
/** A GPU that idled takes this long to reach its clocks. */
const WARM_MS = 25;
/** Least share of its time by which a plain step must take longer than a fused one. */
const LEAST_GAIN = 0.05;
/**
 * Past every position: the decision of fused steps to the end of the context. A load with another context may take it
 * over (stepKey).
 */
const TO_THE_END = 2 ** 31 - 1;

/** The parts of a model that the decision runs. */
export interface SteppedModel {
  readonly fused: FusedStep | null;
  readonly contextLength: number;
  /** Adds the dispatches of one token, from its id to the next id. */
  recordStep(list: CommandList, position: number, fused: FusedLayers | null): void;
  /** Runs ids 0, 1 ... as a prompt of nTokens. */
  runPrompt(nTokens: number): Promise<void>;
  /** x after the layers of the last step. */
  readX(): Promise<Float32Array>;
}

/** The result of an earlier load of this model on this GPU. */
export type KnownStep = Pick<StepDecision, 'name' | 'reason' | 'gain' | 'lanesFrom' | 'until'>;

/**
 * Decides, or takes over what is known. Overwrites keys, values and tokens: between requests nothing in them is needed.
 * @param forced true where the fused step was asked for by name: it runs wherever it is right
 */
export async function decideStep(
  gpu: Gpu,
  model: SteppedModel,
  forced: boolean,
  known: KnownStep | null = null,
): Promise<StepDecision | null> {
  const { fused } = model;
  if (!fused) return null;
  const spins = await measureSpins(gpu, fused);
  fused.reset(spins);
  const ends = { lanesFrom: TO_THE_END, until: TO_THE_END };
  const plain = (reason: Reason, gain: number | null = null): StepDecision => ({
    name: 'plain',
    reason,
    gain,
    spins,
    ...ends,
  });
  const wrong = await compareSteps(gpu, model, fused, fused.tiles);
  if (wrong !== null) return plain(wrong);
  const lanes = fused.lanes && (await compareSteps(gpu, model, fused, fused.lanes)) === null ? fused.lanes : null;
  if (!lanes) fused.reset(spins); // some may have given up
  if (known && !forced) return { ...known, spins, lanesFrom: lanes ? known.lanesFrom : TO_THE_END };
  const at = Math.min(TIMED_AT, model.contextLength - 2);
  const near = await timeSteps(gpu, model, waysOf(fused, lanes), at);
  if (await fused.gaveUp()) return plain(why`its workgroups did not go on waiting for one another`);
  const { plain: plainMs, tiles: fusedMs } = near;
  const gain = plainMs / fusedMs - 1;
  if (!forced && gain < LEAST_GAIN) {
    return plain(why`the fused step took ${times(fusedMs)}, plain steps ${times(plainMs)}`, gain);
  }
  const { lanesFrom, until } = await turningPoints(gpu, model, { at, ms: near });
  if (forced) return { name: 'fused', reason: why`asked for by name`, gain, spins, lanesFrom, until: TO_THE_END };
  const both = why`${times(fusedMs)} a step here, ${times(plainMs)} as plain steps`;
  const reason = until < TO_THE_END ? quoted(`${both}; ${why`plain from ${until} tokens on`}`) : both;
  return { name: 'fused', reason, gain, spins, lanesFrom, until };
}

/** Milliseconds of a step each way that was timed. */
interface StepTimes {
  plain: number;
  tiles: number;
  lanes?: number;
}

type Ways = readonly (readonly [way: keyof StepTimes, layers: FusedLayers | null])[];

function waysOf({ tiles }: FusedStep, lanes: FusedLayers | null): Ways {
  const both = [
    ['plain', null],
    ['tiles', tiles],
  ] as const;
  return lanes ? [...both, ['lanes', lanes]] : both;
}

/**
 * The lengths of the cache from which lanes are faster than tiles, and plain steps than both: between two lengths that
 * were timed, differences are taken to change evenly.
 */
async function turningPoints(
  gpu: Gpu,
  model: SteppedModel,
  near: { at: number; ms: StepTimes },
): Promise<Pick<StepDecision, 'lanesFrom' | 'until'>> {
  const ends = { lanesFrom: TO_THE_END, until: TO_THE_END };
  const { fused, contextLength } = model;
  if (contextLength < LONG_CONTEXT || !fused) return ends;
  const at = contextLength - 2;
  const lanes = near.ms.lanes === undefined ? null : fused.lanes;
  const far = { at, ms: await timeSteps(gpu, model, waysOf(fused, lanes), at) };
  if (await fused.gaveUp()) return ends;
  const turns = (from: (ms: StepTimes) => number, to: (ms: StepTimes) => number) => {
    const [gain, loss] = [to(near.ms) - from(near.ms), from(far.ms) - to(far.ms)];
    if (loss <= 0) return TO_THE_END;
    return gain <= 0 ? near.at : Math.round(near.at + ((far.at - near.at) * gain) / (gain + loss));
  };
  const lanesMs = (ms: StepTimes) => ms.lanes ?? Number.POSITIVE_INFINITY;
  const tilesMs = (ms: StepTimes) => ms.tiles;
  const lanesFrom = lanes ? turns(tilesMs, lanesMs) : TO_THE_END;
  const fastest = lanesFrom < TO_THE_END ? lanesMs : tilesMs;
  return { lanesFrom, until: turns(fastest, (ms) => ms.plain) };
}

const times = (ms: number) => `${ms.toFixed(3)} ms`;

/** Polls that take WAIT_MS: by dispatches of one workgroup, which waits in vain for the others. */
async function measureSpins(gpu: Gpu, fused: FusedStep): Promise<number> {
  const wait = async (spins: number) => {
    const record = (list: CommandList) => {
      fused.reset(spins); // before each run: a step that gave up makes those behind it return at once
      fused.recordLonely(list);
    };
    const { ms } = await timePass(gpu, { position: 0, nTokens: 1 }, record, ONCE);
    return ms;
  };
  await wait(FIRST_SPINS);
  const leastMs = await wait(FIRST_SPINS);
  for (let spins = 2 * FIRST_SPINS; spins < MOST_SPINS; spins *= 2) {
    const ms = (await wait(spins)) - leastMs;
    if (ms >= LEAST_WAIT_MS) return Math.max(FIRST_SPINS, Math.round((WAIT_MS * (spins - FIRST_SPINS)) / ms));
  }
  return MOST_SPINS;
}

const ONCE = { rounds: 1, maxRepeats: 1 };

/** The reason why a fused step is not right here, or null. */
async function compareSteps(
  gpu: Gpu,
  model: SteppedModel,
  fused: FusedStep,
  layers: FusedLayers,
): Promise<Reason | null> {
  const position = Math.min(COMPARED_AT, model.contextLength - 2);
  await model.runPrompt(position + 1);
  const run = async (step: FusedLayers | null) => {
    const list = new CommandList(gpu);
    model.recordStep(list, position, step);
    await list.run({ position, nTokens: 1 });
    return model.readX();
  };
  const plain = await run(null);
  const other = await run(layers);
  if (await fused.gaveUp()) return why`its ${fused.launch.groups} workgroups did not all run at once`;
  const distance = relativeDistance(other, plain);
  if (distance <= MOST_DISTANCE) return null;
  return why`the fused step is ${(100 * distance).toFixed(1)}% off plain steps, more than ${100 * MOST_DISTANCE}%`;
}

/** The quicker of two measurements of each way, taken in turns: a GPU may take long to reach its clocks. */
async function timeSteps(gpu: Gpu, model: SteppedModel, ways: Ways, position: number): Promise<StepTimes> {
  const best: StepTimes = { plain: Number.POSITIVE_INFINITY, tiles: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [way, layers] of ways) {
      best[way] = Math.min(best[way] ?? Number.POSITIVE_INFINITY, await timeStep(gpu, model, layers, position));
    }
  }
  return best;
}

async function timeStep(gpu: Gpu, model: SteppedModel, fused: FusedLayers | null, position: number): Promise<number> {
  const repeats = TIMED_STEPS / TURNS / ROUNDS;
  const { ms } = await timePass(gpu, { position, nTokens: 1 }, (list) => model.recordStep(list, position, fused), {
    rounds: ROUNDS,
    minRepeats: repeats,
    maxRepeats: repeats,
    warmMs: WARM_MS,
    budgetMs: TIMED_MS / TURNS,
  });
  return ms;
}
