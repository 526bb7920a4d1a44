// Tabs of one origin under a time and a browser of the test's own: locks, channels, crashes, frozen pages, lost
// messages and messages of different tabs in any order. A seed decides all of it.

import type { VivaceError } from '../../src/engine/engine';
import { Engine, type EngineEvent, engineParts, type Health } from '../../src/engine/engine';
import type {
  EngineHost,
  HostConnection,
  Receiver,
  Sent,
  Waiting,
  WorkerRequest,
} from '../../src/engine/page/host/host';
import type { EngineInfo, GenerateRequest, RunMetrics } from '../../src/engine/protocol';
import { WorkerError } from '../../src/errors';
import type { OpenHost } from '../../src/tabs/lead';
import type { TabPlace } from '../../src/tabs/place';
import { TabHost } from '../../src/tabs/tab_host';
import { randomSource } from '../random';

/** One that is due at a time. Those of one source come in their order; those of different ones in any. */
interface Due {
  at: number;
  tab: SimTab;
  source: string;
  run: () => void;
}

interface Held {
  tab: SimTab;
  onTaken: () => void;
}

export const INFO = {
  model: {
    name: 'm',
    architecture: 'llama',
    format: 'F32',
    ...{ parameters: 1, nLayers: 1, hiddenSize: 1, nHeads: 1, nKvHeads: 1, headDim: 1, vocabSize: 9, fileBytes: 1 },
  },
  backend: 'cpu',
  adapter: null,
  contextLength: 512,
  kvCache: 'f32',
  activations: 'f32',
  attention: { prefill: 'textbook', decode: 'textbook', reason: '' },
  askedAttention: 'auto',
  step: { name: 'plain', reason: '', gain: null, giveUps: 0 },
  hasChatTemplate: true,
  tools: false,
  thinking: 'none',
  embeddings: { pooling: 'last', size: 1, only: false },
  gpuBytes: null,
  bytesPerToken: null,
  loadMs: { open: 1, weights: 1, compile: 1 },
  warnings: [],
} as unknown as EngineInfo;

/** What a tuning chooses. */
export const TUNED = {
  attention: { ...INFO.attention, decode: 'eager' as const, reason: 'It was fastest.' },
  step: INFO.step,
};

/** The token of a position: of everything before it and the seed, as a model's is. */
export function idAt(promptIds: readonly number[], ids: readonly number[], seed: number): number {
  let hash = seed ^ 0x9e3779b9;
  for (const id of [...promptIds, ...ids]) hash = Math.imul(hash ^ id, 0x01000193) >>> 0;
  return hash % 1000;
}

export class SimTab {
  isGone = false;
  isFrozen = false;
  hear: (message: unknown) => void = () => {};
  engine: Engine | null = null;
  host: TabHost | null = null;
  failure: unknown = null;
  readonly lives = new Set<string>();
  /** The engine of this tab, if it leads. */
  model: SimModel | null = null;
  /** What the tab does when its page goes into the history, and when it is back. */
  away: { onHide: () => void; onShow: () => void } | null = null;
  isInHistory = false;

  constructor(
    readonly world: World,
    readonly name: string,
  ) {}
}

export class World {
  now = 0;
  readonly tabs: SimTab[] = [];
  readonly random: () => number;
  private readonly due: Due[] = [];
  private lock: Held | null = null;
  private readonly queue: { tab: SimTab; grant: () => void }[] = [];
  private readonly watches = new Set<{ id: string; tab: SimTab; onGone: () => void }>();
  private ids = 0;
  /** The share of messages that are lost. */
  losses = 0;
  /** The longest that a message takes. */
  messageMs = 1.2;
  loads = 0;
  /** Models that are loaded now, and the most at a time outside of frozen tabs. */
  mostModels = 0;

  /** @param onTime hears how much time has passed */
  constructor(
    seed: number,
    private readonly onTime: (ms: number) => void = () => {},
  ) {
    this.random = randomSource(seed);
  }

  plan(tab: SimTab, source: string, ms: number, run: () => void): void {
    this.due.push({ at: this.now + ms, tab, source, run });
  }

