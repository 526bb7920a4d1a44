// The interface between the loop and a model on the GPU or the CPU.

import type { Place } from '../../cpu/grammar';
import type { GpuCounters } from '../../gpu/device';
import type { Automaton } from '../../grammar/automaton';
import type { IdsWithLogprobs } from '../../sampling/logprobs';
import type { SamplingParams } from '../../sampling/sampling';
import type { TokenBytes } from '../../sampling/token_bytes';
import type {
  AttentionChoice,
  BackendName,
  EngineInfo,
  Roofline,
  StepChoice,
  TuneOutcome,
  TuneResult,
} from '../protocol';

export type OnTuneResult = (result: TuneResult, done: number, total: number) => void;

/**
 * One readback: the id of one step, or the ids of steps that share it, or with the option `logprobs` both of either
 * number of steps.
 */
export type Arrival = number | Uint32Array | IdsWithLogprobs;

/** The constraint of an answer. `tokens` are the model's, always the same. */
export interface Constraint {
  automaton: Automaton;
  tokens: TokenBytes;
}

/**
 * True if the request shall end. A promise waits for the end of a pause, or for the `running` pass where others wait
 * for its turn.
 */
export type Stopped = (running?: Promise<unknown>) => boolean | Promise<boolean>;

/** A copy of keys and values, out of the way of the next request. */
export interface ParkedKv {
  /** Copies the positions of `ids`, from 0 on, and the ids themselves back into the cache. */
  restore(ids: Uint32Array<ArrayBuffer>): void;
  /** A copy of the first `tokens` positions alone. Null where memory is refused. */
  shrink(tokens: number): Promise<ParkedKv | null>;
  /** Copies positions of the cache from `first` on, up to `tokens`, for which it has room. False: memory is refused. */
  extend(first: number, tokens: number): boolean;
  destroy(): void;
}

/** Makes copies of keys and values beside the cache. Between requests only. */
export interface Parking {
  /** Of the keys and values of a token in all layers. */
  readonly bytesPerToken: number;
  /** Bytes of a copy of so many positions: layers with a window hold no more than their newest. */
  bytesOf(tokens: number): number;
  /**
   * The fewest leading tokens of the cache that another conversation can begin with, none aside: layers with a window
   * keep their newest alone.
   */
  readonly least: number;
  /** Copies the first `tokens` positions, perhaps none, with room for `room`. Null where memory is refused. */
  park(tokens: number, room?: number): Promise<ParkedKv | null>;
  /** Fetches what copies. Absent: it is there. @throws MissingPartError */
  prepare?(): Promise<unknown>;
}

/** Keys and values of a request in a batch. A copy that ends with the batch. */
export interface SlotKv extends ParkedKv {
  /** The fewest leading tokens that another conversation can begin with, none aside. */
  readonly least: number;
  /** Notes that steps have written positions up to `end`. */
  wrote(end: number): void;
}

/** A request in the steps of a batch. */
export interface BatchMember {
  slot: number;
  /** The position of the token that its next step reads. */
  position: number;
  /** That token, where no step of the batch has brought it. */
  id?: number;
}

/** Most bytes of an automaton (automatonBytes) in a batch: each slot has as much memory as the largest takes. */
export const MOST_AUTOMATON_BYTES = 2 ** 20;

/** Most readbacks of a batch that may be unsettled at a time, and most steps of one. */
export const BATCH_DEPTH = 32;
export const MOST_TOGETHER = 4;

/** A batch to be made. */
export interface BatchAsked {
  /** Most slots, and positions of each. */
  slots: number;
  room: number;
  /** Fewest positions of each. */
  least: number;
  /** A conversation, of whose positions the cache has all but the last. */
  ids: Uint32Array<ArrayBuffer>;
  /** True: no fused steps, as after one that gave up. */
  plain: boolean;
}

/** What steps of a batch bring. */
export interface BatchArrivals {
  /** To each slot. */
  slots: readonly Exclude<Arrival, number>[];
  /** The GPU's own milliseconds of each step. Null where they were not asked for, and without a clock. */
  stepMs: number | null;
}

