// Vectors of texts: queues the passes of a text and reads what they leave.

import { project } from '../../cpu/embedding';
import type { Gpu } from '../../gpu/device';
import { WordReadback } from '../../gpu/readback';
import type { Llama } from '../../model/llama';
import type { Stopped } from './backend';

/** Most vectors of texts that are on their way back at a time. */
const VECTORS_IN_FLIGHT = 2;

export class VectorReader {
  private constructor(
    private readonly gpu: Gpu,
    private readonly llama: Llama,
    private readonly readback: WordReadback,
  ) {}

  /** @throws GpuMemoryError, GpuProgramError */
  static async create(gpu: Gpu, llama: Llama): Promise<VectorReader> {
    await llama.poolVectors();
    const { size } = llama.pooled;
    const make = () => new WordReadback(gpu, VECTORS_IN_FLIGHT, size);
    return new VectorReader(gpu, llama, await gpu.guardMemory('The readback of vectors', make));
  }

  /** Runs a text from position 0: see Backend.embed. */
  async read(ids: Uint32Array<ArrayBuffer>, stopped: Stopped): Promise<{ vector: Promise<Float32Array> | null }> {
    const { gpu, llama, readback } = this;
    const { buffer, size, dense } = llama.pooled;
    const { pooling } = llama.vectors;
    llama.writeTokens(ids, 0);
    const chunk = llama.passTokens;
    let position = 0;
    for (; ids.length - position > chunk; position += chunk) {
      if (gpu.failure) throw gpu.failure;
      await llama.pass(chunk, pooling === 'mean' ? 'hidden' : 'none', position).run({ position, nTokens: chunk });
      await gpu.workDone();
      if (await stopped()) return { vector: null };
    }
    if (gpu.failure) throw gpu.failure;
    const step = { position, nTokens: ids.length - position };
    const list = llama.pass(step.nTokens, 'hidden', position);
    await list.runCuts(step);
    const encoder = gpu.device.createCommandEncoder();
    list.record(encoder, step);
    const target = readback.copy(encoder, buffer, 0, size);
    gpu.submit(encoder.finish());
    const scale = pooling === 'mean' ? 1 / ids.length : 1;
    const words = readback.readMany(target, size);
    const vector = words.then((read) => {
      const pooled = new Float32Array(read.buffer).map((value) => value * scale);
      return project(pooled, dense);
    });
    return { vector };
  }
}
