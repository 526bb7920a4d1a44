// The engine's worker as clients hold it: how it is started, and how its death is heard.

import { type Remote, wrap } from 'comlink';
import { VivaceError, WorkerError } from '../../errors';
import { fromFailure } from '../failure';
import type { LostMessage, WorkerApi } from '../protocol';
import { trustedScriptUrl } from './script_url';
import { workerSource } from './worker_source';

/** A worker that never answers counts as dead: long, since a slow phone needs time to read 300 KB of code. */
const HANDSHAKE_MS = 15_000;
/** The report of a policy's violation says more than the worker's error event, and may come after it. */
const VIOLATION_MS = 200;
/** While the page waits for a worker, the worker is asked so often whether it lives. */
const BEAT_MS = 10_000;
/** Beats without an answer after which a worker counts as dead: one token of a large model on the CPU takes seconds. */
const MOST_UNANSWERED = 6;
/** A worker that is to end may put its storage in order for so long. */
const LAST_WORDS_MS = 1000;

/** The worker may have no base of its own (a blob), so it gets whole addresses; what is none it refuses with a sentence. */
export function absolute(location: string): string {
  const base = globalThis.document?.baseURI;
  return URL.canParse(location, base) ? new URL(location, base).href : location;
}

/** Why there is no worker, and what to do. */
function noWorker(url: string, why: string, directive = ''): WorkerError {
  const isBlob = url.startsWith('blob:');
  const remedy = directive
    ? `Add "${directive} ${isBlob ? 'blob:' : new URL(url).origin}" to it${isBlob ? ", or name vivace_worker.js of the page's own origin (data-worker, workerUrl)" : ''}`
    : isBlob
      ? 'Reload the page'
      : `${url} must be vivace_worker.js of this version, on the page's own origin`;
  return new WorkerError(`The engine's worker did not start: ${why}. ${remedy}.`, { canRetry: isBlob && !directive });
}

type Listener = (error: Error) => void;

/** A worker and its death: a call to a dead worker would never settle, so whoever waits for one listens for its death. */
export class Connection {
  readonly worker: Remote<WorkerApi>;
  /** Why the worker answers nothing any more: it died, or its GPU is lost. Null while it works, and after `close`. */
  lost: VivaceError | null = null;
  /** Resolves with `lost`, if it ever comes to that. */
  readonly whenLost: Promise<VivaceError>;
  private tellLost: (error: VivaceError) => void = () => {};
  /** Why nothing may be asked any more. */
  private ended: Error | null = null;
  private readonly listeners = new Set<Listener>();
  /** Asks the worker whether it lives, while somebody waits for it. */
  private heart: ReturnType<typeof setInterval> | undefined;
  private unanswered = 0;
  /** Ends what listens to the thread. Comlink keeps a thread while its proxy is held, and a listener would hold it through `this`. */
  private readonly over = new AbortController();

  private constructor(
    private readonly thread: Worker,
    url: string,
  ) {
    this.whenLost = new Promise((resolve) => {
      this.tellLost = resolve;
    });
    this.worker = wrap<WorkerApi>(thread);
    const { signal } = this.over;
    const onMessage = ({ data }: MessageEvent<Partial<LostMessage> | null>) => {
      const error = data?.lost && fromFailure(data.lost);
      if (error instanceof VivaceError) this.fail(error);
    };
    thread.addEventListener('message', onMessage, { signal });
    const onError = ({ message }: ErrorEvent) => {
      const error = message ? died(`it failed with "${message}"`) : noWorker(url, 'the browser does not say why');
      setTimeout(() => this.fail(error), message ? 0 : VIOLATION_MS);
    };
    thread.addEventListener('error', onError, { signal });
  }

