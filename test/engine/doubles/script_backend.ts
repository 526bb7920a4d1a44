// A scripted backend for tests of the loop.

import type { Backend, Stopped } from '../../../src/engine/backend/backend';

/** A backend with a script: the token at position p of the conversation is script(p). It checks its own use. */
export class ScriptBackend implements Backend {
  readonly name = 'webgpu';
  readonly attention = { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'a script' } as const;
  readonly step = { name: 'plain', reason: 'a script', gain: null, giveUps: 0 } as const;
  readonly vectors = { pooling: 'last', normalized: false, size: 2, only: false } as const;
  readonly maxRunAhead: number = 8;
  readonly counters = { dispatches: 0, submits: 0, syncs: 0, bytesRead: 0, pipelines: 0 };
  readonly peakGpuBytes = 1000;
  /** Position and length of each prefill. `deepest`: most steps in flight at a time. */
  readonly prefills: { position: number; length: number }[] = [];
  /** Length of each text of `embed`. */
  readonly embedded: number[] = [];
  deepest = 0;
  protected inFlight = 0;
  /** Position of the next step. */
  protected next = 0;

  constructor(
    readonly contextLength: number,
    public script: (position: number) => number,
    /** Milliseconds until an id comes back. */
    private readonly delayMs = 0,
  ) {}

  begin(): void {}

  async prefill(ids: Uint32Array, position: number, onProgress: (done: number) => void, stopped: Stopped) {
    this.prefills.push({ position, length: ids.length });
    onProgress(0);
    await new Promise((resolve) => setTimeout(resolve));
    if (await stopped()) return { token: null, ran: 0 };
    this.next = position + ids.length - 1;
    return { token: this.decode(this.next) };
  }

  goOn(ids: Uint32Array): void {
    this.next = ids.length - 1;
  }

  /** The vector of a text: its first id and its length. */
  async embed(ids: Uint32Array, stopped: Stopped): Promise<{ vector: Promise<Float32Array> | null }> {
    this.embedded.push(ids.length);
    await new Promise((resolve) => setTimeout(resolve));
    return { vector: (await stopped()) ? null : Promise.resolve(new Float32Array([ids[0], ids.length])) };
  }

  async decode(position: number): Promise<number> {
    if (position !== this.next) throw new Error(`step at ${position}, expected ${this.next}`);
    if (position >= this.contextLength) throw new Error(`position ${position} is outside the context`);
    this.next++;
    this.inFlight++;
    this.deepest = Math.max(this.deepest, this.inFlight);
    this.counters.dispatches += 43;
    this.counters.submits++;
    this.counters.syncs++;
    this.counters.bytesRead += 4;
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    this.inFlight--;
    return this.script(position + 1);
  }

  async stepTimes(): Promise<number[]> {
    return Array.from({ length: this.counters.submits }, (_, i) => i);
  }

  async tune(): Promise<never> {
    throw new Error('a script has nothing to tune');
  }

  async roofline(): Promise<never> {
    throw new Error('a script has no memory to measure');
  }

  destroy(): void {}
}
