// What an answer and a batch know of each other.

import type { Place } from '../../../cpu/grammar';
import type { GpuCounters } from '../../../gpu/device';
import type { SamplingParams } from '../../../sampling/sampling';
import type { ChatRequest } from '../../../text/template/message';
import type { Constraint } from '../../backend/backend';
import type { Answer } from '../steps/answer';
import type { IdsInFlight } from '../steps/ids_in_flight';
import type { RunAhead } from '../steps/run_ahead';
import type { TokenClock } from '../steps/token_clock';
import type { Turn } from './turns';

/** The constraint of an answer. */
export interface Constrained extends Constraint {
  /** The place after some ids of the answer. @throws InvalidRequestError for an id that is refused */
  placeAfter(ids: ArrayLike<number>): Place;
}

/** An answer among others, for which a batch may step. */
export interface AnswerBeside {
  readonly clock: TokenClock;
  readonly asked: {
    prompt: Uint32Array<ArrayBuffer>;
    chat: ChatRequest | null;
    sampling: SamplingParams;
    constraint: Constrained | null;
    /** Whether the GPU's own times of its steps are asked for. */
    timed: boolean;
    runAhead: RunAhead;
  };
  readonly turn?: Turn;
  /** Milliseconds in which other requests ran. */
  awayMs: number;
  /** True while a batch steps for it: the clock of the backend counts steps of others. */
  isBeside: boolean;
  /** The most requests that a step ran for. */
  batchSize: number;
  /** Leaves a batch that has the keys and values of the answer. Null where the cache has them. */
  leaveBatch: ((answer: Answer, reasoningTokens: number) => Promise<void>) | null;
  begin(): Promise<void>;
  /** Drops what was set aside. */
  dropAside(): void;
  /** Keeps the GPU's times of its newest steps before others run. Nothing of it may be in flight. */
  keepTimes(): Promise<void>;
  /** Takes the GPU's times of its newest steps, which a batch has run. */
  addTimes(times: readonly number[]): void;
  /** Takes note of the calls since then, but its own. */
  count(before: GpuCounters, own?: Partial<GpuCounters>): void;
}

/** Steps for several answers at once. */
export interface StepsBeside {
  /** True if the answer may step here once nothing of it is in flight, because another could, too. */
  mayJoin(turns: AnswerBeside, answer: Answer, inFlight: IdsInFlight): boolean;
  /**
   * Steps for an answer that has the turn until it ends or has to go on by itself, as it then can. Returns false where
   * no seat is free.
   */
  step(turns: AnswerBeside, answer: Answer, inFlight: IdsInFlight, stopped: () => boolean): Promise<boolean>;
}

export interface BatchDoor {
  /** Requests that have begun and not ended. */
  readonly running: Set<AnswerBeside>;
  /** What steps for several requests, if it is there by now. Without it they take turns. */
  get(): StepsBeside | null;
}