  /**
   * Starts a worker and waits until it answers.
   * @throws WorkerError that names what stopped it; the reason of `signal`
   */
  static async open(workerUrl?: string, signal?: AbortSignal): Promise<Connection> {
    const isOwn = workerUrl === undefined;
    const url = isOwn
      ? URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }))
      : absolute(workerUrl);
    const over = new AbortController();
    try {
      return await Connection.greet(url, over.signal, signal);
    } finally {
      over.abort();
      if (isOwn) URL.revokeObjectURL(url);
    }
  }

  private static async greet(url: string, over: AbortSignal, signal?: AbortSignal): Promise<Connection> {
    let heard: (event: SecurityPolicyViolationEvent) => void = () => {};
    // Listens before the worker is made: a browser may report while it is.
    globalThis.document?.addEventListener('securitypolicyviolation', (event) => heard(event), { signal: over });
    const connection = new Connection(start(url), url);
    heard = ({ effectiveDirective, blockedURI }) => {
      if (effectiveDirective !== 'worker-src' || !url.startsWith(blockedURI)) return;
      connection.fail(noWorker(url, "the page's Content-Security-Policy forbids it", effectiveDirective));
    };
    const silent = setTimeout(() => {
      connection.fail(noWorker(url, `no answer within ${HANDSHAKE_MS / 1000} seconds`));
    }, HANDSHAKE_MS);
    signal?.addEventListener('abort', () => connection.end(signal.reason), { signal: over });
    try {
      await connection.alive(connection.worker.ping());
      connection.waitForLock().catch(() => {}); // without Web Locks the beats have to do
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      clearTimeout(silent);
    }
  }

  /** The result of `call`, or the worker's death if that comes first: a dead worker answers no call. */
  alive<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const ignore = this.onEnd(reject);
      call.then(resolve, reject).finally(ignore);
    });
  }

  /** Tells `listener` when the worker ends, or at once where it did, until the function that comes back is called. */
  onEnd(listener: Listener): () => void {
    if (this.ended) {
      listener(this.ended);
      return () => {};
    }
    this.listeners.add(listener);
    this.heart ??= setInterval(() => this.beat(), BEAT_MS);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.rest();
    };
  }

  /** Counts beats, not time: a machine that slept finds its worker alive. */
  private beat(): void {
    if (this.unanswered++ === 0) void this.hearPulse();
    if (this.unanswered > MOST_UNANSWERED) {
      this.fail(died(`it gave no answer for ${(MOST_UNANSWERED * BEAT_MS) / 1000} seconds`));
    }
  }

  /** Waits for the lock that the worker holds while it lives: a worker may end without a word. */
  private async waitForLock(): Promise<void> {
    const { locks } = navigator;
    const name = await this.worker.holdLock();
    if (name === null) return;
    // A lock that is free already is not the one that the worker holds: the browser keeps the two apart.
    if (await locks.request(name, { ifAvailable: true }, (lock) => lock !== null)) return;
    await locks.request(name, () => this.fail(died('the browser or a script ended it')));
  }

  private async hearPulse(): Promise<void> {
    await this.worker.ping();
    this.unanswered = 0;
  }

  private rest(): void {
    clearInterval(this.heart);
    this.heart = undefined;
    this.unanswered = 0;
  }

  private fail(error: VivaceError): void {
    if (this.ended) return;
    this.lost = error;
    this.end(error);
    this.tellLost(error);
  }

  private end(error: Error): void {
    if (this.ended) return;
    this.ended = error;
    this.over.abort();
    this.thread.terminate();
    this.rest();
    for (const listener of this.listeners) listener(error);
    this.listeners.clear();
  }

  /** Ends the worker at once. */
  close(): void {
    this.end(new WorkerError('The engine was unloaded. Load a model again.'));
  }

  /** Ends the worker when it has settled `lastWords`, or when that takes too long. */
  async closeAfter(lastWords: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, LAST_WORDS_MS);
    });
    await Promise.race([this.alive(lastWords), late]).catch(() => {});
    clearTimeout(timer);
    this.close();
  }
}

function died(how: string): WorkerError {
  return new WorkerError(`The engine's worker ended: ${how}. Load the model again.`);
}

function start(url: string): Worker {
  const address = trustedScriptUrl(url);
  try {
    return new Worker(address, { type: 'module', name: 'vivace' });
  } catch (error) {
    throw noWorker(url, error instanceof Error ? error.message.replace(/\.$/, '') : String(error));
  }
}