  /** Runs everything that is due, one thing after another, for so long. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await settle();
      const next = this.next(until);
      if (!next) break;
      this.reach(next.at);
      next.run();
    }
    this.reach(until);
  }

  private reach(at: number): void {
    if (at <= this.now) return;
    const passed = at - this.now;
    this.now = at;
    this.onTime(passed);
  }

  /** One of those that are due first, drawn among the sources. */
  private next(until: number): Due | null {
    const heads = new Map<string, Due>();
    for (const due of this.due) {
      const { tab, source } = due;
      if (tab.isGone || tab.isFrozen) continue;
      if (!heads.has(source + tab.name)) heads.set(source + tab.name, due);
    }
    const soon = [...heads.values()].filter(({ at }) => at <= until);
    const first = Math.min(...soon.map(({ at }) => at));
    const near = soon.filter(({ at }) => at <= Math.max(first, this.now) + 2);
    const drawn = near[Math.floor(this.random() * near.length)] ?? null;
    if (drawn) this.due.splice(this.due.indexOf(drawn), 1);
    return drawn;
  }

  post(from: SimTab, message: object): void {
    if (from.isGone) return;
    const copy = structuredClone(message);
    for (const tab of this.tabs) {
      if (tab === from || tab.isGone || this.random() < this.losses) continue;
      const ms = 0.2 + (this.messageMs - 0.2) * this.random();
      this.plan(tab, `from ${from.name}`, ms, () => tab.hear(copy));
    }
  }

  crash(tab: SimTab): void {
    tab.isGone = true;
    tab.model = null;
    for (const id of tab.lives) this.leave(id);
    for (const watch of [...this.watches]) if (watch.tab === tab) this.watches.delete(watch);
    for (const queued of [...this.queue]) if (queued.tab === tab) this.queue.splice(this.queue.indexOf(queued), 1);
    if (this.lock?.tab === tab) this.free(this.lock);
  }

  /** Its page goes into the history, where nothing of it runs. */
  hide(tab: SimTab): void {
    if (tab.isFrozen || !tab.away) return;
    tab.away.onHide();
    tab.isFrozen = tab.isInHistory = true;
  }

  /** A frozen tab goes on. */
  wake(tab: SimTab): void {
    const wasInHistory = tab.isInHistory;
    tab.isFrozen = tab.isInHistory = false;
    if (wasInHistory && !tab.isGone) tab.away?.onShow();
  }

  /** A script of the origin takes the lock of the lead and gives it back. */
  rob(): void {
    const { lock } = this;
    if (!lock) return;
    this.plan(lock.tab, 'locks', 1, lock.onTaken);
    this.free(lock);
  }

  private leave(id: string): void {
    for (const watch of [...this.watches]) {
      if (watch.id !== id) continue;
      this.watches.delete(watch);
      this.plan(watch.tab, 'locks', 1, watch.onGone);
    }
  }

  private free(held: Held): void {
    if (this.lock !== held) return;
    this.lock = null;
    const next = this.queue.shift();
    if (next) next.grant();
  }

  private take(tab: SimTab, onLead: () => void, onTaken: () => void): Held {
    const held = { tab, onTaken };
    const former = this.lock;
    this.lock = held;
    if (former) this.plan(former.tab, 'locks', 1, former.onTaken);
    this.plan(tab, 'locks', 1, onLead);
    return held;
  }

