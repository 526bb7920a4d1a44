// Keeps a model loaded. A lost GPU, a dead worker and a hung worker all mean the same: a new worker loads the same
// model again, and the requests go on there. Decides how often, with which options, and when to give up.

import { VivaceError, WorkerError } from '../../../errors';
import type { AnswerForm } from '../../../text/answer/answer_form';
import type { Health } from '../../health';
import type {
  EngineInfo,
  GenerateInput,
  LoadOptions,
  LoadProgress,
  TokenizedInput,
  TokenizeOptions,
  TokenizeResult,
  Warning,
} from '../../protocol';
import { Connection } from './connection';
import type { EngineHost, Waiting } from './host';
import { type LoadInput, loadIn } from './loading';
import { isHidden, onPhoneHidden } from './phone';
import { ThreadLost } from './threads';
import { wait } from './wait';

const MINUTE_MS = 60_000;
/** Losses that count, and how many of them the engine recovers from. */
const WINDOW_MS = 10 * MINUTE_MS;
const MOST_LOSSES = 3;
/**
 * The pauses before the further tries of a load that failed for a reason that may pass, such as the network. Short
 * memory gets one further try, with half of the context.
 */
const RETRY_MS = [2000, 8000];
/** Tries to get a GPU back that the model needs. Chromium blocks a site for two minutes after repeated crashes. */
const REFUSED_MS = 3 * MINUTE_MS;
const REFUSED_RETRY_MS = 10_000;
/** Tries to get a GPU back while the CPU answers: at first often, after a while rarely. */
const OFTEN_MS = 15_000;
const OFTEN_TRIES = 40;
const RARELY_MS = MINUTE_MS;
/** Ids that a shortened context must hold beyond those of the answer that runs. */
const LEAST_ROOM = 256;

/** Parameters that the CPU of a slow phone computes in a millisecond. */
const CPU_PER_MS = 50_000;

const GPU_LOSSES = ['device-lost', 'gpu-memory', 'gpu-program'];
const BLOCKED = 'The browser grants no GPU now: Chromium blocks it after repeated crashes, usually for two minutes.';
const ON_CPU = 'The model runs on the CPU meanwhile, slowly.';

const SPARED: Warning = {
  code: 'chats-not-kept',
  message: 'Memory ran out: only the newest chat is kept, so going back takes longer.',
};

/** The end of a worker on the CPU, because another has the model on the GPU. */
export const MOVED = new WorkerError('The GPU is back, and the model has moved there. Call again.');

type OnProgress = (progress: LoadProgress) => unknown;

export class Supervisor implements EngineHost {
  info!: EngineInfo;
  form: AnswerForm | null = null;
  health: Health = { state: 'well' };
  lost: VivaceError | null = null;
  readonly whenLost: Promise<VivaceError>;
  news = '';
  readonly listeners = new Set<(health: Health) => void>();
  readonly running = new Set<{ readonly length: number }>();
  /** Null while it recovers. */
  private connection: Connection | null = null;
  /** A worker without a model, for the next load. */
  private spare: Connection | null = null;
  /** Resolves when the workers of all loads so far have ended. */
  private gone = Promise.resolve();
  /** The moments of the newest losses. */
  private losses: number[] = [];
  private contextLength: number | undefined;
  private shortened: Warning | null = null;
  /** Keeps no conversations beside the cache any more, since memory ran out with some. */
  private spared: Warning | null = null;
  /** No threads beside the worker that loads: one of them has died. */
  private loadsAlone = false;
  private hadGpu = false;
  private isPaused = false;
  /** Ends the search for a GPU, if one runs. */
  private search: AbortController | null = null;
  private readonly waiting = new Set<Waiting>();
  private readonly over = new AbortController();
  private resolveLost: (error: VivaceError) => void = () => {};

  private constructor(
    private readonly input: LoadInput,
    private onProgress: OnProgress,
  ) {
    this.whenLost = new Promise((resolve) => {
      this.resolveLost = resolve;
    });
  }

