// The lead among the tabs of one browser, over locks that are granted as the browser grants them: a little later.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { engineParts } from '../../src/engine/engine';
import { browserPlace, type TabPlace } from '../../src/tabs/place';
import { TabHost } from '../../src/tabs/tab_host';

type Work = (lock: object | null) => unknown;

/** Calls before a lock is taken from its holder. */
let beforeTheft = () => {};
let place: TabPlace;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      postMessage() {}
      close() {}
    },
  );
  vi.stubGlobal('navigator', { locks: fakeLocks() });
  place = browserPlace('n');
  beforeTheft = () => {};
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function fakeLocks() {
  const held = new Map<string, (error: Error) => void>();
  const queue: { name: string; grant: () => void }[] = [];
  const request = (name: string, { steal = false, ifAvailable = false }, work: Work) =>
    new Promise((resolve, reject) => {
      const grant = async () => {
        held.set(name, reject);
        if (steal) beforeTheft();
        await null;
        resolve(await work({}));
        if (held.get(name) !== reject) return;
        held.delete(name);
        const next = queue.findIndex((waiting) => waiting.name === name);
        if (next >= 0) queue.splice(next, 1)[0]?.grant();
      };
      if (steal) held.get(name)?.(new DOMException('stolen', 'AbortError'));
      if (steal || !held.has(name)) void grant();
      else if (ifAvailable) resolve(work(null));
      else queue.push({ name, grant });
    });
  return {
    request: (name: string, ...rest: [object, Work] | [Work]) =>
      request(name, rest.length > 1 ? rest[0] : {}, rest.at(-1) as Work),
  };
}

/** True if the next tab in the queue gets the lead. */
async function isFree(): Promise<boolean> {
  let leads = false;
  place.queue(
    false,
    () => {
      leads = true;
    },
    () => {},
  );
  await vi.advanceTimersByTimeAsync(0);
  return leads;
}

test('a tab whose load is canceled while it takes the lead from a silent one does not keep it', async () => {
  place.queue(
    false,
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(0);
  const cancel = new AbortController();
  const open = vi.fn(() => new Promise<never>(() => {}));
  const opening = TabHost.open(browserPlace('n'), open, engineParts, undefined, cancel.signal);
  const failed = expect(opening).rejects.toThrow('canceled');
  beforeTheft = () => cancel.abort(new Error('canceled'));
  await vi.advanceTimersByTimeAsync(20_000);
  await failed;
  expect(open).not.toHaveBeenCalled();
  expect(await isFree()).toBe(true);
});

test('a tab that goes into the history while it takes the lead does not keep it', async () => {
  const away = new EventTarget();
  vi.stubGlobal('addEventListener', away.addEventListener.bind(away));
  const go = (name: string) => away.dispatchEvent(Object.assign(new Event(name), { persisted: true }));
  place.queue(
    false,
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(0);
  const open = vi.fn(() => new Promise<never>(() => {}));
  void TabHost.open(browserPlace('n'), open, engineParts);
  beforeTheft = () => go('pagehide');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(open).not.toHaveBeenCalled();
  expect(await isFree()).toBe(true);
});
