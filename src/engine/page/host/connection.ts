// The page's hold on its worker: starts it, and finds out when it dies.

import { type Remote, transfer, wrap } from 'comlink';
import { VivaceError, WorkerError } from '../../../errors';
import { abortable } from '../../../shared/abortable';
import type { AnswerForm } from '../../../text/answer/answer_form';
import { callError, fromFailure } from '../../failure';
import type { LostMessage, PartMessage, PatienceMessage, PortMessages, WorkerApi, WorkerFailure } from '../../protocol';
import { ownPart, ownWholeWorker, ownWorker } from '../worker_code/own_worker';
import { trustedScriptUrl } from '../worker_code/script_url';
import { Heartbeat } from './heartbeat';
import type { HostConnection, Receiver, Sent, WorkerRequest } from './host';
import { isHidden } from './phone';
import { wait } from './wait';

/** A new worker counts as dead after so long without an answer. A slow phone needs time to read 300 KB of code. */
const HANDSHAKE_MS = 15_000;
/** The wait for the lock of a new worker, in browsers whose locks hang. */
const LOCK_MS = 1000;
/** The wait for the report of a policy violation, which may follow the worker's error event and says more. */
const VIOLATION_MS = 200;
/** The time for a worker to put its storage in order before it ends. */
const LAST_CALL_MS = 900;
/** Workers of this page that put their storage in order before they end. */
const endings = new Set<Promise<void>>();
/** The silence that a load may keep. */
const LOAD_MS = 30_000;
/** The longest patience that a worker gets. */
const MOST_PATIENCE_MS = 300_000;
/** The silence after which a worker is dead, if no other starts that could tell a hung worker from a busy machine. */
const SILENT_MS = 60_000;

/** Resolves when no worker of this page writes its last to storage any more. Never throws. */
export async function storageSettled(): Promise<void> {
  await Promise.all(endings);
}

/**
 * The whole address of a location: a worker from a blob has no base. A string that is no address comes back unchanged,
 * and so does a blank one, which `URL` reads as the page's own address.
 */
