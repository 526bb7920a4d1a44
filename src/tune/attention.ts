// The tuner: measures candidates on this very GPU, each one verified before it is timed, and keeps the fastest.

import type { AttentionName, AttentionShape } from '../attention/attention';
import type { AttentionProfile, TunedAttention, TuneResult } from '../attention/profile';
import type { Gpu } from '../gpu/device';
import type { PassTimeOptions } from '../gpu/time_pass';
import {
  type Candidate,
  expectedCandidates,
  firstCandidates,
  fitted,
  keyOf,
  neighbors,
  shortPrefill,
  splitVariants,
  type Target,
  type TunedPass,
  tunedPasses,
  untunedCandidate,
} from './attention_candidates';
import { CandidateMeter, type TuneBuffers } from './attention_meter';

export interface TuneOptions {
  /** After each candidate, measured or refused. `total` is an estimate, never below `done`. */
  onResult?: (result: TuneResult, done: number, total: number) => void;
  /** Asked before each candidate; true ends the tuning. */
  stopped?: () => boolean;
  /** Tokens of the prefill that is measured; default shape.maxTokens. A GPU that is slow gets fewer. */
  prefillTokens?: number;
  /** Cache lengths at which decode is measured. */
  kvLens?: readonly number[];
}

/** Of each candidate, by the clock. One that takes longer than half the budget runs twice: to warm up, and to be timed. */
const TIMING = {
  gpu: { minMs: 4, rounds: 3, budgetMs: 40 },
  /** Completions reach the CPU on a grid of about 3 ms. */
  cpu: { minMs: 50, rounds: 3, budgetMs: 250 },
};
const WARM_UP = { minMs: 20, rounds: 1, budgetMs: 60, warmMs: 600 };
/** The longest prefill of one layer that is worth waiting for; browsers also take a GPU for dead after some seconds. */
const MAX_PREFILL_MS = 250;
/** Faster by less is noise: what runs untuned is kept. */
const MARGIN = 1.02;
/** Candidates beside the fastest: at most so many, and none after so much time. */
const CLIMB = { prefill: { steps: 10, untilMs: 5000 }, decode: { steps: 3, untilMs: 1500 } };

/**
 * Takes seconds on a fast GPU and up to a minute on a slow one; nothing else may use these buffers meanwhile. The thread has
 * a turn for each candidate that runs, since each is read back.
 * @throws DOMException AbortError when stopped; AttentionUnavailable when no sibling runs one of the passes
 */
export async function tuneAttention(
  gpu: Gpu,
  shape: AttentionShape,
  buffers: TuneBuffers,
  options: TuneOptions = {},
): Promise<{ profile: AttentionProfile; results: TuneResult[] }> {
  const { prefill, decode } = tunedPasses(shape, options.prefillTokens, options.kvLens);
  const tuner = new Tuner(gpu, shape, buffers, options, [prefill, ...decode]);
  await tuner.warmUp(decode[0]);
  const profile: AttentionProfile = { prefill: await tuner.tune(await tuner.fit(prefill)), decode: [], tunedAt: '' };
  for (const pass of decode) profile.decode.push({ kvLen: pass.kvLen, ...(await tuner.tune(pass)) });
  profile.tunedAt = new Date().toISOString();
  return { profile, results: tuner.results };
}

type Measured = TuneResult & { ms: number };

class Tuner {
  readonly results: TuneResult[] = [];
  private readonly meter: CandidateMeter;
  private readonly target: Target;
  private readonly timing: PassTimeOptions & { budgetMs: number };
  /** Results of the current pass. */
  private readonly tried = new Map<string, TuneResult>();
  /** How many candidates are probably left, of the current pass and of each after it. */
  private readonly expected: number[];

  constructor(
    gpu: Gpu,
    shape: AttentionShape,
    buffers: TuneBuffers,
    private readonly options: TuneOptions,
    passes: readonly TunedPass[],
  ) {
    this.meter = new CandidateMeter(gpu, shape, buffers);
    this.target = { shape, limits: gpu.limits };
    this.timing = gpu.can.timestamps ? TIMING.gpu : TIMING.cpu;
    this.expected = passes.map((pass) => expectedCandidates(pass, this.target) + CLIMB[pass.pass].steps);
  }

