// The browser's storage in memory, beneath the cache: private file system, database and locks, with a server of one
// file. Any call can be made to lie, a worker can die at any call, and another tab can hold any lock.

import { createHash } from 'node:crypto';
import { onTestFinished, vi } from 'vitest';

/**
 * What a call does instead of its work: throw at once, reject later, never settle, or find no room. `die`: the worker
 * ends before the call, with half of the bytes written where the call writes.
 */
export type Lie = 'throw' | 'reject' | 'hang' | 'full' | 'die';

type Grant = (lock: object | null) => unknown;
interface Events {
  result?: unknown;
  error?: unknown;
  onsuccess?(): void;
  onerror?(): void;
  oncomplete?(): void;
  onabort?(): void;
}
interface Request {
  owner: number;
  grant: () => void;
}

const NEVER = new Promise<never>(() => {});
/** The real timer, whatever a test makes of the global one. */
const turn = setImmediate;
const soon = () => new Promise<void>((resolve) => turn(resolve));
const refused = () => new DOMException('not now', 'InvalidStateError');
const full = () => new DOMException('no room', 'QuotaExceededError');

export class LyingStorage {
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly records = new Map<unknown, unknown>();
  /** Every call of the present worker, by name. */
  calls: string[] = [];
  /** Ranges asked of the server. */
  requests: string[] = [];
  /** The call that lies, by its number or its name, and how. All calls of a name lie. */
  lie: { at: number | RegExp; how: Lie } | null = null;
  /** Milliseconds of the fake clock that passed while nothing else went on. */
  waitedMs = 0;
  /** Changes the bytes of an answer of the server. */
  damage: (part: Uint8Array<ArrayBuffer>, offset: number) => void = () => {};
  private worker = 0;
  private isDead = false;
  private readonly locks = new Map<string, { held: Request | null; queue: Request[] }>();
  private readonly opened = new Set<string>();

  /** `digest`: the server tells the SHA-256 of its file. */
  constructor(
    readonly served: Uint8Array<ArrayBuffer>,
    readonly digest = true,
  ) {
    this.install();
  }

  /** Runs `work` in a new worker to its end or its death, and moves the clock whenever nothing else happens. */
  async run<T>(work: () => Promise<T>, lie: LyingStorage['lie'] = null): Promise<T | 'died'> {
    this.worker++;
    Object.assign(this, { isDead: false, lie, calls: [], requests: [], waitedMs: 0 });
    let result: { value: T } | { error: unknown } | null = null;
    work().then(
      (value) => {
        result = { value };
      },
      (error: unknown) => {
        result = { error };
      },
    );
    const start = performance.now();
    while (!result && !this.isDead) if (!(await this.goesOn())) vi.advanceTimersToNextTimer();
    this.waitedMs = performance.now() - start;
    while (await this.goesOn()); // what the load leaves behind
    if (this.isDead) {
      this.end();
      return 'died';
    }
    const ended = result as unknown as { value: T } | { error: unknown };
    if ('error' in ended) throw ended.error;
    return ended.value;
  }

  /** Ends the present worker: its locks become free, and its calls never settle. */
  end(): void {
    const owner = this.worker++;
    vi.clearAllTimers();
    this.opened.clear();
    for (const [name, { held, queue }] of this.locks) {
      const isFreed = held?.owner === owner;
      this.locks.set(name, { held: isFreed ? null : held, queue: queue.filter((one) => one.owner !== owner) });
      if (isFreed) this.grantNext(name);
    }
  }

  /** Everything kept, to be put back by the returned function. */
  save(): () => void {
    const copy = <K, V>(map: Map<K, V>) => structuredClone([...map]);
    const [files, records] = [copy(this.files), copy(this.records)];
    return () => {
      this.files.clear();
      this.records.clear();
      for (const [name, bytes] of files) this.files.set(name, bytes.slice());
      for (const [key, value] of records) this.records.set(key, structuredClone(value));
    };
  }

  /** Holds a lock for good, as another tab that hangs. */
  hold(name: string): void {
    this.locks.set(name, { held: { owner: -1, grant() {} }, queue: [] });
  }

  /** True after calls or requests in the last turns of the event loop. */
  private async goesOn(): Promise<boolean> {
    const count = () => this.calls.length + this.requests.length;
    const before = count();
    for (let i = 0; i < 12; i++) {
      await soon();
      if (count() !== before) return true;
    }
    return false;
  }