  placeOf(tab: SimTab): TabPlace {
    return {
      id: () => (++this.ids).toString(16).padStart(32, '0'),
      open: (hear) => {
        tab.hear = hear;
        return {
          post: (message) => this.post(tab, message),
          close: () => {
            tab.hear = () => {};
          },
        };
      },
      queue: (steals, onLead, onTaken) => {
        let held: Held | null = null;
        const grant = () => {
          held = this.take(tab, onLead, onTaken);
        };
        const queued = { tab, grant };
        if (steals || !this.lock) grant();
        else this.queue.push(queued);
        return () => {
          if (this.queue.includes(queued)) this.queue.splice(this.queue.indexOf(queued), 1);
          if (held) this.free(held);
        };
      },
      live: async (id) => {
        tab.lives.add(id);
        return () => {
          tab.lives.delete(id);
          this.leave(id);
        };
      },
      watch: (id, onGone) => {
        const watch = { id, tab, onGone };
        if (this.tabs.some((other) => !other.isGone && other.lives.has(id))) this.watches.add(watch);
        else this.plan(tab, 'locks', 1, onGone);
        return () => void this.watches.delete(watch);
      },
      every: (ms, beat) => {
        let isOver = false;
        const again = () => {
          if (isOver) return;
          this.plan(tab, 'timer', ms, again);
          beat();
        };
        this.plan(tab, 'timer', ms, again);
        return () => {
          isOver = true;
        };
      },
      onAway: (onHide, onShow) => {
        tab.away = { onHide, onShow };
        return () => {
          tab.away = null;
        };
      },
    };
  }

  /** Opens a tab and begins its load. */
  open(): SimTab {
    const tab = new SimTab(this, `tab ${this.tabs.length}`);
    this.tabs.push(tab);
    const opens: OpenHost = (onProgress, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        this.loads++;
        void onProgress({ stage: 'weights', loadedBytes: 1, totalBytes: 2, bytesPerSecond: null, secondsLeft: null });
        this.plan(tab, 'load', 40 + 40 * this.random(), () => {
          if (signal.aborted) return;
          tab.model = new SimModel(tab);
          const models = this.tabs.filter(({ isGone, isFrozen, model }) => !isGone && !isFrozen && model);
          this.mostModels = Math.max(this.mostModels, models.length);
          resolve(tab.model);
        });
      });
    TabHost.open(this.placeOf(tab), opens, engineParts).then(
      (host) => {
        tab.host = host;
        tab.engine = new Engine(host);
      },
      (error) => {
        tab.failure = error;
      },
    );
    return tab;
  }
}

/** A model that writes a token each millisecond or so, and whose worker can be lost. */
export class SimModel implements EngineHost {
  info = structuredClone(INFO);
  form = null;
  health: Health = { state: 'well' };
  lost: VivaceError | null = null;
  readonly whenLost = new Promise<VivaceError>(() => {});
  news = '';
  readonly listeners = new Set<(health: Health) => void>();
  readonly running = new Set<{ readonly length: number }>();
  /** Answers that run. */
  active = 0;
  private connection: SimConnection | null = new SimConnection(this);
  private readonly waiting = new Set<Waiting>();
  private isUnloaded = false;

  constructor(readonly tab: SimTab) {}

  whenReady(waiting: Waiting): () => void {
    if (this.connection) waiting.begin(this.connection);
    else this.waiting.add(waiting);
    return () => void this.waiting.delete(waiting);
  }

  async tokenize(input: object) {
    if (this.isUnloaded) throw new WorkerError('unloaded');
    return { ids: Uint32Array.from([...JSON.stringify(input)].slice(0, 9), (c) => c.charCodeAt(0)) };
  }

  async unload(): Promise<void> {
    this.isUnloaded = true;
    this.tab.model = null;
    const { connection } = this;
    this.connection = null;
    connection?.end(new WorkerError('The engine was unloaded.'));
  }

  loseWorker(): void {
    const { connection } = this;
    if (!connection || this.isUnloaded) return;
    const cause = new WorkerError('The worker ended: a test.');
    connection.lost = cause;
    connection.end(cause);
    this.connection = null;
    this.tell({ state: 'recovering', cause, loss: 1, progress: null });
    this.tab.world.plan(this.tab, 'load', 30, () => {
      if (this.isUnloaded) return;
      this.connection = new SimConnection(this);
      this.news = 'The worker ended. The model was loaded again.';
      this.tell({ state: 'well' });
      for (const { begin } of [...this.waiting]) begin(this.connection);
      this.waiting.clear();
    });
  }

