// All messages between tabs that share an engine. A term is one worker's time in one leading tab: requests are asked of
// a term, and end with it. Types only.

import type { VivaceError } from '../engine/engine';
import type { EngineHost, WorkerRequest } from '../engine/page/host/host';
import type { EngineInfo, GenerateInput, LoadProgress, TokenizeOptions, WorkerFailure } from '../engine/protocol';

/** Raised with each change of these types, or of what they contain, that an earlier build could misread. */
export const PROTOCOL = 3;

/** `tokenize` is answered with one message: ids. */
export type TabRequest = WorkerRequest | { kind: 'tokenize'; body: { input: GenerateInput; options: TokenizeOptions } };

/** `gone`: the tab leads no more. */
export type LeadState =
  | { kind: 'loading'; progress: LoadProgress | null }
  | { kind: 'ready'; info: EngineInfo; form: EngineHost['form']; news: string; nextTryAt: number | null }
  | { kind: 'recovering'; cause: WorkerFailure; loss: number; progress: LoadProgress | null }
  | { kind: 'gone' };

export type ToLeader =
  | { type: 'hello'; from: string }
  | { type: 'ask'; from: string; term: string; id: string; request: TabRequest }
  /** `ids`: the requests of this tab that still run. */
  | { type: 'ping'; from: string; term: string; ids: readonly string[] }
  /** `id` was heard up to here. */
  | { type: 'heard'; from: string; term: string; id: string; posts: number }
  | { type: 'stop'; from: string; term: string; id: string; isOver: boolean };

export type FromLeader =
  | { type: 'state'; term: string; state: LeadState }
  /** Of each request of a ping: the number of its posts, or null where it does not run. */
  | { type: 'pong'; to: string; term: string; posts: readonly { id: string; posts: number | null }[] }
  /** `n`: the number of the post, from 0. A failure is the last thing of all. */
  | {
      type: 'post';
      to: string;
      term: string;
      id: string;
      n: number;
      messages: readonly object[];
      failure: WorkerFailure | null;
    };

export type TabMessage = ToLeader | FromLeader;

/** The code of errors of a tab that lost the leading one. */
export const TAB_GONE = 'tab-gone';

/** Parts of the engine's code for this room: errors that cross as plain fields. */
export interface ErrorParts {
  toFailure(error: unknown, stopped?: boolean): WorkerFailure;
  fromFailure(failure: WorkerFailure): Error;
  callError(error: unknown): unknown;
  VivaceError: typeof VivaceError;
}
