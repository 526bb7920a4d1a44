// Events to pieces of an answer: as few as their order allows, so that a burst becomes one chunk of a stream.

import type { EngineEvent } from '../../api_engine';

type TokenEvent = Extract<EngineEvent, { type: 'token' }>;
type CallEvent = Extract<EngineEvent, { type: 'tool-call' }>;
export type Logprobs = NonNullable<TokenEvent['logprobs']>;
export type DoneEvent = Extract<EngineEvent, { type: 'done' }>;

/** A token without its text. */
export type TokenTimes = Omit<TokenEvent, 'type' | 'text' | 'logprobs'>;

/** A part of a call, with the same fields as the event. `index` counts the calls that clients see. */
export type CallPart = Omit<CallEvent, 'type'>;

/** The next parts of the answer: first thinking, then text, then calls. */
export interface Piece {
  choice: number;
  reasoning: string;
  text: string;
  calls: CallPart[];
  callErrors: { index: number; message: string; text: string }[];
  logprobs: Logprobs[];
  tokens: TokenTimes[];
  /** Tokens of the prompt that are read, in the form of llama.cpp's server. */
  progress?: { total: number; cache: number; processed: number };
  /** The end of the choice. */
  done?: DoneEvent;
}

/** The place of a part in its piece. */
const REASONING = 0;
const TEXT = 1;
const CALLS = 2;

export class Pieces {
  private choice = 0;
  /** The numbers of the calls that clients see, by the engine's. Those that failed before they began leave no gap. */
  private calls = new Map<number, number>();
  private pieces: Piece[] = [];
  /** The place of the last piece. */
  private place = REASONING;
  /** Tokens of the newest prompt. */
  promptTokens = 0;
  cachedTokens = 0;

  /**
   * @param isOneCall calls after the first of a choice are left out
   * @param isWhole each choice is one piece, for answers that are not streamed
   */
  constructor(
    private readonly isOneCall: boolean,
    private readonly isWhole: boolean,
  ) {}

  /** The pieces of a burst. Tokens that show nothing yet go with a later burst. */
  fold(events: readonly EngineEvent[]): Piece[] {
    for (const event of events) this.add(event);
    const pieces = this.pieces;
    const last = pieces.at(-1);
    this.pieces = last && isSilent(last) ? pieces.splice(-1) : [];
    return pieces;
  }

  private add(event: EngineEvent): void {
    switch (event.type) {
      case 'start':
        this.choice = event.choice;
        this.promptTokens = event.promptIds.length;
        this.cachedTokens = event.cachedTokens;
        this.calls.clear();
        break;
      case 'prefill':
        this.addProgress(event.done, event.total);
        break;
      case 'token':
        this.addToken(event);
        break;
      case 'reasoning':
        this.at(REASONING).reasoning += event.text;
        break;
      case 'tool-call':
        this.addCall(event);
        break;
      case 'tool-call-error':
        this.addCallError(event);
        break;
      case 'done':
        this.addText(event.text).done = event;
        break;
    }
  }

  /** The piece that takes a part of this place: a new one, if the last one is past it. */
  private at(place: number): Piece {
    const last = this.pieces.at(-1);
    const fits =
      last?.choice === this.choice && (this.isWhole || (!last.done && (place >= this.place || isSilent(last))));
    this.place = place;
    if (fits) return last;
    const piece = emptyPiece(this.choice);
    this.pieces.push(piece);
    return piece;
  }

  private addProgress(done: number, total: number): void {
    const cache = this.cachedTokens;
    this.at(REASONING).progress = { total: cache + total, cache, processed: cache + done };
  }

  private addText(text: string): Piece {
    const piece = this.at(text ? TEXT : this.place);
    piece.text += text;
    return piece;
  }

  private addToken({ type, text, logprobs, ...times }: TokenEvent): void {
    const piece = this.addText(text);
    piece.tokens.push(times);
    if (logprobs) piece.logprobs.push(logprobs);
  }

  private addCall({ type, ...part }: CallEvent): void {
    const index = this.calls.get(part.index) ?? this.calls.size;
    if (this.isOneCall && index > 0) return;
    this.calls.set(part.index, index);
    const { calls } = this.at(CALLS);
    const last = calls.at(-1);
    if (last?.index === index) last.arguments += part.arguments;
    else calls.push({ ...part, index });
  }

  /** A call that failed before it began is text, so that nothing is lost. One that is left out fails unheard. */
  private addCallError({ type, ...error }: Extract<EngineEvent, { type: 'tool-call-error' }>): void {
    const isBegun = this.calls.has(error.index);
    if (this.isOneCall && !isBegun && this.calls.size > 0) return;
    const piece = isBegun ? this.at(CALLS) : this.addText(error.text);
    piece.callErrors.push(error);
  }
}

export function emptyPiece(choice: number): Piece {
  return { choice, reasoning: '', text: '', calls: [], callErrors: [], logprobs: [], tokens: [] };
}

/** True if a piece has something to show. */
export function hasPart({ reasoning, text, calls, callErrors }: Piece): boolean {
  return reasoning !== '' || text !== '' || calls.length > 0 || callErrors.length > 0;
}

function isSilent(piece: Piece): boolean {
  return !hasPart(piece) && !piece.progress && !piece.done;
}