  /** Counts a call. Returns its lie, `gone` for a call of a worker that has ended, or null. */
  private begin(owner: number, name: string): Lie | 'gone' | null {
    if (owner !== this.worker || this.isDead) return 'gone';
    const n = this.calls.push(name) - 1;
    const { at, how } = this.lie ?? {};
    if (n !== at && !(at instanceof RegExp && at.test(name))) return null;
    if (how === 'throw') throw refused();
    return how ?? null;
  }

  private call<T>(owner: number, name: string, work: () => T): Promise<T> {
    const lie = this.begin(owner, name);
    if (lie === 'die') this.isDead = true;
    if (lie === 'reject') return Promise.reject(refused());
    if (lie === 'full') return Promise.reject(full());
    return lie === null ? (async () => work())() : NEVER;
  }

  /** A call that answers at once, and so cannot hang. */
  private now<T>(owner: number, name: string, work: () => T, onDeath?: () => void): T | undefined {
    const lie = this.begin(owner, name);
    if (lie === 'reject') throw refused();
    if (lie === 'full') throw full();
    if (lie === null || lie === 'hang') return work();
    if (lie === 'gone') return undefined;
    onDeath?.();
    this.isDead = true;
    return undefined;
  }

  private request(owner: number, args: unknown[]): Promise<unknown> {
    const name = args[0] as string;
    const callback = args.at(-1) as Grant;
    const { ifAvailable, signal } = (args.length > 2 ? args[1] : {}) as LockOptions;
    return this.call(owner, 'lock', () => {
      const lock = this.locks.get(name) ?? { held: null, queue: [] };
      this.locks.set(name, lock);
      if (ifAvailable && lock.held) return callback(null);
      return new Promise((resolve, reject) => {
        const request = {
          owner,
          grant: () => {
            const held = (async () => callback({}))();
            held.then(resolve, reject).finally(() => this.release(name, request));
          },
        };
        lock.queue.push(request);
        signal?.addEventListener('abort', () => {
          lock.queue = lock.queue.filter((one) => one !== request);
          reject(signal.reason);
        });
        this.grantNext(name);
      });
    });
  }

  private grantNext(name: string): void {
    const lock = this.locks.get(name);
    if (!lock || lock.held) return;
    lock.held = lock.queue.shift() ?? null;
    lock.held?.grant();
  }

  private release(name: string, request: Request): void {
    const lock = this.locks.get(name);
    if (lock?.held !== request) return;
    lock.held = null;
    this.grantNext(name);
  }

  private install(): void {
    const manager = { request: (...args: unknown[]) => this.request(this.worker, args) };
    const storage = {
      getDirectory: () => {
        const owner = this.worker;
        const root = { getDirectoryHandle: () => this.call(owner, 'folder', () => this.folder(owner)) };
        return this.call(owner, 'root', () => root);
      },
      estimate: () => this.call(this.worker, 'estimate', () => ({ usage: 5e6, quota: 6e6 })),
    };
    vi.stubGlobal('navigator', { storage, locks: manager });
    vi.stubGlobal('indexedDB', { open: () => this.openDatabase(this.worker) });
    vi.stubGlobal('crypto', {
      // Without the thread pool of the real one, whose time would be the machine's.
      subtle: { digest: async (_: string, bytes: Uint8Array) => createHash('sha256').update(bytes).digest() },
      randomUUID: () => `${this.worker}-${this.calls.length}`,
    });
    vi.stubGlobal('fetch', (_: string, init: { headers: Record<string, string> }) => this.serve(init.headers.Range));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
  }

  private async serve(range: string): Promise<Response> {
    if (this.isDead) return NEVER;
    this.requests.push(range);
    const [first, last] = /(\d+)-(\d+)/.exec(range)?.slice(1).map(Number) ?? [0, 0];
    const part = this.served.slice(first, last + 1);
    this.damage(part, first);
    const digest = createHash('sha256').update(this.served).digest('base64');
    return new Response(part, {
      status: 206,
      headers: {
        etag: '"v1"',
        'content-range': `bytes ${first}-${first + part.length - 1}/${this.served.length}`,
        ...(this.digest && { 'repr-digest': `sha-256=:${digest}:` }),
      },
    });
  }

