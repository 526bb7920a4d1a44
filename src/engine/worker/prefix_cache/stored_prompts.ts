// Prompts that outlive the engine: brings what storage has of a prompt into the cache where reading is faster than
// computing, and writes what a later load will want while nothing else runs.

import { ownerOf, type PromptModel, pieceNames, tokensPerPiece } from '../../../storage/prompts/prompt_piece';
import { deletePrompts, openPrompts, type PromptStore } from '../../../storage/prompts/prompt_store';

import type { KvBytes } from '../../backend/backend';
import type { LoadedModel } from '../../load/load';
import { LEAST_STORED, LEAST_TOKENS, sharedPrefix } from './shared_prefix';

/** A prompt is written where reading it back is so much faster than computing it. */
const GAIN = 2;
/** Reads of a piece that tell how fast storage is: the best counts, as anything may delay one. */
const READS = 3;
/** Times that an engine looks whether storage is fast enough by now. */
const MOST_TRIES = 3;

interface Model extends PromptModel {
  /** False once a person has deleted the model. */
  isKept(): Promise<boolean>;
}

/** The cache of a session. */
interface Cached {
  cachedIds: readonly number[];
}

interface Sources {
  /** Null where this browser keeps nothing. */
  store: Promise<PromptStore | null>;
  /** The address of the model. */
  location: string;
  /** Null where the browser does not keep the model. */
  model: Promise<Model | null>;
  kv: KvBytes;
  bytesPerToken: number;
  /** The tokens for a later load: those of the system prompt, or all that the cache holds. */
  keeps: 'system' | 'all';
  /** Tests take short prompts and pieces. */
  leastStored?: number;
  pieceTokens?: number;
  now?: () => number;
}

