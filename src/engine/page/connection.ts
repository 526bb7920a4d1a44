// The page's hold on its worker: starts it, and finds out when it dies.

import { type Remote, wrap } from 'comlink';
import { VivaceError, WorkerError } from '../../errors';
import { fromFailure } from '../failure';
import type { LostMessage, WorkerApi } from '../protocol';
import { Heartbeat } from './heartbeat';
import { trustedScriptUrl } from './script_url';
import { workerSource } from './worker_source';

/** A new worker counts as dead after so long without an answer. A slow phone needs time to read 300 KB of code. */
const HANDSHAKE_MS = 15_000;
/** The wait for the report of a policy violation, which may follow the worker's error event and says more. */
const VIOLATION_MS = 200;
/** The time for a worker to put its storage in order before it ends. */
const LAST_CALL_MS = 1000;

/**
 * The whole address of a location: a worker from a blob has no base. A string that is no address comes back unchanged.
 */
export function absolute(location: string): string {
  const base = globalThis.document?.baseURI;
  return URL.canParse(location, base) ? new URL(location, base).href : location;
}

/** The error for a worker that did not start, with a remedy. */
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

/** A worker and its death. A call to a dead worker never settles, so every wait also listens for the death. */
export class Connection {
  readonly worker: Remote<WorkerApi>;
  /** The reason why the worker answers no more: it died, or its GPU is lost. Null while it works, and after `close`. */
  lost: VivaceError | null = null;
  /** Resolves with `lost` when the worker is lost. */
  readonly whenLost: Promise<VivaceError>;
  private resolveLost: (error: VivaceError) => void = () => {};
  /** The reason why the worker has ended: lost, closed or aborted. */
  private ended: Error | null = null;
  private readonly listeners = new Set<Listener>();
  /** Beats while anything waits for the worker. */
  private readonly heartbeat: Heartbeat;
  /**
   * Removes the listeners of the thread. Comlink keeps a thread while its proxy is held, and they hold it through
   * `this`.
   */
  private readonly over = new AbortController();

  private constructor(
    private readonly thread: Worker,
    url: string,
  ) {
    this.whenLost = new Promise((resolve) => {
      this.resolveLost = resolve;
    });
    this.worker = wrap<WorkerApi>(thread);
    this.heartbeat = new Heartbeat(
      () => this.worker.ping(),
      (seconds) => this.fail(died(`it gave no answer for ${seconds} seconds`)),
    );
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
    // Listens before the worker is created, because a browser may report during its creation.
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
      connection.waitForLock().catch(() => {}); // without Web Locks the beats suffice
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

  /** Calls `listener` when the worker ends, or at once if it has. Returns a function that takes the listener off. */
  onEnd(listener: Listener): () => void {
    if (this.ended) {
      listener(this.ended);
      return () => {};
    }
    this.listeners.add(listener);
    this.heartbeat.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.heartbeat.stop();
    };
  }

  /** Waits for the lock that the worker holds while it lives. A worker may end without a message. */
  private async waitForLock(): Promise<void> {
    const { locks } = navigator;
    const name = await this.worker.holdLock();
    if (name === null) return;
    // A lock that is already free is not the worker's: the browser keeps the locks of the two apart.
    if (await locks.request(name, { ifAvailable: true }, (lock) => lock !== null)) return;
    await locks.request(name, () => this.fail(died('the browser or a script ended it')));
  }

  private fail(error: VivaceError): void {
    if (this.ended) return;
    this.lost = error;
    this.end(error);
    this.resolveLost(error);
  }

  private end(error: Error): void {
    if (this.ended) return;
    this.ended = error;
    this.over.abort();
    this.thread.terminate();
    this.heartbeat.stop();
    for (const listener of this.listeners) listener(error);
    this.listeners.clear();
  }

  /** Ends the worker at once. */
  close(): void {
    this.end(new WorkerError('The engine was unloaded. Load a model again.'));
  }

  /** Ends the worker when `lastCall` has settled, after `LAST_CALL_MS` at the latest. */
  async closeAfter(lastCall: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, LAST_CALL_MS);
    });
    await Promise.race([this.alive(lastCall), late]).catch(() => {});
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
