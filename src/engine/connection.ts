// The engine's worker as clients hold it: how it is started, and how its death is heard.

import { type Remote, wrap } from 'comlink';
import { WorkerError } from '../errors';
import type { WorkerApi } from './protocol';
import { trustedScriptUrl } from './script_url';
import { workerSource } from './worker_source';

/** A worker that never answers counts as dead: long, since a slow phone needs time to read 300 KB of code. */
const HANDSHAKE_MS = 15_000;
/** The report of a policy's violation says more than the worker's error event, and may come after it. */
const VIOLATION_MS = 200;

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
  return new WorkerError(`The engine's worker did not start: ${why}. ${remedy}.`);
}

/** A worker and its death: a call to a dead worker would never settle, so every call goes through `alive`. */
export class Connection {
  readonly worker: Remote<WorkerApi>;
  private failure: Error | null = null;
  private readonly waiting = new Set<(error: Error) => void>();
  /** Ends what listens to the thread. Comlink keeps a thread while its proxy is held, and a listener would hold it through `this`. */
  private readonly over = new AbortController();

  private constructor(
    private readonly thread: Worker,
    url: string,
  ) {
    this.worker = wrap<WorkerApi>(thread);
    const onError = ({ message }: ErrorEvent) => {
      const error = message
        ? new WorkerError(`The engine's worker failed: ${message}. Reload the page.`)
        : noWorker(url, 'the browser does not say why');
      setTimeout(() => this.fail(error), message ? 0 : VIOLATION_MS);
    };
    thread.addEventListener('error', onError, { signal: this.over.signal });
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
    signal?.addEventListener('abort', () => connection.fail(signal.reason), { signal: over });
    try {
      await connection.alive(connection.worker.ping());
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      clearTimeout(silent);
    }
  }

  /** What `call` brings, or the worker's death, whichever is first. */
  async alive<T>(call: Promise<T>): Promise<T> {
    if (this.failure) throw this.failure;
    let die: (error: Error) => void = () => {};
    const death = new Promise<never>((_, reject) => {
      die = reject;
    });
    this.waiting.add(die);
    try {
      return await Promise.race([call, death]);
    } finally {
      this.waiting.delete(die);
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.over.abort();
    for (const die of this.waiting) die(this.failure);
  }

  close(): void {
    this.thread.terminate();
    this.fail(new WorkerError('The engine was unloaded. Load a model again.'));
  }
}

function start(url: string): Worker {
  const address = trustedScriptUrl(url);
  try {
    return new Worker(address, { type: 'module', name: 'vivace' });
  } catch (error) {
    throw noWorker(url, error instanceof Error ? error.message.replace(/\.$/, '') : String(error));
  }
}