  private tell(health: Health): void {
    this.health = health;
    for (const listener of this.listeners) listener(health);
  }
}

class SimConnection implements HostConnection {
  lost: VivaceError | null = null;
  private ended: Error | null = null;
  private readonly listeners = new Set<(error: Error) => void>();

  constructor(private readonly model: SimModel) {}

  onEnd(listener: (error: Error) => void): () => void {
    if (this.ended) listener(this.ended);
    else this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  end(error: Error): void {
    this.ended = error;
    for (const listener of [...this.listeners]) listener(error);
    this.listeners.clear();
  }

  send(request: WorkerRequest, receiver: Receiver): Sent {
    if (request.kind === 'tune') return this.tune(receiver);
    if (request.kind !== 'generate') throw new Error(request.kind);
    return this.generate(structuredClone(request.body), receiver);
  }

  /** Two results, then the choice. A stop ends it with its reason. */
  private tune(receiver: Receiver): Sent {
    const { world } = this.model.tab;
    const results = [{ name: 'slow' }, { name: 'fast' }];
    let isOver = false;
    const messages = [
      ...results.map((result, i) => ({ type: 'result', result, done: i + 1, total: 2 })),
      { type: 'tuned', results, ...TUNED, stored: true },
    ];
    for (const [i, message] of messages.entries()) {
      world.plan(this.model.tab, 'model', 10 + i, () => !isOver && !this.ended && receiver.hear([message]));
    }
    const end = () => {
      isOver = true;
    };
    return { stop: end, close: end };
  }

  private generate({ input, options, resumed }: GenerateRequest, receiver: Receiver): Sent {
    const { world } = this.model.tab;
    const text = JSON.stringify(input);
    const promptIds = resumed ? [...resumed.promptIds] : Array.from(text.slice(0, 40), (c) => c.charCodeAt(0));
    const ids = resumed ? [...resumed.ids] : [];
    let [isStopped, isClosed] = [false, false];
    this.model.active++;
    const hear = (...events: object[]) => !isClosed && !this.ended && receiver.hear(events);
    const finish = (finishReason: string) => {
      this.model.active--;
      const usage = {
        promptTokens: promptIds.length,
        cachedTokens: 0,
        completionTokens: ids.length,
        reasoningTokens: 0,
      };
      const { attention, step } = INFO;
      const metrics = { attention, step, tbtMs: { perToken: [] } } as unknown as RunMetrics;
      hear({ type: 'done', text: '', finishReason, seed: options.seed, usage, metrics });
    };
    const go = () => {
      if (isClosed || this.ended) return void this.model.active--;
      if (isStopped) return finish('abort');
      const n = 1 + Math.floor(2 * world.random());
      const events: object[] = [];
      for (let i = 0; i < n && ids.length < (options.maxTokens ?? 0); i++) {
        const id = idAt(promptIds, ids, options.seed ?? 0);
        const position = promptIds.length + ids.push(id) - 1;
        const times = { tbtMs: 1, atMs: world.now, inFlightMs: 1, workerMs: null };
        events.push({ type: 'token', id, text: ` ${id}`, position, ...times });
      }
      hear(...events);
      if (ids.length >= (options.maxTokens ?? 0)) return finish('length');
      world.plan(this.model.tab, 'model', 1 + 2 * world.random(), go);
    };
    world.plan(this.model.tab, 'model', 1, () => {
      hear({ type: 'start', choice: 0, promptIds, cachedTokens: 0 });
      go();
    });
    return {
      stop: () => {
        isStopped = true;
      },
      close: () => {
        isClosed = true;
      },
    };
  }
}

/** Reads an answer as it comes. */
export interface Read {
  events: EngineEvent[];
  error: unknown;
  isOver: boolean;
}

export function read(events: AsyncIterable<EngineEvent>): Read {
  const heard: Read = { events: [], error: null, isOver: false };
  void (async () => {
    try {
      for await (const event of events) heard.events.push(event);
    } catch (error) {
      heard.error = error;
    }
    heard.isOver = true;
  })();
  return heard;
}

/** Lets promises settle. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