  /** With what decodes untuned; where that cannot run, its result will say so. */
  async warmUp(pass: TunedPass): Promise<void> {
    this.throwIfStopped();
    await this.meter.measure(untunedCandidate(pass, this.target), pass, WARM_UP);
  }

  /** The prefill, made smaller where the GPU is slow. */
  async fit(pass: TunedPass): Promise<TunedPass> {
    this.throwIfStopped();
    const short = shortPrefill(pass);
    const { ms } = await this.meter.measure(untunedCandidate(pass, this.target), short, this.timing);
    return fitted(pass, short, ms ?? 0, MAX_PREFILL_MS);
  }

  async tune(pass: TunedPass): Promise<TunedAttention> {
    const start = performance.now();
    this.tried.clear();
    const untuned = untunedCandidate(pass, this.target);
    const first = [...firstCandidates(pass, this.target), untuned];
    this.throwIfStopped();
    await this.meter.compileAhead(first);
    for (const candidate of first) await this.attempt(candidate, pass);
    for (const candidate of splitVariants(this.fastestFirst(), this.target)) await this.attempt(candidate, pass);
    await this.climb(pass, start + CLIMB[pass.pass].untilMs);
    await this.fallBack(pass);
    const { name, parameters, ms } = await this.settle(pass, untuned);
    this.expected.shift();
    return { name, parameters, ms };
  }

  /** Walks to neighbors of the fastest for as long as there are any left to try. */
  private async climb(pass: TunedPass, until: number): Promise<void> {
    for (let step = 0; step < CLIMB[pass.pass].steps && performance.now() < until; step++) {
      const [fastest] = this.fastestFirst();
      if (!fastest) return;
      const next = neighbors(fastest, pass, this.target).find((candidate) => !this.tried.has(keyOf(candidate)));
      if (!next) return;
      await this.attempt(next, pass);
    }
  }

  /** Where nothing ran: other siblings, in the order in which they would be chosen. */
  private async fallBack(pass: TunedPass): Promise<void> {
    while (this.fastestFirst().length === 0) {
      const refused = [...this.tried.values()].map(({ name, refused }): [AttentionName, string] => [
        name,
        refused ?? '',
      ]);
      await this.attempt(untunedCandidate(pass, this.target, new Map(refused)), pass);
    }
  }

  /** The fastest, unless what runs untuned is as good: both are measured again where that takes little time. */
  private async settle(pass: TunedPass, untuned: Candidate): Promise<Measured> {
    const [best, ...others] = this.fastestFirst();
    const usual = others.find((result) => keyOf(result) === keyOf(untuned)) ?? best;
    if (usual !== best && usual.ms < this.timing.budgetMs) {
      for (const result of [best, usual]) {
        const { ms } = await this.meter.measure(result, pass, this.timing);
        result.ms = Math.min(result.ms, ms ?? result.ms);
      }
    }
    const chosen = best.ms * MARGIN < usual.ms ? best : usual;
    chosen.fastest = true;
    return chosen;
  }

  private async attempt(candidate: Candidate, pass: TunedPass): Promise<void> {
    const key = keyOf(candidate);
    if (this.tried.has(key)) return;
    this.throwIfStopped();
    const measurement = await this.meter.measure(candidate, pass, this.timing);
    const result: TuneResult = { ...pass, ...candidate, ...measurement, fastest: false };
    this.tried.set(key, result);
    this.results.push(result);
    this.expected[0] = Math.max(0, this.expected[0] - 1);
    const left = this.expected.reduce((sum, n) => sum + n, 0);
    this.options.onResult?.({ ...result }, this.results.length, this.results.length + left);
  }

  private fastestFirst(): Measured[] {
    const measured = [...this.tried.values()].filter((result): result is Measured => result.ms !== null);
    return measured.sort((a, b) => a.ms - b.ms);
  }

  private throwIfStopped(): void {
    if (this.options.stopped?.()) throw new DOMException('The tuning was stopped.', 'AbortError');
  }
}
