// What every suite is given: a device that can be renewed, the request, and someone who listens.

import { Gpu } from '../../src/gpu/device';
import { WANTED_LIMITS } from '../../src/gpu/limits';
import type { BenchProgress, BenchRequest, Neighbor, Surroundings } from '../report';

/** Opens a page beside this one that keeps the GPU busy, or ends it. */
export type AskNeighbor = (busy: boolean) => Promise<Neighbor | null>;

export class Bench {
  private constructor(
    public gpu: Gpu,
    readonly request: BenchRequest,
    readonly say: (progress: BenchProgress) => void,
    readonly signal: AbortSignal,
    readonly neighbor: AskNeighbor,
  ) {}

  static async open(
    request: BenchRequest,
    say: (progress: BenchProgress) => void,
    signal: AbortSignal,
    neighbor: AskNeighbor,
  ): Promise<Bench> {
    return new Bench(await Gpu.request(), request, say, signal, neighbor);
  }

  get stopped(): boolean {
    return this.signal.aborted;
  }

  /** A new device after a failure: whatever was made on the old one is gone. */
  async renew(): Promise<void> {
    this.gpu.destroy();
    this.gpu = await Gpu.request();
  }

  surroundings(date: string): Surroundings {
    const { adapterName: adapter, can, device, limits } = this.gpu;
    const numbers = limits as unknown as Record<string, number | undefined>;
    return {
      date,
      adapter,
      can: { ...can },
      features: [...device.features].sort(),
      limits: Object.fromEntries(WANTED_LIMITS.map((name) => [name, numbers[name] ?? 0])),
      crossOriginIsolated: globalThis.crossOriginIsolated,
      quick: this.request.quick,
      interrupted: this.stopped,
    };
  }
}
