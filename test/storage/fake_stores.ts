// The browser's storage in memory. It can fill up, lose pieces and be deleted during a load.

import type { ManifestStore, Presence } from '../../src/storage/cache/manifest_store';
import type { PieceStore } from '../../src/storage/cache/piece_store';
import type { Stores } from '../../src/storage/cache/stores';

class FakePieces implements PieceStore {
  readonly pieces = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Age of all pieces in ms. */
  age = 0;
  writes = 0;
  /** The write from which on storage is full. */
  fullAt = Number.POSITIVE_INFINITY;

  async read(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    return this.pieces.get(name)?.slice() ?? null;
  }

  async write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.writes++ >= this.fullAt) throw new DOMException('no room', 'QuotaExceededError');
    this.pieces.set(name, bytes.slice());
  }

  async remove(name: string): Promise<void> {
    this.pieces.delete(name);
  }

  async list(): Promise<{ name: string; writtenAt: number }[]> {
    return [...this.pieces.keys()].map((name) => ({ name, writtenAt: Date.now() - this.age }));
  }
}

class FakeManifests implements ManifestStore {
  readonly values = new Map<unknown, unknown>();
  refuses = false;
  private queue: Promise<unknown> = Promise.resolve();

  async get(key: string): Promise<unknown> {
    return structuredClone(this.values.get(key));
  }

  async update(key: string, change: (old: unknown) => unknown): Promise<void> {
    if (this.refuses) throw new DOMException('no database', 'InvalidStateError');
    const value = change(structuredClone(this.values.get(key)));
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, structuredClone(value));
  }

  async entries(): Promise<[unknown, unknown][]> {
    return structuredClone([...this.values]);
  }

  async remove(keys: readonly unknown[]): Promise<void> {
    for (const key of keys) this.values.delete(key);
  }

  alone(work: () => Promise<void>): Promise<void> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => {});
    return done;
  }

  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly present = new Map<string, number>();

  turn<T>(name: string, work: (hold: (until: Promise<unknown>) => void) => Promise<T>): Promise<T> {
    const held: Promise<unknown>[] = [];
    const before = this.turns.get(name) ?? Promise.resolve();
    const done = before.then(() => work((until) => held.push(until)));
    const over = done.catch(() => {}).then(() => Promise.allSettled(held));
    this.turns.set(name, over);
    return done;
  }

  async join(name: string): Promise<Presence> {
    const count = (change: number) => {
      const now = (this.present.get(name) ?? 0) + change;
      this.present.set(name, now);
      return now;
    };
    return { others: count(1) > 1, leave: () => count(-1) };
  }
}

export interface FakeStores extends Stores {
  pieces: FakePieces;
  manifests: FakeManifests;
}

export function fakeStores(): FakeStores {
  return { pieces: new FakePieces(), manifests: new FakeManifests() };
}