export function absolute(given: string): string {
  const base = globalThis.document?.baseURI;
  const location = String(given); // a caller without types may pass a URL
  return location.trim() !== '' && URL.canParse(location, base) ? new URL(location, base).href : location;
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
export class Connection implements HostConnection {
  readonly worker: Remote<WorkerApi>;
  /** The reason why the worker answers no more: it died, or its GPU is lost. Null while it works, and after `close`. */
  lost: VivaceError | null = null;
  /** The form of the loaded model's answers. */
  form: AnswerForm | null = null;
  /** True if the worker kept conversations beside its cache when it lost its GPU. */
  hadParked = false;
  /** Runs when the worker is lost. */
  onLost: () => void = () => {};
  /** Resolves when the worker has ended. */
  readonly gone: Promise<void>;
  /** No beats, because the worker may be asleep with its page. */
  private isPaused = false;
  /** The worker that answered while this one was silent. */
  private second: Connection | null = null;
  private isAsking = false;
  /** The reason why the worker has ended: lost, closed or aborted. */
  private ended: Error | null = null;
  private resolveGone: () => void = () => {};
  private readonly listeners = new Set<Listener>();
  private readonly heartbeat: Heartbeat;
  /**
   * Removes the listeners of the thread. Comlink keeps a thread while its proxy is held, and they hold it through
   * `this`.
   */
  private readonly over = new AbortController();

  private constructor(
    private readonly thread: Worker,
    url: string,
    private readonly workerUrl?: string,
  ) {
    this.worker = wrap<WorkerApi>(thread);
    this.gone = new Promise((resolve) => {
      this.resolveGone = resolve;
    });
    this.heartbeat = new Heartbeat(
      () => this.worker.ping(),
      () => !this.isPaused && (this.listeners.size > 0 || !isHidden()),
      (silentMs) => this.onSilence(silentMs),
    );
    const { signal } = this.over;
    const onMessage = ({ data }: MessageEvent<Partial<LostMessage & PatienceMessage & PartMessage> | null>) => {
      this.hear();
      if (data?.patienceMs !== undefined) this.heartbeat.patienceMs = Math.min(data.patienceMs, MOST_PATIENCE_MS);
      if (data?.part !== undefined) void this.handOver(data.part);
      if (data?.lost) this.hadParked = Number(data.parkedBytes) > 0;
      const error = data?.lost && fromFailure(data.lost);
      if (error instanceof VivaceError) this.lose(error);
    };
    thread.addEventListener('message', onMessage, { signal });
    const onError = ({ message }: ErrorEvent) => {
      const error = message ? died(`it failed with "${message}"`) : noWorker(url, 'the browser does not say why');
      setTimeout(() => this.lose(error), message ? 0 : VIOLATION_MS);
    };
    thread.addEventListener('error', onError, { signal });
  }

  /**
   * Starts a worker and waits until it answers.
   * @throws WorkerError that names what stopped it; the reason of `signal`
   */
  static async open(workerUrl?: string, signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    const isOwn = workerUrl === undefined;
    const url = isOwn ? URL.createObjectURL(await abortable(ownWorker(), signal)) : absolute(workerUrl);
    signal?.throwIfAborted();
    const over = new AbortController();
    try {
      return await Connection.greet(url, over.signal, workerUrl, signal);
    } finally {
      over.abort();
      if (isOwn) URL.revokeObjectURL(url);
    }
  }

  private static async greet(
    url: string,
    over: AbortSignal,
    workerUrl?: string,
    signal?: AbortSignal,
  ): Promise<Connection> {
    let heard: (event: SecurityPolicyViolationEvent) => void = () => {};
    // Listens before the worker is created, because a browser may report during its creation.
    globalThis.document?.addEventListener('securitypolicyviolation', (event) => heard(event), { signal: over });
    const connection = new Connection(start(url), url, workerUrl);
    heard = ({ effectiveDirective, blockedURI }) => {
      if (effectiveDirective !== 'worker-src' || !url.startsWith(blockedURI)) return;
      connection.lose(noWorker(url, "the page's Content-Security-Policy forbids it", effectiveDirective));
    };
    const silent = setTimeout(() => {
      connection.lose(noWorker(url, `no answer within ${HANDSHAKE_MS / 1000} seconds`));
    }, HANDSHAKE_MS);
    signal?.addEventListener('abort', () => connection.end(signal.reason), { signal: over });
    try {
      await connection.alive(connection.worker.ping());
      connection.heartbeat.start();
      // Before any work: of a worker that ends without its lock only a long silence would tell.
      await Promise.race([connection.waitForLock(), wait(LOCK_MS, over)]).catch(() => {}); // without locks the beats do
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

  /** Sends a request to the worker. The worker's death is told to `onEnd` alone. */
  send(request: WorkerRequest, receiver: Receiver): Sent {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<PortMessages<object>>) => {
      this.hear();
      const failure = data.find(isFailure);
      const messages = failure ? data.filter((message) => message !== failure) : data;
      if (messages.length > 0) receiver.hear(messages);
      if (failure) void this.fail(failure, receiver);
    };
    this.begin(request, transfer(port2, [port2])).catch((error) => receiver.fail(callError(error)));
    const stop = () => port1.postMessage('stop');
    const close = () => {
      stop();
      port1.close();
    };
    return { stop, close };
  }

  private async begin({ kind, body }: WorkerRequest, port: MessagePort): Promise<void> {
    const ask = this.worker[kind] as (body: object, port: MessagePort) => Promise<void>;
    return ask(body, port);
  }

  private async fail(failure: WorkerFailure, receiver: Receiver): Promise<void> {
    receiver.fail(await this.explain(failure));
  }

  /** Calls `listener` when the worker ends, or at once if it has. Returns a function that takes the listener off. */
  onEnd(listener: Listener): () => void {
    if (this.ended) {
      listener(this.ended);
      return () => {};
    }
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * The error of a request. Ends this connection if it comes of the loss of the GPU, whose own news may be on its way.
   * They come before the answer to a ping. Also if the worker lacks a part that the next one will have.
   */
  async explain(failure: WorkerFailure): Promise<Error> {
    const error = fromFailure(failure);
    const { code, details } = failure;
    if (details.isPartMissing && this.workerUrl === undefined && (await ownWholeWorker()))
      this.lose(error as VivaceError);
    else if (code === 'device-lost') this.lose(error as VivaceError);
    else if (code?.startsWith('gpu-')) await this.alive(this.worker.ping()).catch(() => {});
    return error;
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    void this.worker.pause(isPaused);
  }

  private async handOver(part: string): Promise<void> {
    const code = await ownPart(part);
    this.thread.postMessage({ part, code });
  }

  /** Notes a sign of life that came by another way than the worker's own messages. */
  hear(): void {
    this.heartbeat.hear();
  }

  /** A model that computes in the worker's own thread blocks it for so long. */
  set blocksMs(ms: number) {
    this.heartbeat.leastMs = Math.min(ms, SILENT_MS);
  }

  set isLoading(isLoading: boolean) {
    this.heartbeat.leastMs = isLoading ? LOAD_MS : 0;
  }

  /** The worker that was started to find out that this one hangs. The caller's from then on. */
  takeSecond(): Connection | null {
    const { second } = this;
    this.second = null;
    return second;
  }

  /**
   * Starts another worker, because only a machine with time to answer there shows that this one hangs. Dead is the one
   * that is silent longer.
   */
  private async onSilence(silentMs: number): Promise<void> {
    const dead = () => this.lose(died(`it gave no answer for ${silentMs / 1000} seconds`));
    if (silentMs >= Math.max(SILENT_MS, 2 * this.heartbeat.patienceMs)) return dead();
    if (this.isAsking) return;
    this.isAsking = true;
    const other = await Connection.open(this.workerUrl, this.over.signal).catch(() => null);
    this.isAsking = false;
    if (!other) return;
    this.second = other;
    if (this.heartbeat.isSuspect) dead();
    this.takeSecond()?.close();
  }

  /** Queues for the lock that the worker holds while it lives. A worker may end without a message. */
  private async waitForLock(): Promise<void> {
    const { locks } = navigator;
    const name = await this.alive(this.worker.holdLock());
    if (name === null) return;
    // A lock that is already free is not the worker's: the browser keeps the locks of the two apart.
    if (await locks.request(name, { ifAvailable: true }, (lock) => lock !== null)) return;
    locks.request(name, () => this.lose(died('the browser or a script ended it'))).catch(() => {});
  }

  /** Ends the worker for `error`. */
  lose(error: VivaceError): void {
    if (this.ended) return;
    this.lost = error;
    this.end(error);
    this.onLost();
  }

  private end(error: Error): void {
    if (this.ended) return;
    this.ended = error;
    this.over.abort();
    this.thread.terminate();
    this.heartbeat.stop();
    for (const listener of this.listeners) listener(error);
    this.listeners.clear();
    this.resolveGone();
  }

  /** Ends the worker at once. */
  close(): void {
    this.end(new WorkerError('The engine was unloaded. Load a model again.'));
  }

  /** Ends the worker when `lastCall` has settled, after `LAST_CALL_MS` at the latest. */
  closeAfter(lastCall: Promise<unknown>): Promise<void> {
    const ending = this.waitAndClose(lastCall).finally(() => endings.delete(ending));
    endings.add(ending);
    return ending;
  }

  private async waitAndClose(lastCall: Promise<unknown>): Promise<void> {
    this.heartbeat.stop(); // the silence of a worker that ends starts no other
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, LAST_CALL_MS);
    });
    await Promise.race([this.alive(lastCall), late]).catch(() => {});
    clearTimeout(timer);
    this.close();
  }
}

function isFailure(message: object): message is WorkerFailure {
  return 'type' in message && message.type === 'error';
}

function died(how: string): WorkerError {
  return new WorkerError(`The engine's worker ended: ${how}.`);
}

function start(url: string): Worker {
  const address = trustedScriptUrl(url);
  try {
    return new Worker(address, { type: 'module', name: 'vivace' });
  } catch (error) {
    throw noWorker(url, error instanceof Error ? error.message.replace(/\.$/, '') : String(error));
  }
}
