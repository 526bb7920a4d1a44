// What an engine asks of whoever has its model: a supervisor of workers in this page, or another tab (vivace/tabs).
// Types only.

import type { VivaceError } from '../../../errors';
import type { AnswerForm } from '../../../text/answer/answer_form';
import type { Health } from '../../health';
import type {
  EmbedRequest,
  EngineInfo,
  GenerateInput,
  GenerateRequest,
  TokenizedInput,
  TokenizeOptions,
} from '../../protocol';

/** The kinds of work that are answered with messages, as they may take long. */
export type WorkerRequest =
  | { kind: 'generate'; body: GenerateRequest }
  | { kind: 'embed'; body: EmbedRequest }
  /** `options`: those that the page does not know. */
  | { kind: 'tune' | 'roofline'; body: { options: object } };

/** Receives what comes for one request. */
export interface Receiver {
  /** Messages that belong together, in order. */
  hear(messages: readonly object[]): void;
  /** The last of all. */
  fail(error: unknown): void;
}

/** A request that was sent. */
export interface Sent {
  /** Asks for the end of the work. Its last messages still come. */
  stop(): void;
  /** Stops the work. Nothing comes any more. */
  close(): void;
}

/** The way to a model that works, until it is lost. */
export interface HostConnection {
  /** The reason why nothing is answered here any more, if it was a loss. */
  readonly lost: VivaceError | null;
  send(request: WorkerRequest, receiver: Receiver): Sent;
  /** Calls `listener` at the end, or at once if it has come. Returns a function that takes the listener off. */
  onEnd(listener: (error: Error) => void): () => void;
}

export interface Waiting {
  begin(connection: HostConnection): void;
  fail(error: Error): void;
}

export interface EngineHost {
  /** The model as loaded last. */
  readonly info: EngineInfo;
  /** The form of the model's answers. */
  readonly form: AnswerForm | null;
  readonly health: Health;
  /** The reason why the engine answers no more. */
  readonly lost: VivaceError | null;
  readonly whenLost: Promise<VivaceError>;
  /** The last recovery in words. */
  readonly news: string;
  readonly listeners: Set<(health: Health) => void>;
  /** The answers that run, with the numbers of their ids. */
  readonly running: Set<{ readonly length: number }>;
  /**
   * Begins with the connection: at once, or when the engine has recovered. Fails with the reason why none comes.
   * Returns a function that ends the wait.
   */
  whenReady(waiting: Waiting): () => void;
  /** @throws `lost`, the error of an unloaded engine, and what the worker says of the input */
  tokenize(input: GenerateInput, options: TokenizeOptions): Promise<TokenizedInput>;
  unload(): Promise<void>;
}
