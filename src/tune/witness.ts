// The check of a loaded model in idle: a GPU that was right at load may turn wrong later (heat, memory, its driver).
// Attention is checked as at load; everything else, weights among it, by a short run whose logits are compared with
// those at load.

import { CHECKED_POSITIONS } from '../attention/check';
import { kvPlanes } from '../attention/kv_layout';
import { AttentionUnavailable, DeviceLostError } from '../errors';
import type { BufferRange } from '../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, type Gpu } from '../gpu/device';
import type { Llama } from '../model/llama';
import { relativeDistance } from './distance';

/** Largest distance of the logits from those at load, as a share of them. Fused and plain steps may differ so. */
const MOST_DISTANCE = 0.05;

interface Checked {
  gpu: Gpu;
  llama: Llama;
  /** The logits of `runWitness` at load. */
  witness: Float32Array;
  /** The kernel of attention that decodes. */
  decoder(): string;
}

/**
 * Checks the model, and replaces an attention kernel that has turned wrong. Returns a warning of that, or null.
 * Keys, values and tokens are as before. Reads `stopped` between its two parts, of a few milliseconds each.
 * @throws DeviceLostError where other numbers than attention's are wrong, or where no kernel is right: the GPU has
 *   failed by then
 */
export async function recheck(
  { gpu, llama, witness, decoder }: Checked,
  stopped: () => boolean,
): Promise<string | null> {
  if (gpu.failure) return null;
  try {
    const wrong = await check(gpu, llama.witnessed, witness, stopped);
    if (wrong === null) return null;
    await llama.retune(); // checks all siblings, and sets the wrong ones aside
    return `An attention kernel has turned wrong since the load (${wrong}). ${decoder()} decodes now.`;
  } catch (error) {
    if (error instanceof DeviceLostError || error instanceof AttentionUnavailable) {
      gpu.fail(error instanceof DeviceLostError ? error : new DeviceLostError(error.reason));
    }
    throw error;
  }
}

type Witnessed = Llama['witnessed'];

/** The fault of an attention kernel in use, or null. */
async function check(
  gpu: Gpu,
  model: Witnessed,
  witness: Float32Array,
  stopped: () => boolean,
): Promise<string | null> {
  const kept = await keep(gpu, overwritten(model));
  try {
    const wrong = await model.checkAttention();
    if (wrong !== null || stopped()) return wrong;
    const distance = relativeDistance(await model.runWitness(), witness);
    if (distance <= MOST_DISTANCE || !witness.every(Number.isFinite)) return null;
    const off = Number.isFinite(distance) ? `${(100 * distance).toFixed(0)}% off` : 'not finite';
    throw new DeviceLostError(`it computes other numbers than when the model was loaded, ${off}`);
  } finally {
    kept.restore();
  }
}

/** The part of the conversation that the check overwrites. */
export function overwritten({ nTokens, attentionShape, kvCache, tokens }: Witnessed): BufferRange[] {
  const rowsOf = (cache: BufferRange, rows: number, room: number): BufferRange[] =>
    kvPlanes(attentionShape, room).flatMap(({ offset: plane, rowBytes }) =>
      Array.from({ length: attentionShape.nKvHeads }, (_, head) => {
        const offset = cache.offset + plane + head * room * rowBytes;
        return { buffer: cache.buffer, offset, size: Math.min(rows, room) * rowBytes };
      }),
    );
  const caches = [kvCache.k, kvCache.v].flatMap((each) =>
    each.flatMap((cache, layer) => rowsOf(cache, layer === 0 ? CHECKED_POSITIONS : nTokens + 1, kvCache.rooms[layer])),
  );
  return [...caches, { buffer: tokens, offset: 0, size: 4 * (nTokens + 2) }];
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
