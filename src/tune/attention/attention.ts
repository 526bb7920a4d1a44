// The tuner of attention: the fastest sibling with its parameters for a prefill, and for decode by cache length.

import { type AttentionShape, attentionLimits } from '../../attention/attention';
import type { AttentionProfile, TunedAttention } from '../../attention/profile';
import type { Gpu } from '../../gpu/device';
import type { PassTimeOptions } from '../../gpu/time_pass';
import type { AttentionResult } from '../results';
import { CPU_TIMING } from '../timing';
import { measure, type Tried, tune } from '../tuner';
import {
  type AttentionCandidate,
  attentionCandidates,
  CLIMB,
  expectedCandidates,
  fitted,
  keyOf,
  shortPrefill,
  type Target,
  type TunedPass,
  tunedPasses,
  untunedCandidate,
} from './attention_candidates';
import { AttentionMeter, type AttentionTuneBuffers } from './attention_meter';

export interface TuneAttentionOptions {
  /** Called after each candidate, measured or refused. `total` is an estimate, never below `done`. */
  onResult?: (result: AttentionResult, done: number, total: number) => void;
  /** Called before each candidate; true ends the tuning. */
  stopped?: () => boolean;
  /** Tokens of the measured prefill. Default shape.maxTokens; a slow GPU gets fewer. */
  prefillTokens?: number;
  /** Cache lengths at which decode is measured. */
  kvLens?: readonly number[];
}

type Timing = PassTimeOptions & { budgetMs: number };

/** The timing of a candidate. One that takes longer than half the budget runs twice: to warm up, and to be timed. */
const GPU_TIMING: Timing = { minMs: 4, rounds: 3, budgetMs: 40 };
const WARM_UP: Timing = { minMs: 20, rounds: 1, budgetMs: 60, warmMs: 600 };
/** The longest prefill of one layer to wait for. Browsers also declare a GPU dead after some seconds. */
const MAX_PREFILL_MS = 250;

/**
 * Takes seconds on a fast GPU and up to a minute on a slow one. Nothing else may use these buffers meanwhile. Each
 * candidate is read back, so the thread handles other events in between.
 * @throws DOMException AbortError when stopped; AttentionUnavailable when no sibling runs one of the passes
 */
export async function tuneAttention(
  gpu: Gpu,
  shape: AttentionShape,
  buffers: AttentionTuneBuffers,
  options: TuneAttentionOptions = {},
): Promise<{ profile: AttentionProfile; results: AttentionResult[] }> {
  const { prefill, decode } = tunedPasses(shape, options.prefillTokens, options.kvLens);
  const tuner = new AttentionTuner(gpu, shape, buffers, options, [prefill, ...decode]);
  await tuner.warmUp(decode[0]);
  const profile: AttentionProfile = { prefill: await tuner.tune(await tuner.fit(prefill)), decode: [], tunedAt: '' };
  for (const pass of decode) profile.decode.push({ kvLen: pass.kvLen, ...(await tuner.tune(pass)) });
  profile.tunedAt = new Date().toISOString();
  return { profile, results: tuner.results };
}

class AttentionTuner {
  readonly results: AttentionResult[] = [];
  private readonly meter: AttentionMeter;
  private readonly target: Target;
  private readonly timing: Timing;
  /** Estimated candidates left in the current pass and in each later one. */
  private readonly expected: number[];

  constructor(
    private readonly gpu: Gpu,
    shape: AttentionShape,
    buffers: AttentionTuneBuffers,
    private readonly options: TuneAttentionOptions,
    passes: readonly TunedPass[],
  ) {
    this.meter = new AttentionMeter(gpu, shape, buffers);
    this.target = { shape, limits: attentionLimits(gpu) };
    this.timing = gpu.can.timestamps ? GPU_TIMING : CPU_TIMING;
    this.expected = passes.map((pass) => expectedCandidates(pass, this.target) + CLIMB[pass.pass].steps);
  }

  /** Runs the untuned kernel of decode. A refusal shows again in the results of that pass. */
  async warmUp(pass: TunedPass): Promise<void> {
    await this.measureUntuned(pass, pass, WARM_UP);
  }

  /** The prefill, made smaller on a slow GPU. */
  async fit(pass: TunedPass): Promise<TunedPass> {
    const short = shortPrefill(pass);
    const ms = await this.measureUntuned(pass, short, this.timing);
    return fitted(pass, short, ms ?? 0, MAX_PREFILL_MS);
  }

  async tune(pass: TunedPass): Promise<TunedAttention> {
    const { target } = this;
    const before = this.results.length;
    const search = {
      candidates: (tried: readonly Tried<AttentionCandidate>[]) => attentionCandidates(pass, target, tried),
      usual: untunedCandidate(pass, target),
      keyOf,
    };
    let done = before;
    const onTried = (tried: Tried<AttentionCandidate>) => this.report(resultOf(pass, tried), ++done);
    const watch = { onTried, throwIfStopped: this.throwIfStopped };
    const { tried, winner } = await tune(this.gpu, search, this.meter.at(pass, this.timing), watch);
    this.results.push(...tried.map((each) => resultOf(pass, each, each === winner)));
    this.expected.shift();
    const { candidate, ms } = winner as NonNullable<typeof winner>; // batches follow until a candidate runs
    return { name: candidate.name, parameters: candidate.parameters, ms };
  }

  private async measureUntuned(of: TunedPass, pass: TunedPass, timing: Timing): Promise<number | null> {
    const candidate = untunedCandidate(of, this.target);
    const [{ ms }] = await measure(this.gpu, this.meter.at(pass, timing), [candidate], this.throwIfStopped);
    return ms;
  }

  private report(result: AttentionResult, done: number): void {
    this.expected[0] = Math.max(0, this.expected[0] - 1);
    const left = this.expected.reduce((sum, n) => sum + n, 0);
    this.options.onResult?.(result, done, done + left);
  }

  private throwIfStopped = (): void => {
    if (this.options.stopped?.()) throw new DOMException('The tuning was stopped.', 'AbortError');
  };
}

function resultOf(
  pass: TunedPass,
  { candidate, ms, refused }: Tried<AttentionCandidate>,
  fastest = false,
): AttentionResult {
  return { ...pass, ...candidate, ms, refused, fastest };
}