  /** @throws the error of the load, or of a loss too many; the reason of `signal` */
  static async load(input: LoadInput, onProgress: OnProgress, signal?: AbortSignal): Promise<Supervisor> {
    signal?.throwIfAborted();
    const made = new Supervisor(input, onProgress);
    const abort = () => made.end(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      await made.open(null);
    } catch (error) {
      made.end(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    made.onProgress = () => {};
    onPhoneHidden((isHidden) => {
      made.isPaused = isHidden;
      made.connection?.pause(isHidden);
    }, made.over.signal);
    return made;
  }

  whenReady(waiting: Waiting): () => void {
    const { signal } = this.over;
    if (this.connection) waiting.begin(this.connection);
    else if (signal.aborted) waiting.fail(signal.reason);
    else this.waiting.add(waiting);
    return () => void this.waiting.delete(waiting);
  }

  /** Asks the worker, and after a recovery again. */
  async tokenize(input: GenerateInput, options: TokenizeOptions): Promise<TokenizedInput> {
    for (;;) {
      await new Promise<unknown>((begin, fail) => void this.whenReady({ begin, fail }));
      const { connection } = this;
      if (!connection) continue;
      try {
        const result = await connection.alive(connection.worker.tokenize(input, options) as Promise<TokenizeResult>);
        if ('type' in result) throw await connection.explain(result);
        return result;
      } catch (error) {
        if (error !== connection.lost) throw error;
      }
    }
  }

  /** Ends everything, a recovery too. Resolves when no worker is left, within a second. */
  async unload(): Promise<void> {
    const { connection } = this;
    this.listeners.clear();
    this.end(new WorkerError('The engine was unloaded. Load a model again.'));
    void connection?.closeAfter(connection.worker.unload());
    await this.gone;
  }

  private end(reason: unknown): void {
    this.connection = null;
    this.over.abort(reason);
    this.search?.abort(reason);
    this.spare?.close();
    for (const { fail } of this.waiting) fail(this.over.signal.reason);
    this.waiting.clear();
  }

  /** Loads until a worker has the model. `cause` is the loss that made it necessary, null for the first load. */
  private async open(cause: VivaceError | null): Promise<void> {
    const { signal } = this.over;
    let tries = 0;
    let refusedUntil = 0;
    for (;;) {
      let connection: Connection | null = null;
      try {
        if (cause) this.tell({ state: 'recovering', cause, loss: this.losses.length, progress: null });
        connection = await this.newWorker(signal);
        const info = await this.loadIn(connection, {}, this.report(cause), signal);
        return this.settle(connection, info, cause);
      } catch (thrown) {
        signal.throwIfAborted();
        const error = asTyped(thrown);
        if (thrown instanceof ThreadLost) this.loadsAlone = true;
        else if ('isPartMissing' in error && error === connection?.lost)
          continue; // the next one has all parts
        else if (isLoss(error, connection)) {
          cause = error;
          this.count(cause);
        } else if (!cause) throw thrown;
        else {
          refusedUntil ||= Date.now() + REFUSED_MS;
          const isShort = error.code.endsWith('memory');
          const most = isShort ? 1 : RETRY_MS.length;
          const isPassing = error.canRetry ? tries < most : Date.now() < refusedUntil && this.mayPass(error);
          if (!isPassing || this.isBanned) throw error.canRetry ? error : this.tooMuch(cause, error);
          if (isShort) this.shorten(error);
          await wait(error.canRetry ? RETRY_MS[tries++] : REFUSED_RETRY_MS, signal);
        }
      }
    }
  }

  /** A load with the options of now. */
  private loadIn(connection: Connection, more: LoadOptions, onProgress: OnProgress, signal: AbortSignal) {
    connection.onLost = () => this.keepSecond(connection);
    const { input, contextLength, loadsAlone, gone } = this;
    this.gone = connection.gone.then(() => gone);
    const options = { ...input.options, ...more };
    if (contextLength !== undefined) options.contextLength = contextLength;
    if (this.spared) options.kvBudgetBytes = 0;
    if (this.isBanned) options.backend = 'cpu';
    if (options.cache === 'check' && this.losses.length > 0) options.cache = true; // the version that runs
    // Answers go on with the arithmetic that they began with.
    const before = this.info?.arithmetic ?? input.before;
    return loadIn(connection, { ...input, options, isAlone: loadsAlone, before }, onProgress, signal);
  }

  /** True for a lasting error that comes of a GPU that is refused for a while: the model has run, or none is there. */
  private mayPass(error: VivaceError): boolean {
    return Boolean(this.info) || error.code === 'webgpu-unavailable';
  }

  private report(cause: VivaceError | null): OnProgress {
    return (progress) => {
      if (cause) this.tell({ state: 'recovering', cause, loss: this.losses.length, progress });
      return this.onProgress(progress);
    };
  }

  /** Goes on with a loaded model, perhaps on the CPU. */
  private settle(connection: Connection, info: EngineInfo, cause: VivaceError | null): void {
    const isFirst = !this.info;
    const isWithoutGpu = this.isAuto && this.hadGpu && info.backend === 'cpu';
    const why = this.isBanned ? `The GPU was lost ${this.losses.length} times in ten minutes.` : BLOCKED;
    if (cause) this.news = `${plain(cause)} ${isWithoutGpu ? `${why} ${ON_CPU}` : 'The model was loaded again.'}`;
    if (cause && isFirst) info.warnings.push({ code: cause.code, message: this.news });
    for (const warning of [this.spared, this.shortened]) if (warning) info.warnings.push(warning);
    this.use(connection, info, this.over.signal);
    if (isWithoutGpu) void this.seekGpu(new VivaceError('webgpu-unavailable', this.news)).catch(() => {});
    else if (cause) this.tell({ state: 'well' });
    this.begin();
  }

  private use(connection: Connection, info: EngineInfo, signal: AbortSignal): void {
    if (signal.aborted) connection.close();
    signal.throwIfAborted();
    if (connection.lost) throw connection.lost;
    connection.onLost = () => {
      if (connection !== this.connection) return;
      this.keepSecond(connection);
      void this.recover(connection.lost as VivaceError, connection.hadParked);
    };
    this.info = info;
    this.form = connection.form;
    this.connection = connection;
    this.hadGpu ||= info.backend === 'webgpu';
    if (info.backend === 'cpu') {
      const tokens = info.embeddings.only ? info.contextLength : 1; // at a time
      connection.blocksMs = (info.model.parameters * tokens) / CPU_PER_MS;
    }
    if (this.isPaused) connection.pause(true);
  }

  private begin(): void {
    for (const waiting of this.waiting) {
      if (!this.connection) break;
      this.waiting.delete(waiting);
      waiting.begin(this.connection);
    }
  }

  private async recover(cause: VivaceError, hadParked: boolean): Promise<void> {
    this.connection = null;
    this.search?.abort();
    this.search = null; // its reason keeps the stack of this call, and so the dead worker
    try {
      this.count(cause, hadParked);
      await this.open(cause);
    } catch (thrown) {
      if (this.over.signal.aborted) return;
      const error = asTyped(thrown);
      this.lost = error;
      this.end(error);
      this.tell({ state: 'lost', cause: error });
      this.resolveLost(error);
    }
  }

  /** Looks for a GPU while the CPU answers, and moves there. */
  private async seekGpu(cause: VivaceError): Promise<void> {
    this.search = new AbortController();
    const { signal } = this.search;
    for (let tries = 0; ; tries++) {
      const nextTryAt = Math.max(this.bannedUntil, Date.now() + (tries < OFTEN_TRIES ? OFTEN_MS : RARELY_MS));
      this.tell({ state: 'without-gpu', cause, nextTryAt });
      await wait(nextTryAt - Date.now(), signal);
      if (!isHidden() && (await this.move(signal))) return;
    }
  }

  /** Loads the model on the GPU in a new worker, if the browser grants one. Returns whether it did. */
  private async move(signal: AbortSignal): Promise<boolean> {
    let next: Connection | null = null;
    try {
      next = await this.newWorkerWithGpu(signal);
      if (!next) return false;
      const info = await this.loadIn(next, { backend: 'webgpu' }, () => {}, signal);
      const old = this.connection;
      this.use(next, info, signal);
      this.news = MOVED.message;
      old?.lose(MOVED);
      this.tell({ state: 'well' });
      return true;
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof ThreadLost) this.loadsAlone = true;
      else if (isLoss(asTyped(thrown), next)) this.losses.push(Date.now());
      return false;
    }
  }

  private async newWorkerWithGpu(signal: AbortSignal): Promise<Connection | null> {
    const next = await this.newWorker(signal);
    const granted = next.alive(next.worker.hasGpu());
    if (await Promise.race([granted, wait(OFTEN_MS, signal)]).catch(() => false)) return next;
    next.close();
    return null;
  }

  /** Keeps the worker that showed that another hangs, unless one is kept or nothing loads any more. */
  private keepSecond(connection: Connection): void {
    if (!this.over.signal.aborted) this.spare ??= connection.takeSecond();
  }

  private async newWorker(signal: AbortSignal): Promise<Connection> {
    const { spare } = this;
    this.spare = null;
    return spare && !spare.lost ? spare : Connection.open(this.input.workerUrl, signal);
  }

  /**
   * Counts a loss, and decides what to load after it. Short memory costs the conversations beside the cache first.
   * @throws the error of a loss too many
   */
  private count(cause: VivaceError, hadParked = false): void {
    const now = Date.now();
    this.losses = [...this.losses.filter((at) => now - at < WINDOW_MS), now];
    const isGpu = GPU_LOSSES.includes(cause.code);
    this.hadGpu ||= isGpu;
    if (this.isBanned && !(isGpu && this.isAuto)) throw this.tooMuch(cause);
    if (cause.code !== 'gpu-memory' || this.isBanned) return;
    if (hadParked && !this.spared) this.spared = SPARED;
    else this.shorten(cause);
  }

  /** The moment from which on a GPU may be used again after too many losses. */
  private get bannedUntil(): number {
    return (this.losses.at(-1 - MOST_LOSSES) ?? Number.NEGATIVE_INFINITY) + WINDOW_MS;
  }

  private get isBanned(): boolean {
    return Date.now() < this.bannedUntil;
  }

  private get isAuto(): boolean {
    return (this.input.options.backend ?? 'auto') === 'auto';
  }

  /** Halves the context, which must still hold the answers that run. */
  private shorten(cause: VivaceError): void {
    if (!this.info) return; // the first load fits the context to the memory by itself
    const from = this.info.contextLength;
    const to = Math.floor(from / 2);
    const needed = Math.max(0, ...[...this.running].map(({ length }) => length)) + LEAST_ROOM;
    if (to < needed) {
      const why = `Half of the context of ${from} tokens is less than the ${needed} needed.`;
      throw new VivaceError(cause.code, `${cause.message} ${why} Close other pages, or choose a smaller model.`);
    }
    this.contextLength = to;
    const message = `Memory ran out: the context was shortened from ${from} to ${to} tokens.`;
    this.shortened = { code: 'context-shortened', message, facts: { contextLength: to, asked: from } };
  }

  /** The error of a loss that the engine does not recover from, `more` because loading failed. */
  private tooMuch(cause: VivaceError, more?: VivaceError): VivaceError {
    const often = `${cause.message} That was loss ${this.losses.length} in ten minutes: the model stays unloaded.`;
    const remedy = GPU_LOSSES.includes(cause.code)
      ? 'Close other pages that use the GPU, or restart the browser. Then load the model again, or with backend cpu.'
      : 'Reload the page; if that does not help, choose a smaller model.';
    return new VivaceError((more ?? cause).code, [often, ...(more ? [more.message] : []), remedy].join(' '), {
      canRetry: true,
    });
  }

  private tell(health: Health): void {
    this.health = health;
    for (const listener of this.listeners) listener(health);
  }
}

/** The message without the browser's own words for a lost GPU, which say little to people. */
function plain({ code, message }: VivaceError): string {
  return code === 'device-lost' ? message.replace(/ \(.*\)\.$/s, '.') : message;
}

function asTyped(thrown: unknown): VivaceError {
  return thrown instanceof VivaceError
    ? thrown
    : new VivaceError('internal', thrown instanceof Error ? thrown.message : String(thrown));
}

/** True if a load ended with its worker or its GPU. */
function isLoss(error: VivaceError, connection: Connection | null): boolean {
  return error === connection?.lost || error.code === 'device-lost';
}
