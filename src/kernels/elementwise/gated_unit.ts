// activation(gate) * up of stored gate and up.

import wgsl from '../../../shaders/elementwise/gated_unit.wgsl?raw';
import type { Gpu } from '../../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { ACTIVATION, type Activation, activationConstants } from '../linear/epilogues/gate_up';

export interface GatedUnitShape {
  /** A multiple of 4. */
  intermediate: number;
  activation: Activation;
}

const WORKGROUP = 64;

/** h = activation(gate) * up of a product with the rows of Wg, then those of Wu. */
export class GatedUnit {
  constructor(
    private readonly kernel: Kernel,
    private readonly groups: number,
  ) {}

  /** y: f32 (nTokens, 2, intermediate), gate before up; h: f32 (nTokens, intermediate). */
  bind(y: GPUBuffer, h: GPUBuffer): GPUBindGroup {
    return this.kernel.bind(y, h);
  }

  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    list.add(this.kernel, group, this.groups, nTokens);
  }
}

export async function createGatedUnit(gpu: Gpu, { intermediate, activation }: GatedUnitShape): Promise<GatedUnit> {
  const kernel = await createKernel(gpu, {
    label: 'kernels/gated_unit',
    wgsl: [ACTIVATION, wgsl],
    constants: { INTERMEDIATE: intermediate, ...activationConstants(activation) },
    bindings: ['read', 'write'],
  });
  return new GatedUnit(kernel, Math.ceil(intermediate / 4 / WORKGROUP));
}