/** Steps of several requests in one pass over the weights, each with keys and values of its own. */
export interface Batching {
  /** Requests at a time. */
  readonly slots: number;
  /** Most positions of a request. */
  readonly room: number;
  /** The time of a step of so many requests, as a multiple of a step of one, as measured on this GPU. */
  readonly cost: (requests: number) => number;
  /** False where another batch, made later, finds the cost anew. */
  readonly isCostSure: boolean;
  /**
   * Makes ready for requests with log probabilities. Steps may be in flight.
   * @throws GpuMemoryError, GpuProgramError, MissingPartError
   */
  reportLogprobs(): Promise<void>;
  /**
   * Makes ready for steps that are timed, if the GPU has a clock. Steps may be in flight.
   * @throws GpuMemoryError
   */
  openClock(): Promise<void>;
  /**
   * Makes ready for a request in a slot, which the backend has begun with this constraint. Steps of others may be in
   * flight.
   * @throws GpuMemoryError, GpuProgramError, MissingPartError
   */
  constrain(slot: number, { automaton }: Constraint): Promise<void>;
  /**
   * Copies the first positions of the cache, which have these ids, to a slot, which samples as asked. For log
   * probabilities `reportLogprobs` comes first, and `constrain` for a constraint.
   * @param place of a constrained request: where the document stands before the token after the next
   */
  fill(slot: number, ids: Uint32Array<ArrayBuffer>, sampling: SamplingParams, place?: Place): SlotKv;
  /** Makes the next steps those of these requests, and no others. */
  setMembers(members: readonly BatchMember[]): void;
  /**
   * Queues up to MOST_TOGETHER steps in one submit. Resolves with what they brought: GAVE_UP for a step that gave up,
   * and for all behind it.
   * @param timed asks for their times, for which `openClock` comes first
   */
  steps(count: number, timed: boolean): Promise<BatchArrivals>;
  destroy(): void;
}