/** Takes a turn among the requests: nothing else uses the cache meanwhile. Null where a request waits. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T | null>;

export class StoredPrompts {
  private readonly tokens: number;
  private readonly pieceBytes: number;
  private readonly now: () => number;
  /** Names of the pieces that this engine read or wrote. */
  private readonly used = new Set<string>();
  /** Milliseconds for the tokens of a piece: to compute, and to read. Null until measured. */
  private computeMs: number | null = null;
  private readMs: number | null = null;
  /** The ids of the newest prompt for a later load, and how many of them it will want. */
  private wanted: { ids: readonly number[]; count: () => number } | null = null;
  private tries = 0;
  /** True once the browser refused a write. */
  private isFull = false;

  constructor(private readonly sources: Sources) {
    this.tokens = sources.pieceTokens ?? tokensPerPiece(sources.bytesPerToken);
    this.pieceBytes = this.tokens * sources.bytesPerToken;
    this.now = sources.now ?? (() => performance.now());
  }

  /**
   * Brings more of a prompt into the cache, which holds its first `cached` ids. Returns how many it holds then. No
   * step may be in flight. @throws as the backend
   */
  async restore(
    session: Cached,
    wanted: Uint32Array<ArrayBuffer>,
    cached: number,
    stopped: () => boolean,
  ): Promise<number> {
    const most = wanted.length - 1; // the last token gives the first logits
    if (most - cached < LEAST_TOKENS) return cached;
    const { location, model } = this.sources;
    const store = await this.sources.store;
    if (!store?.bytesOf(ownerOf(location))) return cached; // the model may be still on its way into storage
    const names = this.namesOf(await model, wanted.subarray(0, most));
    const first = Math.floor(cached / this.tokens);
    let end = first;
    while (end < names.length && store.has(names[end], this.pieceBytes)) end++;
    if (end * this.tokens - cached < LEAST_TOKENS) return cached;
    const read = (i: number) => (i < end ? store.read(names[i], this.pieceBytes) : null);
    session.cachedIds = Array.from(wanted.subarray(0, cached)); // what follows is about to be overwritten
    let held = cached;
    let computeMs = 0;
    const start = this.now();
    let next = read(first);
    for (let i = first; i < end && !stopped(); i++) {
      const piece = await next;
      next = read(i + 1);
      const ids = wanted.slice(0, (i + 1) * this.tokens);
      if (!piece || !(await this.sources.kv.write(ids, i * this.tokens, piece.body))) break;
      held = ids.length;
      this.used.add(names[i]);
      this.computeMs ??= piece.computeMs;
      computeMs += piece.computeMs;
      this.readMs = (this.now() - start) / (i + 1 - first);
      if (this.now() - start > computeMs) break;
    }
    session.cachedIds = Array.from(wanted.subarray(0, held));
    return Math.max(held, cached);
  }

  /**
   * Notes what a prefill took, and what a later load will want of `ids`. `systemTokens` says how many of them are the
   * system prompt's, when nothing runs.
   */
  note(ids: readonly number[], systemTokens: () => number, msPerToken: number | null): void {
    this.wanted = { ids, count: this.sources.keeps === 'all' ? () => ids.length : systemTokens };
    if (msPerToken !== null) this.computeMs = msPerToken * this.tokens;
  }

  /** Writes what is wanted and not there. Ends soon after `goesOn` turns false, and then goes on at the next call. */
  async write(session: Cached, inTurn: InTurn, goesOn: () => boolean): Promise<void> {
    const { wanted, computeMs } = this;
    if (!wanted || this.isFull || computeMs === null) return;
    if (!this.pays(computeMs) && this.tries >= MOST_TRIES) return;
    try {
      const ids = wanted.ids.slice(0, wanted.count());
      if (ids.length < (this.sources.leastStored ?? LEAST_STORED)) return;
      const [store, model] = await Promise.all([this.sources.store, this.sources.model]);
      if (!store || !model) return;
      const kept = this.namesOf(model, ids).slice(0, store.room(this.pieceBytes));
      if (!kept.every((name) => store.has(name, this.pieceBytes))) {
        if (!(await model.isKept())) return;
        await store.refresh(); // other tabs write, too
      }
      for (const [i, name] of kept.entries()) {
        if (!goesOn()) return;
        if (store.has(name, this.pieceBytes)) continue;
        const first = i * this.tokens;
        const body = await inTurn(async () => {
          const isThere = sharedPrefix(session.cachedIds, ids, first + this.tokens) === first + this.tokens;
          return isThere ? this.sources.kv.read(first, this.tokens) : null;
        });
        if (!body || !(await store.keep(name, { body, computeMs }, goesOn))) return;
        this.used.add(name);
        if (!(await this.checkRead(store, name, computeMs))) return;
      }
      await store.touch(kept);
      if (this.wanted === wanted) this.wanted = null;
    } catch (error) {
      const isHeld = error instanceof Error && error.name === 'NoModificationAllowedError'; // another tab writes it
      this.isFull = !isHeld; // refused, or the GPU is lost
    }
  }

  /** Drops what this engine read and wrote: it may be wrong. */
  async distrust(): Promise<void> {
    this.wanted = null;
    const names = [...this.used];
    this.used.clear();
    const store = await this.sources.store;
    for (const name of names) await store?.remove(name);
  }

  private pays(computeMs: number): boolean {
    return this.readMs === null || GAIN * this.readMs < computeMs;
  }

  /** Reads a first piece back, to learn what that takes. Removes it where it does not pay. */
  private async checkRead(store: PromptStore, name: string, computeMs: number): Promise<boolean> {
    if (this.readMs !== null && this.pays(computeMs)) return true;
    this.tries++;
    this.readMs = null;
    for (let i = 0; i < READS; i++) {
      const start = this.now();
      if (!(await store.read(name, this.pieceBytes))) return false;
      this.readMs = Math.min(this.readMs ?? Number.POSITIVE_INFINITY, this.now() - start);
      if (this.pays(computeMs)) return true;
    }
    await store.remove(name);
    return false;
  }

  private namesOf(model: Model | null, ids: ArrayLike<number>): string[] {
    return model ? pieceNames(model, ids, this.tokens) : [];
  }
}

/** Null where the model or its options keep none. */
export async function storedPrompts({ session, stored }: LoadedModel): Promise<StoredPrompts | null> {
  const { parking } = session.backend;
  const kv = await session.backend.kvBytes?.();
  if (!stored || !kv || !parking) return null;
  return new StoredPrompts({ store: openPrompts(), ...stored, kv, bytesPerToken: parking.bytesPerToken });
}

/** Deletes the prompts of the model at an address. Never throws. */
export function deleteOf(location: string): Promise<void> {
  return deletePrompts(location);
}
