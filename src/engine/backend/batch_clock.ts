// The GPU's time of the steps of a batch: stamps at both ends of a submit, which come back with its ids.

import { GPU_COPY_SRC, GPU_QUERY_RESOLVE, type Gpu } from '../../gpu/device';
import { BATCH_DEPTH } from './backend';

/** Submits whose stamps are in use at a time. */
const SUBMITS = BATCH_DEPTH + 1;
/** A stamp has 64 bits, and a range of stamps begins at a multiple of so many bytes. */
const STAMP_BYTES = 8;
const RANGE_BYTES = 256;
/** Words of the two stamps of a submit. */
export const STAMP_WORDS = (2 * STAMP_BYTES) / 4;

/** The stamps of a submit, for the pass that begins it and for the one that ends it. */
export interface Stamps {
  /** Records a copy of the stamps to `target`, from word `word` on, behind the passes. */
  resolve(encoder: GPUCommandEncoder, target: GPUBuffer, word: number): void;
  begin: GPUComputePassTimestampWrites;
  end: GPUComputePassTimestampWrites;
}

export class BatchClock {
  private readonly set: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  private newest = 0;

  constructor(private readonly gpu: Gpu) {
    this.set = gpu.createStamps('batch.clock', 2 * SUBMITS);
    this.resolved = gpu.createBuffer('batch.clock', RANGE_BYTES * SUBMITS, GPU_QUERY_RESOLVE | GPU_COPY_SRC);
  }

  /** The stamps of the next submit. */
  next(): Stamps {
    const { set: querySet, resolved } = this;
    this.newest = (this.newest + 1) % SUBMITS;
    const [first, at] = [2 * this.newest, RANGE_BYTES * this.newest];
    return {
      begin: { querySet, beginningOfPassWriteIndex: first },
      end: { querySet, endOfPassWriteIndex: first + 1 },
      resolve(encoder, target, word) {
        encoder.resolveQuerySet(querySet, first, 2, resolved, at);
        encoder.copyBufferToBuffer(resolved, at, target, 4 * word, 2 * STAMP_BYTES);
      },
    };
  }

  destroy(): void {
    this.set.destroy();
    this.gpu.destroyBuffer(this.resolved);
  }
}

/** Milliseconds between the two stamps of a submit, which have a buffer of their own. */
export function msBetween(stamps: Uint32Array<ArrayBuffer>): number {
  const [begin, end] = new BigUint64Array(stamps.buffer);
  return Number(end - begin) / 1e6;
}
