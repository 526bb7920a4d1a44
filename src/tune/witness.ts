// The check of a loaded model in idle: a GPU that was right at load may turn wrong later (heat, memory, its driver).
// Attention is checked as at load; everything else, weights among it, by a short run whose logits are compared with
// those at load.

import { DeviceLostError } from '../errors';
import type { BufferRange } from '../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, type Gpu } from '../gpu/device';
import { relativeDistance } from './distance';

/** Largest distance of the logits from those at load, as a share of them. Fused and plain steps may differ so. */
const MOST_DISTANCE = 0.05;

/** The parts of a model that the check runs. */
interface WitnessedModel {
  /** The part of the conversation that the check overwrites. */
  readonly kept: readonly BufferRange[];
  /** The logits after a few fixed tokens. */
  runWitness(): Promise<Float32Array>;
  /** The fault of an attention kernel in use, or null. */
  checkAttention(): Promise<string | null>;
}

export class Witness {
  private constructor(private readonly logits: Float32Array) {}

  static async take(model: WitnessedModel): Promise<Witness> {
    return new Witness(await model.runWitness());
  }

  /**
   * Checks the model; keys, values and tokens are as before. Returns the fault of an attention kernel, or null. Reads
   * `stopped` between its two parts, of a few milliseconds each.
   * @throws DeviceLostError where other numbers than attention's are wrong
   */
  async check(gpu: Gpu, model: WitnessedModel, stopped: () => boolean): Promise<string | null> {
    const kept = await keep(gpu, model.kept);
    try {
      const wrong = await model.checkAttention();
      if (wrong !== null || stopped()) return wrong;
      const distance = relativeDistance(await model.runWitness(), this.logits);
      if (distance <= MOST_DISTANCE || !this.logits.every(Number.isFinite)) return null;
      const off = Number.isFinite(distance) ? `${(100 * distance).toFixed(0)}% off` : 'not finite';
      throw new DeviceLostError(`it computes other numbers than when the model was loaded, ${off}`);
    } finally {
      kept.restore();
    }
  }
}

/** Copies ranges aside. */
async function keep(gpu: Gpu, ranges: readonly BufferRange[]): Promise<{ restore(): void }> {
  const bytes = ranges.reduce((sum, { size }) => sum + size, 0);
  const copy = await gpu.guardMemory('The check of the GPU', () =>
    gpu.createBuffer('witness.kept', bytes, GPU_COPY_SRC | GPU_COPY_DST),
  );
  const move = (isBack: boolean) => {
    const encoder = gpu.device.createCommandEncoder({ label: 'witness.kept' });
    let at = 0;
    for (const { buffer, offset, size } of ranges) {
      if (isBack) encoder.copyBufferToBuffer(copy, at, buffer, offset, size);
      else encoder.copyBufferToBuffer(buffer, offset, copy, at, size);
      at += size;
    }
    gpu.submit(encoder.finish());
  };
  move(false);
  return {
    restore() {
      move(true);
      gpu.destroyBuffer(copy); // after the submitted copies
    },
  };
}
