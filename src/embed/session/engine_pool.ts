// The engines that the chats of a page share: one for each model and its load options. The last holder unloads the
// engine.

import { Engine, type EngineLoadOptions, type EngineLoadProgress } from '../../engine/engine';
import { abortable } from '../../shared/abortable';
import { leavable } from './leavable';
import { loadShared } from './load_tabs';

export interface PoolOptions extends SharedLoadOptions {
  /** Called at the begin and the end of a wait for other requests, those that only wait for their turn aside. */
  onWaiting?: (isWaiting: boolean) => void;
}

interface SharedLoadOptions extends EngineLoadOptions {
  /** The tabs of the site have one engine. Where the part for it does not come, each has its own. */
  share?: boolean;
}

type LoadEngine = (model: string, options: SharedLoadOptions) => Promise<Engine>;

type Start<T> = (signal: AbortSignal) => AsyncGenerator<T, void, undefined>;

/** One engine with the state of its load, its holders and their requests. */
interface Entry {
  key: string;
  engine: Promise<Engine>;
  /** Null until the load has ended. */
  loaded: Engine | null;
  loading: AbortController;
  listeners: Set<(progress: EngineLoadProgress) => unknown>;
  progress: EngineLoadProgress | null;
  holders: number;
}

export class EnginePool {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly load: LoadEngine = loadEngine) {}

  /**
   * The engine of a model, loaded for its first holder. `unload()` of the returned engine ends this holder's requests
   * and releases the shared engine.
   * @throws the errors of Engine.load; an abort of `signal` ends the load only if no other holder waits for it
   */
  async acquire(model: string, options: PoolOptions = {}): Promise<Engine> {
    const { onProgress = () => {}, onWaiting = () => {}, signal, ...settings } = options;
    signal?.throwIfAborted();
    const entry = this.entryOf(model, settings);
    entry.holders++;
    entry.listeners.add(onProgress);
    try {
      if (entry.progress) onProgress(entry.progress);
      return this.lease(entry, await abortable(entry.engine, signal), onWaiting);
    } catch (error) {
      this.letGo(entry);
      throw error;
    } finally {
      entry.listeners.delete(onProgress);
    }
  }

  private entryOf(model: string, settings: SharedLoadOptions): Entry {
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const key = JSON.stringify([model, ...given.sort(([a], [b]) => (a < b ? -1 : 1))]);
    const found = this.entries.get(key);
    if (found && !found.loaded?.lost) return found;
    const loading = new AbortController();
    const listeners: Entry['listeners'] = new Set();
    const onProgress = async (progress: EngineLoadProgress) => {
      entry.progress = progress;
      await Promise.all([...listeners].map((listener) => listener(progress)));
    };
    const engine = this.load(model, { ...settings, signal: loading.signal, onProgress });
    const entry: Entry = {
      key,
      engine,
      loaded: null,
      loading,
      listeners,
      progress: null,
      holders: 0,
    };
    this.entries.set(key, entry);
    engine.then(
      (loaded) => {
        entry.loaded = loaded;
      },
      () => this.retire(entry),
    );
    return entry;
  }

  /** Removes an entry, so that later requests load a new engine. */
  private retire(entry: Entry): void {
    if (this.entries.get(entry.key) === entry) this.entries.delete(entry.key);
  }

  private async letGo(entry: Entry): Promise<void> {
    if (--entry.holders > 0) return;
    this.retire(entry);
    entry.loading.abort(new DOMException('Loading was canceled.', 'AbortError'));
    const engine = await entry.engine.catch(() => null);
    await engine?.unload();
  }

  /** One holder's view of the engine. `unload` stops the holder's requests and releases the shared engine. */
  private lease(entry: Entry, engine: Engine, onWaiting: (isWaiting: boolean) => void): Engine {
    const gone = new AbortController();
    const either = (signal?: AbortSignal) => (signal ? AbortSignal.any([gone.signal, signal]) : gone.signal);
    const watch = <T>(start: Start<T>, signal?: AbortSignal) =>
      leavable(({ hold }) => watched(hold(start(either(signal))), onWaiting));
    const held: Pick<Engine, 'chat' | 'complete' | 'embed' | 'tune' | 'roofline' | 'unload'> = {
      chat: (messages, options) => watch((signal) => engine.chat(messages, { ...options, signal }), options?.signal),
      complete: (prompt, options) =>
        watch((signal) => engine.complete(prompt, { ...options, signal }), options?.signal),
      embed: (texts, options) => engine.embed(texts, { ...options, signal: either(options?.signal) }),
      tune: (options) => engine.tune({ ...options, signal: either(options?.signal) }),
      roofline: (options) => engine.roofline({ signal: either(options?.signal) }),
      unload: async () => {
        if (gone.signal.aborted) return;
        gone.abort();
        await this.letGo(entry);
      },
    };
    return Object.assign(Object.create(engine), held);
  }
}

async function loadEngine(model: string, { share, ...options }: SharedLoadOptions): Promise<Engine> {
  const load = share ? await loadShared().catch(() => null) : null;
  return load ? load(model, options) : Engine.load(model, options);
}

/** The events of a request, whose wait for others is told. */
async function* watched<T>(
  events: AsyncGenerator<T, void, undefined>,
  onWaiting: (isWaiting: boolean) => void,
): AsyncGenerator<T, void, undefined> {
  let waits = false;
  const tell = (isWaiting: boolean) => {
    if (waits !== isWaiting) onWaiting(isWaiting);
    waits = isWaiting;
  };
  try {
    for await (const event of events) {
      const { type } = event as { type?: string };
      if (type === 'queued') tell(true);
      else if (type !== 'interrupted' && type !== 'recovered') tell(false); // a loss ends nobody's wait
      yield event;
    }
  } finally {
    tell(false);
  }
}

/** The package's version. Bundles of different versions share no engines. */
const VERSION: string = import.meta.env?.VIVACE_VERSION ?? 'sources';
const PLACE = Symbol.for('vivace.engines');

/** The pool of this page, shared by all copies of the script with the same version. */
export function sharedPool(): EnginePool {
  const scope = globalThis as { [PLACE]?: { version: string; pool: EnginePool } };
  scope[PLACE] ??= { version: VERSION, pool: new EnginePool() };
  if (scope[PLACE].version === VERSION) return scope[PLACE].pool;
  own ??= new EnginePool();
  return own;
}

let own: EnginePool | null = null;

// embed_session takes `abortable` from here: imported by itself it changes the order of modules, for 1 KB of embed.js.
export { abortable, VERSION };
