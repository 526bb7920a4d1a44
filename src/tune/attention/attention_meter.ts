// The meter of attention: compiles a sibling, compares it with the textbook, and times it on the caches of all layers.

import type { AttentionKernel, AttentionShape } from '../../attention/attention';
import { checkAttention } from '../../attention/check';
import { createAttention } from '../../attention/create';
import { kvRoom } from '../../attention/kv_layout';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import type { PassTimeOptions } from '../../gpu/time_pass';
import type { Reason } from '../../shared/why';
import { type LayeredRun, timeAlone } from '../timing';
import type { Meter } from '../tuner';
import { type AttentionCandidate, keyOf, type TunedPass } from './attention_candidates';

/** Buffers as a model binds them, with the caches of all layers. Tuning overwrites them. */
export interface AttentionTuneBuffers {
  q: GPUBuffer;
  out: GPUBuffer;
  k: readonly Bindable[];
  v: readonly Bindable[];
  /** The window of each layer. */
  windows: readonly (number | null)[];
}

export class AttentionMeter {
  /** Results of checks by kind of pass and candidate. The kernel is the same for all cache lengths. */
  private readonly faults = new Map<string, Reason | null>();

  constructor(
    private readonly gpu: Gpu,
    private readonly shape: AttentionShape,
    private readonly buffers: AttentionTuneBuffers,
  ) {}

  /** The meter of one pass. */
  at(pass: TunedPass, timing: PassTimeOptions & { budgetMs: number }): Meter<AttentionCandidate, AttentionKernel> {
    return {
      compile: ({ name, parameters }) => createAttention(this.gpu, name, this.shape, parameters),
      verify: (kernel, candidate) => this.verify(kernel, candidate, pass),
      time: ([kernel]) => this.time(kernel, pass, timing),
      destroy: (kernel) => kernel.destroy(),
      inTurn: false,
      repeatBelowMs: timing.budgetMs,
    };
  }

  private async verify(
    kernel: AttentionKernel,
    candidate: AttentionCandidate,
    pass: TunedPass,
  ): Promise<Reason | null> {
    const key = `${pass.pass} ${keyOf(candidate)}`;
    const known = this.faults.get(key);
    if (known !== undefined) return known;
    const { q, k, v, out, windows } = this.buffers;
    const first = { q, k: k[0], v: v[0], out, room: kvRoom(this.shape, windows[0]) };
    const fault = await checkAttention(this.gpu, kernel, this.shape, first, pass.nTokens);
    if (!this.gpu.failure) this.faults.set(key, fault);
    return fault;
  }

  private async time(
    kernel: AttentionKernel,
    { kvLen, nTokens }: TunedPass,
    timing: PassTimeOptions,
  ): Promise<number[]> {
    const { q, k, v, out, windows } = this.buffers;
    const bound = k.map((keys, layer) => kernel.bind(q, keys, v[layer], out, windows[layer]));
    const layers = bound.length;
    const run: LayeredRun = { layers, record: (list, repeat) => bound[repeat % layers].record(list, nTokens) };
    return [await timeAlone(this.gpu, { position: kvLen - nTokens, nTokens }, run, timing)];
  }
}
