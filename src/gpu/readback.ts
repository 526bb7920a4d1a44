import { GPU_COPY_DST, GPU_MAP_READ, type Gpu } from './device';

/** A ring of mapped buffers of 4 bytes each: one number a step comes back late, while later steps are already queued. */
export class WordReadback {
  private readonly ring: GPUBuffer[];
  private next = 0;

  /** `depth`: the most copies that may be unread at a time. */
  constructor(
    private readonly gpu: Gpu,
    readonly depth: number,
  ) {
    this.ring = Array.from({ length: depth }, (_, i) =>
      gpu.createBuffer(`readback.${i}`, 4, GPU_MAP_READ | GPU_COPY_DST),
    );
  }

  /** Records the copy of the word at `offset` bytes of `source`; the target is to be read after the submit. */
  copy(encoder: GPUCommandEncoder, source: GPUBuffer, offset: number): GPUBuffer {
    const target = this.ring[this.next];
    this.next = (this.next + 1) % this.depth;
    encoder.copyBufferToBuffer(source, offset, target, 0, 4);
    return target;
  }

  async read(target: GPUBuffer): Promise<number> {
    return new Uint32Array(await this.gpu.readMapped(target, 4))[0];
  }
}
