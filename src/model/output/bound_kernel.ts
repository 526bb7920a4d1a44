// Kernels of the end of a pass, each with its buffers.

import type { CommandList } from '../../gpu/kernel';

/** A kernel with its buffers. */
export type Bound = (list: CommandList, parts?: boolean) => void;

interface Unbound {
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup;
  record(list: CommandList, group: GPUBindGroup, parts?: boolean): void;
}

export async function bound(kernel: Promise<Unbound>, ...buffers: readonly GPUBuffer[]): Promise<Bound> {
  const made = await kernel;
  const group = made.bind(...buffers);
  return (list, parts) => made.record(list, group, parts);
}
