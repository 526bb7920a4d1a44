// The rows of a prompt's last token, moved to the front.

import wgsl from '../../../shaders/elementwise/last_row.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';

export interface LastRowShape {
  /** Columns of x, a multiple of 4. */
  xSize: number;
  /** Columns of q, a multiple of 4. */
  qSize: number;
}

const WORKGROUP = 64;

/** x[0] = x[nTokens - 1] and q[0] = q[nTokens - 1], in place. */
export class LastRow {
  constructor(
    private readonly kernel: Kernel,
    private readonly groups: number,
  ) {}

  /** x: f32 (nTokens, xSize); q: f32 (nTokens, qSize). */
  bind(x: GPUBuffer, q: GPUBuffer): GPUBindGroup {
    return this.kernel.bind(x, q);
  }

  record(list: CommandList, group: GPUBindGroup): void {
    list.add(this.kernel, group, this.groups);
  }
}

export async function createLastRow(gpu: Gpu, { xSize, qSize }: LastRowShape): Promise<LastRow> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/last_row',
    wgsl: [wgsl],
    constants: { X_QUADS: xSize / 4, Q_QUADS: qSize / 4, WORKGROUP },
    bindings: ['write', 'write'],
  });
  return new LastRow(kernel, Math.ceil(Math.max(xSize, qSize) / 4 / WORKGROUP));
}
