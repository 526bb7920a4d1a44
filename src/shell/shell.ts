// What the service worker does. Each build has a cache of its own, filled at once and checked by hash, so files of two
// builds never meet: a page finds its scripts in the cache of its build for as long as it is open. An origin may have
// several pages of ours, in folders of their own.

export interface Build {
  name: string;
  files: Readonly<Record<string, string>>;
  replaceable: readonly string[];
}

const PREFIX = 'vivace-shell-';
/** A page waits so long for the network before it opens from the cache. */
const PATIENCE_MS = 2500;

const isUsable = (response: Response) => response.ok || response.type === 'opaqueredirect';

export class Shell {
  private readonly cacheName: string;
  private readonly kept: ReadonlySet<string>;
  private readonly replaceable: ReadonlySet<string>;
  private readonly page: string;

  /** @param scope the address of the page's folder */
  constructor(
    private readonly build: Build,
    private readonly scope: string,
    private readonly storage: CacheStorage,
    private readonly ask: typeof fetch,
  ) {
    const addressOf = (file: string) => new URL(file, scope).href;
    this.cacheName = `${PREFIX}${build.name} ${scope}`;
    this.page = addressOf('');
    this.kept = new Set(Object.keys(build.files).map(addressOf));
    this.replaceable = new Set(build.replaceable.map(addressOf));
  }

  /** Fetches every file of the build. @throws if one is missing or of another build: nothing is kept then */
  async install(): Promise<void> {
    const fetchOne = async (url: string, integrity?: string) => {
      const response = await this.ask(url, { integrity, cache: 'no-cache', credentials: 'same-origin' });
      if (!response.ok || response.redirected) throw new Error(`${url}: ${response.status}`);
      return [url, response] as const;
    };
    const hashes = Object.values(this.build.files);
    const found = await Promise.all([
      ...[...this.kept].map((url, i) => fetchOne(url, hashes[i])),
      ...[...this.replaceable].map((url) => fetchOne(url)),
    ]);
    const cache = await this.storage.open(this.cacheName);
    await Promise.all(found.map(([url, response]) => cache.put(url, response)));
  }

  /** Removes the caches of other builds. Runs when no page of theirs is open. Older caches have no scope. */
  async clean(): Promise<void> {
    const names = await this.storage.keys();
    const isOurs = (name: string) => name.startsWith(PREFIX) && [undefined, this.scope].includes(name.split(' ')[1]);
    const others = names.filter((name) => isOurs(name) && name !== this.cacheName);
    await Promise.all(others.map((name) => this.storage.delete(name)));
  }

  /** The answer to a request of a page, or null if the browser shall see to it itself. */
  answer(request: Request): Promise<Response> | null {
    if (request.method !== 'GET' || request.headers.has('range')) return null;
    const url = request.url.replace(/[?#].*$/s, '');
    if (request.mode === 'navigate') {
      const isPage = url === this.page || url === `${this.page}index.html`;
      return isPage ? this.fromNetwork(request, this.page) : null;
    }
    if (this.replaceable.has(url)) return this.fromNetwork(request, url);
    return this.kept.has(url) && url !== this.page ? this.fromCache(request, url) : null;
  }

  private async fromCache(request: Request, url: string): Promise<Response> {
    return (await this.find(url)) ?? this.ask(request);
  }

  /**
   * The network's answer, or the kept one if that fails or is late. If both are late, the first to come counts.
   * The page itself comes this way: its newest version names files by their hashes, so it finds its own ones wherever
   * they are.
   */
  private async fromNetwork(request: Request, url: string): Promise<Response> {
    const asked = this.ask(request);
    const found = this.find(url);
    const late = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS));
    const good = asked.then((answer) => (isUsable(answer) || answer.status < 500 ? answer : Promise.reject(answer)));
    const failedOrLate = Promise.race([good, late]).catch(() => {});
    const kept = failedOrLate.then(async () => (await found) ?? Promise.reject());
    return Promise.any([good, kept]).catch(() => asked);
  }

  /** Undefined also where the browser cannot read its storage: the network may still answer. */
  private async find(url: string): Promise<Response | undefined> {
    try {
      const cache = await this.storage.open(this.cacheName);
      return await cache.match(url);
    } catch {
      return undefined;
    }
  }
}
