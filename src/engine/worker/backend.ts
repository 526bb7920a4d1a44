import type { GpuCounters } from '../../gpu/device';
import type { SamplingParams } from '../../sampling/sampling';
import type { AttentionChoice, BackendName, Roofline, TuneOutcome, TuneResult } from '../protocol';

export type OnTuneResult = (result: TuneResult, done: number, total: number) => void;

/** The most steps of one `decodeMany`. */
export const MOST_SHARED = 16;

/** One model ready to run, on the GPU or on the CPU. Positions count from 0; what lies past the caller's position is dead. */
export interface Backend {
  readonly name: BackendName;
  readonly contextLength: number;
  readonly attention: AttentionChoice;
  /** The most promises of `decode` and `decodeMany` that may be unsettled at a time. */
  readonly maxRunAhead: number;
  /** A decode step took no longer than this, in milliseconds, when the model was made ready. */
  readonly stepBoundMs?: number;
  /** WebGPU calls so far; null on the CPU. */
  readonly counters: Readonly<GpuCounters> | null;
  readonly peakGpuBytes: number | null;

  /** Before the first pass of a request; `timed` asks for stepTimes where the GPU has a clock. */
  begin(sampling: SamplingParams, timed: boolean): void;
  /**
   * Runs ids at position, position + 1 ... and samples the token after the last, which arrives through `token`.
   * Resolves when every pass is queued and all but the last are done; `onProgress` counts tokens whose passes are done.
   * `stopped` is asked between passes; the pass that then runs is the last.
   * `token` is null when it was stopped.
   */
  prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: () => boolean,
  ): Promise<{ token: Promise<number> | null }>;
  /** Queues one step that reads the token at `position` and samples the next, whose id the promise brings. */
  decode(position: number): Promise<number>;
  /** Queues `count` steps, at position, position + 1 ..., whose ids come back in one readback. Absent: one at a time. */
  decodeMany?(position: number, count: number): Promise<Uint32Array>;
  /** The GPU's own milliseconds of each decode step since `begin`, or null where it was not asked or has no clock. */
  stepTimes(): Promise<number[] | null>;
  /**
   * Measures attention and products and runs on the fastest from then on. Overwrites keys and values. `onResult` hears each candidate.
   * @throws InvalidRequestError where there is nothing to tune; DOMException AbortError soon after `stopped` turns true
   */
  tune(onResult: OnTuneResult, stopped: () => boolean): Promise<TuneOutcome>;
  /**
   * The fastest read of memory, measured at the first call. Leaves keys and values as they are.
   * @throws as `tune`, and GpuMemoryError
   */
  roofline(stopped: () => boolean): Promise<Roofline>;
  /** Resolves with what makes every later call fail, if it ever comes to that. */
  readonly failing?: Promise<Error>;
  /** What a call failed with, or what is behind it. */
  explain?(error: unknown): Promise<unknown>;
  destroy(): void;
}
