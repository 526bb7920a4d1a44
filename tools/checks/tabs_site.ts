// Tabs of one origin in a real browser, with the package's own bundles and the chain model: for `npm run tabs-search`
// and for the tests.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chainModel } from '../../test/chain/chain_model';
import { launchChromium } from '../lib/browser/chromium';
import { DIST, ensureBuilt } from '../lib/bundle/dist';
import { type Handler, serve } from '../lib/serve';

/** An answer as a tab heard it. */
export interface Heard {
  text: string;
  ids: number[];
  /** The finish reason, or the error. */
  end: string;
  interruptions: number;
  done: number;
  /** For each token, the time from its arrival in the worker to this reader. */
  lateMs: number[];
}

export interface Question {
  prompt: string;
  seed: number;
  maxTokens: number;
}

/** What a tab offers. Evaluated in the page. */
interface TabWindow {
  leads(): boolean;
  begin(id: string, question: Question): void;
  heard(id: string): Heard;
  stop(id: string): void;
}

/** The script of a tab. `backend` and the model come with its address. */
const SCRIPT = `
import { SharedEngine } from '/lib/tabs.js';
const query = new URLSearchParams(location.search);
const options = { backend: query.get('backend'), activations: 'f32', kvCache: 'f32', contextLength: 8_192, cache: false };
const engine = await SharedEngine.load('/chain/', options);
const answers = new Map();
const stops = new Map();
globalThis.engine = engine;
globalThis.leads = () => engine.leads;
globalThis.heard = (id) => answers.get(id);
globalThis.stop = (id) => stops.get(id).abort();
globalThis.begin = async (id, { prompt, seed, maxTokens }) => {
  const heard = { text: '', ids: [], end: '', interruptions: 0, done: 0, lateMs: [] };
  answers.set(id, heard);
  const stop = new AbortController();
  stops.set(id, stop);
  try {
    const messages = [{ role: 'user', content: prompt }];
    const options = { seed, maxTokens, temperature: 24, ignoreEos: true, reuseCache: false, signal: stop.signal };
    for await (const event of engine.chat(messages, options)) {
      if (event.type === 'token') {
        heard.ids.push(event.id);
        heard.lateMs.push(performance.timeOrigin + performance.now() - event.atMs);
      }
      if (event.type === 'token' || event.type === 'done') heard.text += event.text;
      if (event.type === 'interrupted') heard.interruptions++;
      if (event.type === 'done') {
        heard.done++;
        heard.end = event.finishReason;
      }
    }
  } catch (error) {
    heard.end = String(error);
  }
};
`;

export class TabSite {
  private constructor(
    readonly browser: Browser,
    readonly url: string,
    private readonly closeServer: () => Promise<void>,
    private readonly backend: string,
  ) {}

  static async open(backend: 'cpu' | 'webgpu' = 'cpu'): Promise<TabSite> {
    await ensureBuilt();
    const send =
      (type: string, body: string | Uint8Array): Handler =>
      (_, response) =>
        void response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
    const files = Object.entries(chainModel()).map(([name, bytes]) => [
      `/chain/${name}`,
      send('application/octet-stream', bytes),
    ]);
    const page = send('text/html', '<!doctype html><title>a tab</title><script type="module" src="/tab.js"></script>');
    const handlers = { '/': page, '/tab.js': send('text/javascript', SCRIPT), ...Object.fromEntries(files) };
    const server = await serve({ mounts: { '/lib/': `${DIST}/lib` }, handlers });
    return new TabSite(await launchChromium({ webgpu: backend === 'webgpu' }), server.url, server.close, backend);
  }

  async tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${this.url}?backend=${this.backend}`);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.closeServer();
  }
}

export const ready = (page: Page) => page.waitForFunction('globalThis.leads');
export const leads = (page: Page): Promise<boolean> => page.evaluate(() => (window as unknown as TabWindow).leads());

export const begin = (page: Page, id: string, question: Question): Promise<void> =>
  page.evaluate(
    ({ id, question }) => {
      void (window as unknown as TabWindow).begin(id, question);
    },
    { id, question },
  );

const heard = (page: Page, id: string): Promise<Heard> =>
  page.evaluate((id) => (window as unknown as TabWindow).heard(id), id);

/** Waits until so many tokens have come, or the end. */
export const tokens = (page: Page, id: string, count: number) =>
  page.waitForFunction(
    ({ id, count }) => {
      const { ids, end } = (window as unknown as TabWindow).heard(id);
      return end !== '' || ids.length >= count;
    },
    { id, count },
    { polling: 5 },
  );

export async function ended(page: Page, id: string): Promise<Heard> {
  await page.waitForFunction((id) => (window as unknown as TabWindow).heard(id).end !== '', id, { polling: 20 });
  return heard(page, id);
}

/** Ends the renderer of a tab as a crash does. */
export async function crash(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash');
  const session = await page.context().newCDPSession(page);
  void session.send('Page.crash').catch(() => {});
  await crashed;
}