/** Keys and values of some positions as bytes, the same for each cache of this model. Between requests only. */
export interface KvBytes {
  /** Reads `tokens` positions from `first` on. Null where memory is refused. */
  read(first: number, tokens: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * Writes what `read` gave for positions from `first` up to the end of `ids`, and the ids themselves. False where
   * memory is refused.
   */
  write(ids: Uint32Array<ArrayBuffer>, first: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

/** Most steps of one `decodeMany`. */
export const MOST_SHARED = 16;

/**
 * One model ready to run, on the GPU or on the CPU. Positions count from 0. Cached tokens past the caller's position
 * are stale.
 */
export interface Backend {
  readonly name: BackendName;
  readonly contextLength: number;
  readonly attention: AttentionChoice;
  readonly step: StepChoice;
  /** The result of `embed`. `normalized`: its caller makes the length 1. */
  readonly vectors: EngineInfo['embeddings'] & { normalized: boolean };
  /** Most promises of `decode` and `decodeMany` that may be unsettled at a time. */
  readonly maxRunAhead: number;
  /** Upper bound of a decode step in milliseconds, measured during the load. */
  readonly stepBoundMs?: number;
  /** The WebGPU calls so far, or null on the CPU. */
  readonly counters: Readonly<GpuCounters> | null;
  readonly peakGpuBytes: number | null;
  /** Absent: a request finds what the one before left in the cache, and no more. */
  readonly parking?: Parking;
  /**
   * Compiles the steps of a batch with so many slots and so much room. False where this model steps for one request at
   * a time. Comes with `batch`.
   */
  prepareBatch?(slots: number, room: number): Promise<boolean>;
  /**
   * Makes a batch, and checks a step of it. Null where buffers of this GPU hold no two slots with the fewest positions.
   * @throws GpuMemoryError, GpuProgramError, AttentionUnavailable, MissingPartError
   */
  batch?(asked: BatchAsked): Promise<Batching | null>;
  /** Absent: no prompt outlives the engine. */
  kvBytes?(): KvBytes | Promise<KvBytes>;

  /**
   * Begins a request, before its first pass. `timed` asks for step times if the GPU has a clock. Waits where a
   * constraint is given or log probabilities are asked for.
   * @throws GpuMemoryError, GpuProgramError, MissingPartError for these two
   */
  begin(sampling: SamplingParams, timed: boolean, constraint?: Constraint | null): void | Promise<void>;
  /**
   * Runs ids at position, position + 1 ... and samples the token after the last, which arrives through `token`.
   * Resolves once every pass is queued and all but the last are done. `onProgress` counts tokens whose passes are done.
   * Waits for `stopped` between passes, which may take as long as a pause of the worker. If it is true, ends with the
   * running pass; `token` is null in this case, and the first `ran` ids have run or are about to.
   * @param place of a constrained request: where the document stands before the token after the last
   */
  prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: Stopped,
    place?: Place,
  ): Promise<{ token: Promise<Arrival> } | { token: null; ran: number }>;
  /**
   * Goes on with decode steps behind `ids` after another request has run, and after `begin`. The cache holds all of
   * `ids` but the last, which the next step reads. `place` is as in `prefill`.
   */
  goOn(ids: Uint32Array<ArrayBuffer>, place?: Place): void;
  /** Queues one step that reads the token at `position` and samples the next one. Resolves with its id. */
  decode(position: number): Promise<Arrival>;
  /**
   * Queues `count` steps, at position, position + 1 ..., that share a readback. Backends without it take single steps.
   */
  decodeMany?(position: number, count: number): Promise<Arrival>;
  /**
   * Runs a text from position 0. Its vector is pooled and has passed the linear layers behind. Resolves once every
   * pass is queued. Waits for `stopped` between passes, as `prefill` does; `vector` is null if it ended so. At most 2
   * vectors may be unread.
   */
  embed(ids: Uint32Array<ArrayBuffer>, stopped: Stopped): Promise<{ vector: Promise<Float32Array> | null }>;
  /**
   * Called after an id was GAVE_UP and all readbacks have settled. Clears the state on the GPU, so that
   * `decode(position)` runs the step again by plain dispatches. Returns a warning for the user, if any. Backends whose
   * steps never give up lack it.
   */
  stepGaveUp?(position: number): string | null;
  /**
   * The first layer and operation that computes a NaN or an infinity when the ids run as a prompt, or null if none
   * does. Overwrites keys and values.
   */
  findNotFinite?(ids: Uint32Array<ArrayBuffer>): Promise<string | null>;
  /**
   * The GPU's own milliseconds of each decode step since `begin`, or null if untimed or without a clock. A repeated
   * step counts once, with the time of its repetition.
   */
  stepTimes(): Promise<number[] | null>;
  /**
   * Measures attention and linears, calls `onResult` for each candidate, and then runs on the fastest. Overwrites keys
   * and values.
   * @throws InvalidRequestError without anything to tune; DOMException AbortError soon after `stopped` turns true
   */
  tune(onResult: OnTuneResult, stopped: () => boolean): Promise<TuneOutcome>;
  /**
   * The fastest read of memory, measured by the first call. Keeps keys and values.
   * @throws as `tune`, and GpuMemoryError
   */
  roofline(stopped: () => boolean): Promise<Roofline>;
  /**
   * Fetches a check, to run between requests, that the GPU still computes as when the model was loaded. Keys and values
   * are as before. It returns a warning where an attention kernel had turned wrong and another took its place; where
   * anything else has, `failing` resolves.
   * @throws MissingPartError
   */
  rechecker?(): Promise<(stopped: () => boolean) => Promise<string | null>>;
  /** Resolves with the error that fails every later call, once there is one. */
  readonly failing?: Promise<Error>;
  /** The cause of a failed call: the error itself, or the one behind it. */
  explain?(error: unknown): Promise<unknown>;
  destroy(): void;
}
