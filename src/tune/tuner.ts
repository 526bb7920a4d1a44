// The tuner: compiles, verifies and times candidates on this very GPU, and picks the fastest.
// It does not know what the kernels compute: attention.ts and products.ts bring the candidates and the meters.

import { AttentionUnavailable, GpuMemoryError, GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';

/** Milliseconds of one run, or the reason why the candidate cannot run here. */
type Measurement = { ms: number; refused: null } | { ms: null; refused: string };

/** A candidate with its measurement. */
export type Tried<Candidate> = { candidate: Candidate } & Measurement;

/** The candidates for one kernel. */
export interface Search<Candidate> {
  /** Batches, in order. A generator finds the results so far in `tried`. */
  candidates(tried: readonly Tried<Candidate>[]): Iterable<readonly Candidate[]>;
  /** The candidate that runs untuned, one of the first batch. */
  usual: Candidate;
  /** Equal for candidates that run the same kernel. */
  keyOf(candidate: Candidate): string;
}

/** Measures candidates. A GpuProgramError, GpuMemoryError or AttentionUnavailable in any step is a refusal. */
export interface Meter<Candidate, Kernel> {
  compile(candidate: Candidate): Promise<Kernel>;
  /** Compares the outputs of a kernel with a reference: null, or the fault as a fragment of a sentence. */
  verify(kernel: Kernel, candidate: Candidate): Promise<string | null>;
  /** Milliseconds of one run of each kernel, in order. */
  time(kernels: readonly Kernel[]): Promise<number[]>;
  /** True: the kernels of a batch are timed together. False: one kernel is in memory at a time. */
  readonly inTurn: boolean;
  /** The winner and the usual candidate are timed again if the usual one takes less than this. Default 0: never. */
  readonly repeatBelowMs?: number;
  /** Frees the memory of a kernel. */
  destroy?(kernel: Kernel): void;
}

interface Watch<Candidate> {
  /** Called after each candidate, measured or refused. */
  onTried?(tried: Tried<Candidate>): void;
  /** Called before each candidate; throws to end the tuning. */
  throwIfStopped(): void;
}

type Outcome<T> = { value: T } | { refused: string };

/** A smaller gain is noise, and the usual candidate is kept. */
const MARGIN = 1.02;

/**
 * Tries each candidate once. `winner` is the fastest, or the usual candidate if that is as fast; null where none ran.
 * @throws the failure of the device, and the error of `throwIfStopped`
 */
export async function tune<Candidate, Kernel>(
  gpu: Gpu,
  search: Search<Candidate>,
  meter: Meter<Candidate, Kernel>,
  watch: Watch<Candidate>,
): Promise<{ tried: Tried<Candidate>[]; winner: (Tried<Candidate> & { ms: number }) | null }> {
  const tried: Tried<Candidate>[] = [];
  const known = new Set<string>();
  const isNew = (candidate: Candidate) => known.size < known.add(search.keyOf(candidate)).size;
  for (const batch of search.candidates(tried)) {
    const fresh = batch.filter(isNew);
    if (fresh.length === 0) continue;
    watch.throwIfStopped();
    if (!meter.inTurn && fresh.length > 1) await compileAhead(gpu, meter, fresh);
    for (const group of meter.inTurn ? [fresh] : fresh.map((candidate) => [candidate])) {
      const measured = await measure(gpu, meter, group, watch.throwIfStopped);
      for (const [i, candidate] of group.entries()) {
        tried.push({ candidate, ...measured[i] });
        watch.onTried?.(tried[tried.length - 1]);
      }
    }
  }
  return { tried, winner: await choose(gpu, search, meter, tried, watch.throwIfStopped) };
}

/**
 * Compiles candidates together, verifies each, and times the right ones.
 * @throws as `tune`
 */
export async function measure<Candidate, Kernel>(
  gpu: Gpu,
  meter: Meter<Candidate, Kernel>,
  candidates: readonly Candidate[],
  throwIfStopped: () => void,
): Promise<Measurement[]> {
  const made = await compileAll(gpu, meter, candidates);
  try {
    const verified: Outcome<Kernel>[] = [];
    for (const [i, each] of made.entries()) {
      throwIfStopped();
      verified.push('value' in each ? await verify(gpu, meter, each.value, candidates[i]) : each);
    }
    const kernels = verified.flatMap((each) => ('value' in each ? [each.value] : []));
    const timed = kernels.length > 0 ? await attempt(gpu, () => meter.time(kernels)) : { value: [] };
    return verified.map((each): Measurement => {
      if ('refused' in each) return { ms: null, ...each };
      return 'refused' in timed
        ? { ms: null, ...timed }
        : { ms: timed.value[kernels.indexOf(each.value)], refused: null };
    });
  } finally {
    destroy(meter, made);
  }
}

/** Results with a time, fastest first. */
export function fastestFirst<Candidate>(tried: readonly Tried<Candidate>[]): (Tried<Candidate> & { ms: number })[] {
  const ran = tried.filter((result): result is Tried<Candidate> & { ms: number } => result.ms !== null);
  return ran.sort((a, b) => a.ms - b.ms);
}

async function choose<Candidate, Kernel>(
  gpu: Gpu,
  { usual, keyOf }: Search<Candidate>,
  meter: Meter<Candidate, Kernel>,
  tried: readonly Tried<Candidate>[],
  throwIfStopped: () => void,
): Promise<(Tried<Candidate> & { ms: number }) | null> {
  const [best, ...others] = fastestFirst(tried);
  if (!best) return null;
  const untuned = others.find(({ candidate }) => keyOf(candidate) === keyOf(usual)) ?? best;
  if (untuned !== best && untuned.ms < (meter.repeatBelowMs ?? 0)) {
    for (const result of [best, untuned]) {
      const [{ ms }] = await measure(gpu, meter, [result.candidate], throwIfStopped);
      result.ms = Math.min(result.ms, ms ?? result.ms);
    }
  }
  return best.ms * MARGIN < untuned.ms ? best : untuned;
}

/** Fills the cache of pipelines. Refusals do not count here: a candidate alone has more memory. */
async function compileAhead<Candidate, Kernel>(
  gpu: Gpu,
  meter: Meter<Candidate, Kernel>,
  candidates: readonly Candidate[],
): Promise<void> {
  destroy(meter, await compileAll(gpu, meter, candidates));
}

/** All at once: browsers compile pipelines on several threads. */
function compileAll<Candidate, Kernel>(
  gpu: Gpu,
  meter: Meter<Candidate, Kernel>,
  candidates: readonly Candidate[],
): Promise<Outcome<Kernel>[]> {
  return Promise.all(candidates.map((candidate) => attempt(gpu, () => meter.compile(candidate))));
}

async function verify<Candidate, Kernel>(
  gpu: Gpu,
  meter: Meter<Candidate, Kernel>,
  kernel: Kernel,
  candidate: Candidate,
): Promise<Outcome<Kernel>> {
  const outcome = await attempt(gpu, () => meter.verify(kernel, candidate));
  if ('refused' in outcome) return outcome;
  return outcome.value === null ? { value: kernel } : { refused: outcome.value };
}

function destroy<Candidate, Kernel>(meter: Meter<Candidate, Kernel>, made: readonly Outcome<Kernel>[]): void {
  for (const each of made) if ('value' in each) meter.destroy?.(each.value);
}

/**
 * The result of `work`, or why this GPU refuses it, as a fragment of a sentence.
 * @throws the failure of the device, and errors that say nothing about a candidate
 */
async function attempt<T>(gpu: Gpu, work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await work();
    if (gpu.failure) throw gpu.failure;
    return { value };
  } catch (error) {
    const refused = reasonOf(error);
    if (refused === null || gpu.failure) throw gpu.failure ?? error;
    return { refused };
  }
}

function reasonOf(error: unknown): string | null {
  if (error instanceof AttentionUnavailable) return error.reason;
  if (error instanceof GpuProgramError || error instanceof GpuMemoryError) return error.message.replace(/\s+/g, ' ');
  return null;
}
