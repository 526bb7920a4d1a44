// What goes wrong with a server, as typed errors. No message holds a key.

import { VivaceError } from '../errors';

/**
 * - `server-unreachable`: no answer at all. The server is off, the address is wrong, it redirects, or it does not let
 *   pages of this origin read its answers (CORS).
 * - `server-key`: it wants another key (401, 403).
 * - `server-busy`: it answered 429 or 503 until no try was left.
 * - `server-failed`: it answered another error, at once or in the middle of an answer.
 * - `server-answer`: its answer is none of this interface, or larger than any should be.
 * - `server-model`: it does not list the model that was asked for.
 * - `server-silent`: it sent nothing for too long.
 * - `server-cut`: its answer ended too early.
 */
export type RemoteCode =
  | 'server-unreachable'
  | 'server-key'
  | 'server-busy'
  | 'server-failed'
  | 'server-answer'
  | 'server-model'
  | 'server-silent'
  | 'server-cut';

/** Codes of errors that repeat until the server or the address changes. */
const LASTING: readonly RemoteCode[] = ['server-key', 'server-answer', 'server-model'];

interface Details {
  status?: number;
  /** The time that the server asks for before the next try. */
  retryAfterMs?: number;
  canRetry?: boolean;
  /** The server that did not answer. */
  host?: string;
  /** The length of the server's silence. */
  seconds?: number;
  /** The models that it lists. */
  models?: readonly string[];
}

/** The server did not answer as it should. */
export class RemoteError extends VivaceError {
  declare readonly code: RemoteCode;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  /** The names of the message, for those who write it in another language. */
  readonly host: string | null;
  readonly seconds: number | null;
  /** What the server lists instead of the model. Else empty. */
  readonly models: readonly string[];

  constructor(code: RemoteCode, message: string, details: Details = {}) {
    const { status, retryAfterMs, canRetry, host, seconds, models } = details;
    super(code, message, { canRetry: canRetry ?? !LASTING.includes(code) });
    this.name = 'RemoteError'; // a bundle renames the class
    this.status = status ?? null;
    this.retryAfterMs = retryAfterMs ?? null;
    this.host = host ?? null;
    this.seconds = seconds ?? null;
    this.models = models ?? [];
  }
}
