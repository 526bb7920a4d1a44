// One candidate of the tuner: compiled, verified, and only then timed.

import type { AttentionKernel, AttentionShape } from '../attention/attention';
import { checkAttention } from '../attention/check';
import { createAttention } from '../attention/create';
import { AttentionUnavailable, GpuMemoryError, GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { type PassTimeOptions, timePass } from '../gpu/time_pass';
import { type Candidate, keyOf, type TunedPass } from './attention_candidates';

/** As the model binds them, with the caches of all layers. What they hold is lost. */
export interface TuneBuffers {
  q: GPUBuffer;
  out: GPUBuffer;
  k: readonly GPUBuffer[];
  v: readonly GPUBuffer[];
  /** The window of each layer. */
  windows: readonly (number | null)[];
}

/** Milliseconds of one layer's attention, or the reason why it cannot run here. */
export type Measurement = { ms: number; refused: null } | { ms: null; refused: string };

export class CandidateMeter {
  /** What checks found, by kind of pass and candidate: the length of the cache makes no other kernel. */
  private readonly faults = new Map<string, string | null>();

  constructor(
    private readonly gpu: Gpu,
    private readonly shape: AttentionShape,
    private readonly buffers: TuneBuffers,
  ) {}

  /** All at once: browsers compile pipelines on several threads. What is refused is refused again when it is measured. */
  async compileAhead(candidates: readonly Candidate[]): Promise<void> {
    const made = candidates.map(({ name, parameters }) => createAttention(this.gpu, name, this.shape, parameters));
    for (const outcome of await Promise.allSettled(made)) {
      if (outcome.status === 'fulfilled') outcome.value.destroy();
    }
  }

  /** @throws the failure of the device, which is no candidate's own */
  async measure(candidate: Candidate, pass: TunedPass, timing: PassTimeOptions): Promise<Measurement> {
    let kernel: AttentionKernel | undefined;
    try {
      kernel = await createAttention(this.gpu, candidate.name, this.shape, candidate.parameters);
      const refused = await this.faultOf(kernel, candidate, pass);
      return refused === null ? { ms: await this.time(kernel, pass, timing), refused } : { ms: null, refused };
    } catch (error) {
      const refused = reasonOf(error);
      if (refused === null || this.gpu.failure) throw this.gpu.failure ?? error;
      return { ms: null, refused };
    } finally {
      kernel?.destroy();
    }
  }

  private async faultOf(kernel: AttentionKernel, candidate: Candidate, pass: TunedPass): Promise<string | null> {
    const key = `${pass.pass} ${keyOf(candidate)}`;
    const known = this.faults.get(key);
    if (known !== undefined) return known;
    const { q, k, v, out } = this.buffers;
    const fault = await checkAttention(this.gpu, kernel, this.shape, { q, k: k[0], v: v[0], out }, pass.nTokens);
    if (this.gpu.failure) throw this.gpu.failure;
    this.faults.set(key, fault);
    return fault;
  }

  /** Each repeat reads another layer's keys and values, so that no cache of the GPU holds them all. */
  private async time(kernel: AttentionKernel, pass: TunedPass, timing: PassTimeOptions): Promise<number> {
    const { q, k, v, out, windows } = this.buffers;
    const layers = k.map((keys, layer) => kernel.bind(q, keys, v[layer], out, windows[layer]));
    const step = { position: pass.kvLen - pass.nTokens, nTokens: pass.nTokens };
    const add = (list: CommandList, repeat: number) => layers[repeat % layers.length].record(list, pass.nTokens);
    const { ms } = await timePass(this.gpu, step, add, { ...timing, minRepeats: layers.length });
    return ms;
  }
}

/** Why a candidate cannot run, as a fragment of a sentence; null for an error that says nothing about it. */
function reasonOf(error: unknown): string | null {
  if (error instanceof AttentionUnavailable) return error.reason;
  if (error instanceof GpuProgramError || error instanceof GpuMemoryError) return error.message.replace(/\s+/g, ' ');
  return null;
}
