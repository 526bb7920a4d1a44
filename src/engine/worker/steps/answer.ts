// Ids to events: each token of one answer with its text and its times, and the parts of the answer that it completed,
// until one of them ends the answer.

import { InvalidRequestError, NotFiniteError } from '../../../errors';
import type { Logprobs } from '../../../sampling/logprobs';
import { GAVE_UP, NO_TOKEN } from '../../../sampling/sampling';
import type { AnswerParser } from '../../../text/answer/answer_parser';
import type { Arrival, Backend } from '../../backend/backend';
import type { EngineEvent, FinishReason, TokenEvent } from '../../protocol';
import type { IdsInFlight } from './ids_in_flight';
import type { TokenClock } from './token_clock';
import { type TokenNames, tokenLogprobs } from './token_logprobs';

export interface AnswerOptions {
  promptLength: number;
  /** Tokens until the context is full. */
  room: number;
  /** Tokens until the answer is cut, at most `room`. */
  most: number;
  /** Ids that end an answer. */
  eosIds: readonly number[];
  /** The texts of tokens with log probabilities. */
  names: TokenNames;
  /** Reports the prefill as done, when the token after it is there. */
  onFirst: () => void;
  emit: (events: readonly EngineEvent[]) => void;
  stopped: () => boolean;
}

export class Answer {
  readonly ids: number[] = [];
  finishReason: FinishReason | null = null;
  /** True once the GPU computed a NaN, which makes the keys and values of this answer useless. */
  isBroken = false;
  private readonly eos: ReadonlySet<number>;
  /** Ids that steps of this worker brought or its prefill ran: fewer than `ids` while told ids are replayed. */
  private held = 0;
  /** Pipelines compiled until the newest token. */
  private compiled: number;

  constructor(
    private readonly calls: Pick<Backend, 'counters'>,
    private readonly clock: TokenClock,
    private readonly inFlight: IdsInFlight,
    private readonly parser: AnswerParser,
    private readonly options: AnswerOptions,
  ) {
    this.eos = new Set(options.eosIds);
    this.compiled = calls.counters?.pipelines ?? 0;
  }

  /**
   * Takes the ids of an answer that another worker began. Their events have been told, also the text of each: what was
   * held back comes later, as it would have. Their steps run again from here on, unless `caughtUp` says otherwise.
   * @throws InvalidRequestError for ids that go on after an end of the answer
   */
  resume(ids: readonly number[]): void {
    const { parser } = this;
    for (const id of ids) {
      if (this.finishReason !== null) {
        throw new InvalidRequestError(`resumed.ids go on after token ${this.ids.length - 1}, which ends the answer.`);
      }
      this.ids.push(id);
      if (this.eos.has(id)) this.finishReason = 'eos';
      else parser.push(id);
      if (parser.stopped) this.finishReason = 'stop';
    }
    if (ids.length > 0) this.finishReason ??= this.end();
  }

  /** The ids that steps of this worker brought or its prefill ran. */
  get heldIds(): number[] {
    return this.ids.slice(0, this.held);
  }

  /** Counts all told ids as run by a prefill. Returns how many of them steps had brought. */
  caughtUp(): number {
    const { held } = this;
    this.held = this.ids.length;
    return held;
  }

  /**
   * Emits the tokens of a readback together, up to the one that ends the answer. Before that, a step may have given up,
   * or brought another id than the reader has been told.
   */
  take(arrival: Arrival): 'taken' | 'gave up' | 'strayed' {
    const events: EngineEvent[] = [];
    try {
      if (typeof arrival === 'number') {
        if (arrival === GAVE_UP) return 'gave up';
        return this.takeId(arrival, events) ? 'taken' : 'strayed';
      }
      const ids = 'ids' in arrival ? arrival.ids : arrival;
      const logprobs = 'ids' in arrival ? arrival.logprobs : [];
      for (let i = 0; i < ids.length && this.finishReason === null; i++) {
        if (ids[i] === GAVE_UP) return 'gave up';
        if (!this.takeId(ids[i], events, logprobs[i])) return 'strayed';
      }
      return 'taken';
    } finally {
      if (events.length > 0) this.options.emit(events);
    }
  }

  /** Returns false, and takes nothing, if the reader has been told another id. */
  private takeId(id: number, events: EngineEvent[], logprobs?: Logprobs): boolean {
    const { ids, options, parser } = this;
    if (id === NO_TOKEN) {
      this.isBroken = true;
      throw new NotFiniteError(options.promptLength + this.held);
    }
    const isTold = this.held < ids.length;
    if (isTold && id !== ids[this.held]) return false;
    if (this.inFlight.land(isTold)) options.onFirst();
    this.held++;
    if (isTold) {
      if (options.stopped()) this.finishReason = 'abort';
      return true;
    }
    ids.push(id);
    const ended = this.eos.has(id);
    const text = ended ? '' : parser.push(id);
    const event = this.event(id, text);
    if (logprobs) event.logprobs = tokenLogprobs(options.names, id, logprobs);
    events.push(event);
    if (!ended && parser.parts.length > 0) events.push(...parser.parts);
    this.finishReason = ended ? 'eos' : this.end();
    return true;
  }

  private event(id: number, text: string): TokenEvent {
    const { tbtMs, inFlightMs, workerMs, othersMs, last } = this.clock;
    const position = this.options.promptLength + this.ids.length - 1;
    const atMs = performance.timeOrigin + last;
    const event: TokenEvent = { type: 'token', id, text, tbtMs, position, atMs, inFlightMs, workerMs };
    if (othersMs > 0 && tbtMs !== null) event.othersMs = othersMs;
    const { pipelines = 0 } = this.calls.counters ?? {};
    if (pipelines > this.compiled) event.pipelines = pipelines - this.compiled;
    this.compiled = pipelines;
    return event;
  }

  /** Releases the text and the parts held back. An answer that ended by itself and has a call ended for the call. */
  finish(): Pick<AnswerParser, 'parts'> & { text: string; finishReason: FinishReason } {
    const { parser, finishReason } = this;
    const text = parser.flush();
    const isForCall = parser.calls > 0 && (finishReason === 'eos' || finishReason === 'stop');
    return { text, parts: parser.parts, finishReason: isForCall ? 'tool-calls' : finishReason! };
  }

  /** The reason why the newest token is the last one, or null. */
  private end(): FinishReason | null {
    const { stopped, most, room } = this.options;
    if (this.parser.stopped) return 'stop';
    if (stopped()) return 'abort';
    if (this.ids.length >= most) return most === room ? 'context' : 'length';
    return null;
  }
}
