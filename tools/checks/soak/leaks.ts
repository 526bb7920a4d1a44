// What loads, chats and aborts leave behind: heaps, listeners and ports after each part of the work.

import type { Engine } from '../../../src/engine/engine';
import { Counter, type CountName, type Counts, slope } from './counts';
import { CHAIN, openSoakSite, visitBare } from './site';

/** Evaluated in the page: one unit of work. */
type Unit = (request: { model: string; backend: 'cpu' | 'webgpu'; tokens: number }) => Promise<void>;

interface PageWindow {
  vivace: { Engine: typeof Engine };
  engine: Engine | null;
}

const loadAndUnload: Unit = async ({ model, backend }) => {
  const { Engine } = (window as unknown as PageWindow).vivace;
  const engine = await Engine.load(model, { backend, contextLength: 2048 });
  for await (const _ of engine.chat([{ role: 'user', content: 'hello' }], { maxTokens: 4 }));
  await engine.unload();
};

const open: Unit = async ({ model, backend }) => {
  const view = window as unknown as PageWindow;
  view.engine = await view.vivace.Engine.load(model, { backend, contextLength: 2048 });
};

const chat: Unit = async ({ tokens }) => {
  const { engine } = window as unknown as PageWindow;
  for (let left = tokens; left > 0; ) {
    const maxTokens = Math.min(left, 1900); // of the context
    for await (const _ of engine!.chat([{ role: 'user', content: 'endless' }], { maxTokens }));
    left -= maxTokens;
  }
};

const abort: Unit = async () => {
  const { engine } = window as unknown as PageWindow;
  const stop = new AbortController();
  for await (const event of engine!.chat([{ role: 'user', content: 'endless' }], { signal: stop.signal })) {
    if (event.type === 'token') stop.abort();
  }
};

export interface LeakOptions {
  backend: 'cpu' | 'webgpu';
  loads: number;
  chats: number;
  tokens: number;
  aborts: number;
  say(line: string): void;
}

/** Growth a unit that counts as noise. Lists and caches that warm up are left out by the samples. */
const NOISE: Record<CountName, number> = {
  pageHeap: 600,
  workerHeap: 600,
  listeners: 0.02,
  nodes: 0.02,
  ports: 0.02,
  workers: 0.02,
};
/** Samples of each kind of work. The first comes after a part that warms up. */
const SAMPLES = 6;

/** The growth a unit of each kind of work, and what grew beyond noise. */
export async function measureLeaks(options: LeakOptions): Promise<string[]> {
  const { backend, loads, chats, tokens, aborts, say } = options;
  const site = await openSoakSite();
  const found: string[] = [];
  try {
    const { page } = await visitBare(site);
    const counter = await Counter.open(page);
    const request = { model: CHAIN, backend, tokens };
    const repeat = async (name: string, unit: Unit, times: number) => {
      if (times === 0) return;
      const samples: Counts[] = [];
      const part = Math.max(1, Math.ceil(times / SAMPLES));
      for (let i = 0; i < SAMPLES; i++) {
        for (let n = 0; n < part; n++) await page.evaluate(unit, request);
        samples.push(await counter.settled(samples.at(-1)));
        say(`${name} ${(i + 1) * part}: ${JSON.stringify(samples[i])}`);
      }
      found.push(...grown(name, samples.slice(1), part, say));
    };
    await repeat('loads', loadAndUnload, loads);
    if (chats + aborts > 0) await page.evaluate(open, request);
    await repeat('chats', chat, chats);
    await repeat('aborts', abort, aborts);
  } finally {
    await site.close();
  }
  return found;
}

function grown(name: string, samples: readonly Counts[], part: number, say: (line: string) => void): string[] {
  return (Object.keys(NOISE) as CountName[]).flatMap((count) => {
    const growth = slope(samples.map((sample) => sample[count])) / part;
    const line = `${name}: ${count} grows by ${growth.toFixed(2)} each`;
    say(line);
    return growth > NOISE[count] ? [line] : [];
  });
}
