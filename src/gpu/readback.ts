// Reads words back from the GPU, a few bytes a step.

import { GPU_COPY_DST, GPU_MAP_READ, type Gpu } from './device';

/** A ring of small mapped buffers, so that the words of a step can arrive while later steps are already queued. */
export class WordReadback {
  private readonly ring: GPUBuffer[];
  private next = 0;

  /**
   * @param depth most copies that may be unread at a time
   * @param words most words of one copy
   */
  constructor(
    private readonly gpu: Gpu,
    readonly depth: number,
    words = 1,
  ) {
    this.ring = Array.from({ length: depth }, (_, i) =>
      gpu.createBuffer(`readback.${i}`, 4 * words, GPU_MAP_READ | GPU_COPY_DST),
    );
  }

  /** Frees the ring, of which nothing may be unread. */
  destroy(): void {
    for (const buffer of this.ring) this.gpu.destroyBuffer(buffer);
  }

  /** Records a copy of the words at `offset` bytes of `source`. Read the returned target after the submit. */
  copy(encoder: GPUCommandEncoder, source: GPUBuffer, offset: number, words = 1): GPUBuffer {
    const target = this.ring[this.next];
    this.next = (this.next + 1) % this.depth;
    encoder.copyBufferToBuffer(source, offset, target, 0, 4 * words);
    return target;
  }

  /**
   * Records a copy of `words` from word `first` of `source` on, behind the first `before` words of a target of `copy`.
   * The source is read as a ring of `size` words.
   */
  addFromRing(
    encoder: GPUCommandEncoder,
    target: GPUBuffer,
    before: number,
    source: GPUBuffer,
    { first, words, size }: { first: number; words: number; size: number },
  ): void {
    const whole = Math.min(words, size - first);
    encoder.copyBufferToBuffer(source, 4 * first, target, 4 * before, 4 * whole);
    if (words > whole) encoder.copyBufferToBuffer(source, 0, target, 4 * (before + whole), 4 * (words - whole));
  }

  /** The first word of `target`. @throws the failure of the device, or GpuMemoryError */
  async read(target: GPUBuffer): Promise<number> {
    try {
      await this.map(target, 4);
      const word = new Uint32Array(target.getMappedRange(0, 4))[0];
      target.unmap();
      return word;
    } catch (error) {
      throw await this.gpu.readFailure(error, 4);
    } finally {
      this.gpu.watch.end();
    }
  }

  /** The first `words` of `target`. @throws the failure of the device, or GpuMemoryError */
  async readMany(target: GPUBuffer, words: number): Promise<Uint32Array> {
    try {
      await this.map(target, 4 * words);
      const copy = new Uint32Array(target.getMappedRange(0, 4 * words)).slice();
      target.unmap();
      return copy;
    } catch (error) {
      throw await this.gpu.readFailure(error, 4 * words);
    } finally {
      this.gpu.watch.end();
    }
  }

  /** One sync, and a wait that the caller ends. Not an async function: a step makes as few promises as possible. */
  private map(target: GPUBuffer, bytes: number): Promise<undefined> {
    this.gpu.counters.syncs++;
    this.gpu.counters.bytesRead += bytes;
    this.gpu.watch.begin();
    return target.mapAsync(GPU_MAP_READ, 0, bytes);
  }
}