  private folder(owner: number) {
    const { files } = this;
    const missing = () => new DOMException('missing', 'NotFoundError');
    return {
      getFileHandle: (name: string, { create = false } = {}) =>
        this.call(owner, create ? 'create' : 'find', () => {
          if (!files.has(name) && !create) throw missing();
          if (!files.has(name)) files.set(name, new Uint8Array(0));
          return this.handle(owner, name);
        }),
      removeEntry: (name: string) =>
        this.call(owner, 'remove', () => {
          if (this.opened.has(name)) throw new DOMException('held', 'NoModificationAllowedError');
          if (!files.delete(name)) throw missing();
        }),
      entries: async function* (this: object) {
        for (const name of files.keys()) yield [name, { getFile: async () => ({ lastModified: 0 }) }];
      },
    };
  }

  private handle(owner: number, first: string) {
    const { files } = this;
    let name = first;
    const content = () => {
      const bytes = files.get(name);
      if (!bytes) throw new DOMException('missing', 'NotFoundError');
      return bytes;
    };
    return {
      getFile: () =>
        this.call(owner, 'stat', () => ({
          size: content().length,
          arrayBuffer: () => this.call(owner, 'read', () => content().slice().buffer),
        })),
      move: (to: string) =>
        this.call(owner, 'move', () => {
          files.set(to, content());
          files.delete(name);
          name = to;
        }),
      createSyncAccessHandle: () =>
        this.call(owner, 'open', () => {
          if (this.opened.has(name)) throw new DOMException('held', 'NoModificationAllowedError');
          this.opened.add(name);
          const put = (bytes: Uint8Array) => files.set(name, Uint8Array.from(bytes)).get(name)?.length;
          return {
            write: (bytes: Uint8Array) =>
              this.now(
                owner,
                'write',
                () => put(bytes),
                () => put(bytes.subarray(0, bytes.length / 2)),
              ) ?? 0,
            flush: () => this.now(owner, 'flush', () => {}),
            close: () => {
              this.opened.delete(name);
              return this.now(owner, 'close', () => {});
            },
          };
        }),
    };
  }

  private openDatabase(owner: number) {
    const request: Events = {};
    const database = { transaction: () => this.transaction(owner) };
    this.answer(
      request,
      this.call(owner, 'open database', () => database),
    );
    return request;
  }

  private answer(request: Events, answer: Promise<unknown>): Promise<boolean> {
    return answer.then(
      (result) => {
        request.result = result;
        request.onsuccess?.();
        return true;
      },
      (error) => {
        request.error = error;
        request.onerror?.();
        return false;
      },
    );
  }

  /** A transaction: its changes come at its end, all or none. */
  private transaction(owner: number) {
    const staged = new Map<unknown, unknown>();
    const events: Events = { error: null };
    let open = 0;
    let isOver = false;
    const apply = () => {
      for (const [key, value] of staged) {
        if (value === undefined) this.records.delete(key);
        else this.records.set(key, value);
      }
    };
    let failure: { error: unknown } | null = null;
    const settled = async (isGood: boolean, error: unknown) => {
      open--;
      if (!isGood) failure ??= { error };
      await soon();
      if (isOver || (!failure && open > 0)) return;
      isOver = true;
      try {
        if (failure) throw failure.error;
        await this.call(owner, 'commit', apply);
        events.oncomplete?.();
      } catch (thrown) {
        events.error = thrown;
        events.onabort?.();
      }
    };
    const ask = (name: string, work: () => unknown) => {
      if (isOver) throw refused();
      const request: Events = {};
      const answer = this.call(owner, name, work);
      open++;
      void this.answer(request, answer).then((isGood) => settled(isGood, request.error));
      return request;
    };
    const at = (key: unknown) => (staged.has(key) ? staged.get(key) : this.records.get(key));
    const store = {
      transaction: events,
      get: (key: unknown) => ask('get', () => structuredClone(at(key))),
      put: (value: unknown, key: unknown) => ask('put', () => staged.set(key, structuredClone(value))),
      delete: (key: unknown) => ask('delete', () => staged.set(key, undefined)),
      getAllKeys: () => ask('keys', () => [...this.records.keys()]),
      getAll: () => ask('values', () => structuredClone([...this.records.values()])),
    };
    const abort = () => {
      if (isOver) throw refused();
      void settled(false, null);
    };
    return Object.assign(events, { objectStore: () => store, abort });
  }
}
