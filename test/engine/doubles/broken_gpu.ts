// A working GPU with defects in some attention siblings, like those of a bad driver.

import { ATTENTION_NAMES, type AttentionName } from '../../../src/attention/attention';
import { GpuMemoryError } from '../../../src/errors';
import type { Gpu } from '../../../src/gpu/device';

/** `refused`: the shader does not compile. `wrong`: it compiles and gives wrong numbers. */
export type Defect = 'refused' | 'wrong';

export const ALL_REFUSED: Partial<Record<AttentionName, Defect>> = Object.fromEntries(
  ATTENTION_NAMES.map((name) => [name, 'refused']),
);

/** The cpu sibling has no shader, so both defects refuse its memory. */
export function breakSiblings(gpu: Gpu, defects: Partial<Record<AttentionName, Defect>>): Gpu {
  const device = new Proxy(gpu.device, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'createShaderModule') return value.bind(target);
      return (descriptor: GPUShaderModuleDescriptor) => target.createShaderModule(sabotage(descriptor, defects));
    },
  });
  // A new object with the old one as its prototype, because pipelines are cached for each Gpu.
  const broken: Gpu = Object.create(gpu, { device: { value: device }, destroy: { value: () => {} } });
  broken.createBuffer = (label, size, usage) => {
    if (defects.cpu && label.startsWith('attention.cpu')) throw new GpuMemoryError(label, size, null, 'A test.');
    return Object.getPrototypeOf(gpu).createBuffer.call(broken, label, size, usage);
  };
  return broken;
}

function sabotage(
  { label = '', code }: GPUShaderModuleDescriptor,
  defects: Partial<Record<AttentionName, Defect>>,
): GPUShaderModuleDescriptor {
  const stem = /^attention\/([a-z_]+[0-9]*)/.exec(label)?.[1];
  const defect = stem === undefined ? undefined : defects[stem as AttentionName];
  switch (defect) {
    case undefined:
      return { label, code };
    case 'refused':
      return { label, code: `${code}\nthis is no WGSL` };
    case 'wrong': {
      const wrong = code.replace(/\bexp2\(/g, 'exp2(0.5 * ');
      if (wrong === code) throw new Error(`${label} has no exp2 to break`);
      return { label, code: wrong };
    }
    default:
      throw defect satisfies never;
  }
}
