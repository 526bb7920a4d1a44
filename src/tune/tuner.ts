// The tuner: compiles, verifies and times candidates on this very GPU, and picks the fastest.
// It does not know what the kernels compute: attention.ts and products.ts bring the candidates and the meters.

import { AttentionUnavailable, GpuMemoryError, GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';
import { quoted, type Reason } from '../shared/why';

/** A candidate with the milliseconds of one run, or the reason why it cannot run here. */
export interface Tried<Candidate> {
  candidate: Candidate;
  ms: number | null;
  refused: string | null;
}

type Timed<Candidate> = Tried<Candidate> & { ms: number };

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
  /** The least gain over the usual candidate. Default MARGIN. */
  readonly margin?: number;
  /** Frees the memory of a kernel. */
  destroy?(kernel: Kernel): void;
}

export interface Watch<Candidate> {
  /** Called after each candidate, measured or refused. */
  onTried?(tried: Tried<Candidate>): void;
  /** Called before each candidate; throws to end the tuning. */
  throwIfStopped(): void;
}

/** A smaller gain is noise, and the usual candidate is kept. */
const MARGIN = 1.02;

/**
 * Tries each candidate once. `winner` is the fastest, or the usual candidate if that is as fast; null where none ran.
 * @throws the failure of the device, and the error of `throwIfStopped`
 */
export async function tune<Candidate, Kernel>(
  gpu: Gpu,
  { candidates, usual, keyOf }: Search<Candidate>,
  meter: Meter<Candidate, Kernel>,
  { onTried, throwIfStopped }: Watch<Candidate>,
): Promise<{ tried: Tried<Candidate>[]; winner: Timed<Candidate> | null }> {
  const tried: Tried<Candidate>[] = [];
  const known = new Set<string>();
  const isNew = (candidate: Candidate) => known.size < known.add(keyOf(candidate)).size;
  for (const batch of candidates(tried)) {
    const fresh = batch.filter(isNew);
    // Fills the cache of pipelines. Refusals do not count here: a candidate alone has more memory.
    if (fresh.length > 1 && !meter.inTurn) {
      release(meter, await compile(gpu, meter, fresh.map(untried), throwIfStopped));
    }
    for (const group of meter.inTurn ? [fresh] : fresh.map((candidate) => [candidate])) {
      for (const result of await measure(gpu, meter, group, throwIfStopped)) {
        tried.push(result);
        onTried?.(result);
      }
    }
  }
  const [best, ...others] = fastestFirst(tried);
  const untuned = others.find(({ candidate }) => keyOf(candidate) === keyOf(usual));
  if (!untuned) return { tried, winner: best ?? null };
  if (untuned.ms < (meter.repeatBelowMs ?? 0)) {
    for (const result of [best, untuned]) {
      const [{ ms }] = await measure(gpu, meter, [result.candidate], throwIfStopped);
      result.ms = Math.min(result.ms, ms ?? result.ms);
    }
  }
  return { tried, winner: best.ms * (meter.margin ?? MARGIN) < untuned.ms ? best : untuned };
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
): Promise<Tried<Candidate>[]> {
  const results = candidates.map((candidate) => untried(candidate));
  const kernels = await compile(gpu, meter, results, throwIfStopped);
  try {
    for (const result of results) {
      throwIfStopped();
      const kernel = kernels.get(result);
      if (kernel === undefined) continue;
      await attempt(gpu, [result], async () => {
        result.refused = await meter.verify(kernel, result.candidate);
      });
    }
    const right = results.filter(({ refused }) => refused === null);
    if (right.length > 0) {
      await attempt(gpu, right, async () => {
        const times = await meter.time(right.map((result) => kernels.get(result) as Kernel));
        for (const [i, result] of right.entries()) result.ms = times[i];
      });
    }
    return results;
  } finally {
    release(meter, kernels);
  }
}

/** Results with a time, fastest first. */
export function fastestFirst<Candidate>(tried: readonly Tried<Candidate>[]): Timed<Candidate>[] {
  return tried.filter((result): result is Timed<Candidate> => result.ms !== null).sort((a, b) => a.ms - b.ms);
}

function untried<Candidate>(candidate: Candidate): Tried<Candidate> {
  return { candidate, ms: null, refused: null };
}

function release<Kernel>({ destroy }: Meter<never, Kernel>, kernels: ReadonlyMap<unknown, Kernel>): void {
  for (const kernel of kernels.values()) destroy?.(kernel);
}

/** The kernels of the candidates that compile. All at once: browsers compile pipelines on several threads. */
async function compile<Candidate, Kernel>(
  gpu: Gpu,
  meter: Meter<Candidate, Kernel>,
  results: readonly Tried<Candidate>[],
  throwIfStopped: () => void,
): Promise<Map<Tried<Candidate>, Kernel>> {
  throwIfStopped();
  const kernels = new Map<Tried<Candidate>, Kernel>();
  const compiling = results.map((result) =>
    attempt(gpu, [result], async () => {
      kernels.set(result, await meter.compile(result.candidate));
    }),
  );
  await Promise.all(compiling);
  return kernels;
}

/**
 * Runs a step. An error that this GPU refuses the candidates with becomes the reason in their results.
 * @throws the failure of the device, and errors that say nothing about a candidate
 */
async function attempt(gpu: Gpu, results: readonly Tried<unknown>[], step: () => Promise<void>): Promise<void> {
  try {
    await step();
    if (gpu.failure) throw gpu.failure;
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null || gpu.failure) throw gpu.failure ?? error;
    for (const result of results) result.refused = reason;
  }
}

/** The reason of a refusal, as a fragment of a sentence; null for other errors. */
function reasonOf(error: unknown): Reason | null {
  if (error instanceof AttentionUnavailable) return quoted(error.reason);
  if (error instanceof GpuProgramError || error instanceof GpuMemoryError) {
    return quoted(error.message.replace(/\s+/g, ' '));
  }
  return null;
}
