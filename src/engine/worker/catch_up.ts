// The passes before the first new token of an answer: its prompt, and what another worker had told of the answer.

import type { Place } from '../../cpu/grammar';
import type { Backend, Stopped } from '../backend/backend';
import type { EngineEvent } from '../protocol';
import type { AnswerTurns } from './answer_turns';
import type { Session } from './request/session';
import type { IdsInFlight } from './steps/ids_in_flight';
import type { TokenClock } from './steps/token_clock';

/**
 * Longest replay of told tokens, by the bound of a decode step: a reader notices a longer wait more than another word.
 */
const REPLAY_MS = 2000;

/**
 * True if the steps of told tokens run again. A prefill rounds otherwise than steps, and a sampled answer may then go
 * on with another text. The same steps on the same GPU give the same bits. On the CPU both cost the same.
 */
export function replays({ stepBoundMs = 0 }: Backend, told: number): boolean {
  return told * stepBoundMs <= REPLAY_MS;
}

/** Runs ids that are known in a prefill, and keeps account of it. */
export class CatchUp {
  /** Ids that ran. */
  prefilled = 0;
  /** The answer's counters after the newest prefill. */
  counters: Backend['counters'];
  private ids: Uint32Array<ArrayBuffer> = new Uint32Array();
  private cached = 0;

  constructor(
    private readonly session: Session,
    private readonly inFlight: IdsInFlight,
    private readonly clock: TokenClock,
    private readonly turns: AnswerTurns,
    private readonly emit: (events: readonly EngineEvent[]) => void,
  ) {
    this.counters = copyOf(turns.counters);
  }

  /**
   * Runs `ids`, of which the cache holds the first `cached`, in as many turns as needed. The step after them is the
   * first in flight, of `most` tokens. Returns false if stopped. No step may be in flight. `place` is that of a
   * constrained answer behind `ids`.
   */
  async run(
    ids: Uint32Array<ArrayBuffer>,
    cached: number,
    most: number,
    halted: Stopped,
    place?: Place,
  ): Promise<boolean> {
    const { inFlight, clock, turns } = this;
    const { backend } = this.session;
    this.ids = ids;
    this.cached = cached;
    inFlight.begin(ids.length, most);
    this.progress(0);
    const rests = async (running?: Promise<unknown>) => {
      if (turns.isShared) await running; // its time counts in this turn
      return (await halted()) || turns.isOver;
    };
    let from = cached;
    while (!(await halted())) {
      const first = from;
      const onProgress = (done: number) => this.progress(first - cached + done);
      const run = await backend.prefill(ids.slice(first), first, onProgress, rests, place);
      this.counters = copyOf(turns.counters);
      if (run.token) {
        this.prefilled += ids.length - cached;
        inFlight.add(run.token, 1, clock.tokenized);
        return true;
      }
      from += run.ran;
      if (turns.isOver && !(await halted())) await turns.giveWay(ids.slice(0, from));
    }
    return false;
  }

  /** Reports all ids as done, when the token after them is there. */
  done(): void {
    this.progress(this.ids.length - this.cached);
  }

  private progress(done: number): void {
    const { ids, cached } = this;
    this.session.cachedIds = Array.from(ids.subarray(0, cached + done));
    this.emit([{ type: 'prefill', done, total: ids.length - cached }]);
  }
}

function copyOf<T extends object>(counters: T | null): T | null {
  return counters && { ...counters };
}
