// What tabs need of the browser, and the browser's own. Tests have another, with a time and faults of theirs.

import { uniqueId } from '../shared/unique_id';

export interface Channel {
  post(message: object): void;
  close(): void;
}

export interface TabPlace {
  /** 32 hexadecimal digits, never the same. */
  id(): string;
  open(hear: (message: unknown) => void): Channel;
  /**
   * Queues for the lead, or takes it from whoever has it. Calls `onLead` when this tab leads, and `onTaken` when
   * another tab has taken the lead away. Returns a function that gives the lead or the place in the queue back.
   */
  queue(steals: boolean, onLead: () => void, onTaken: () => void): () => void;
  /** Shows that the tab by this id lives, until the returned function is called. Resolves when others can see it. */
  live(id: string): Promise<() => void>;
  /** Calls `onGone` when the tab by this id is closed or has crashed. Returns a function that ends that. */
  watch(id: string, onGone: () => void): () => void;
  /** Calls `beat` again and again. Returns a function that ends that. */
  every(ms: number, beat: () => void): () => void;
  /** Calls `onHide` when the page goes into the history, alive, and `onShow` when it is back. */
  onAway(onHide: () => void, onShow: () => void): () => void;
}

/** The time that a thief gives others to hear of it. */
const THEFT_MS = 1000;

/** @param name of the engine that is shared: tabs with another name are not there */
export function browserPlace(name: string): TabPlace {
  const { locks } = navigator;
  const presence = (id: string) => `${name} tab ${id}`;

  function queue(onLead: () => void, onTaken: () => void, steal: boolean): () => void {
    const left = new AbortController();
    let release = () => {};
    let leads = false;
    const hold = () => {
      if (left.signal.aborted) return;
      leads = true;
      const led = new Promise<void>((resolve) => {
        release = resolve;
      });
      onLead(); // may give it back at once
      return led;
    };
    locks.request(name, steal ? { steal } : { signal: left.signal }, hold).catch(() => {
      if (leads && !left.signal.aborted) onTaken();
    });
    return () => {
      left.abort();
      release();
    };
  }

  return {
    id: uniqueId,
    open(hear) {
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => hear(data);
      return { post: (message) => channel.postMessage(message), close: () => channel.close() };
    },
    queue(steals, onLead, onTaken) {
      if (!steals) return queue(onLead, onTaken, false);
      let giveBack = () => {};
      let isLeft = false;
      // One thief at a time: the others hear of it meanwhile.
      void locks.request(`${name} theft`, { ifAvailable: true }, async (lock) => {
        if (!lock || isLeft) return;
        giveBack = queue(onLead, onTaken, true);
        await new Promise((resolve) => setTimeout(resolve, THEFT_MS));
      });
      return () => {
        isLeft = true;
        giveBack();
      };
    },
    live: (id) =>
      new Promise((resolve, reject) => {
        const held = () => new Promise<void>((end) => resolve(() => end()));
        locks.request(presence(id), held).catch(reject);
      }),
    watch(id, onGone) {
      const over = new AbortController();
      locks.request(presence(id), { signal: over.signal }, onGone).catch(() => {});
      return () => over.abort();
    },
    every(ms, beat) {
      const timer = setInterval(beat, ms);
      return () => clearInterval(timer);
    },
    onAway(onHide, onShow) {
      const over = new AbortController();
      const { signal } = over;
      globalThis.addEventListener?.('pagehide', ({ persisted }) => persisted && onHide(), { signal });
      globalThis.addEventListener?.('pageshow', ({ persisted }) => persisted && onShow(), { signal });
      return () => over.abort();
    },
  };
}
