// A real WebGPU device in Node for kernel tests: Dawn, on whatever adapter the machine has (SwiftShader in CI).

import { create, globals } from 'webgpu';
import { Gpu, type GpuOptions } from '../../src/gpu/device';
import type { CapabilityName } from '../../src/gpu/limits';

Object.assign(globalThis, globals);
// A constant of the module, because Dawn and its devices are freed when this object is collected. SwiftShader spends
// seconds a kernel on clearing workgroup memory. Without clearing, kernels that rely on zeros fail.
const dawn = create(['enable-dawn-features=disable_workgroup_init']);

/** A device of its own. */
export function requestGpu(options: Omit<GpuOptions, 'gpu'> = {}): Promise<Gpu> {
  return Gpu.request({ gpu: dawn, ...options });
}

const devices = new Map<string, Promise<Gpu>>();

/** One device for each set of omitted capabilities, shared by all tests of a file. */
export function testGpu(without: readonly CapabilityName[] = []): Promise<Gpu> {
  const key = [...without].sort().join();
  const gpu = devices.get(key) ?? requestGpu({ without });
  devices.set(key, gpu);
  return gpu;
}

/** The paths of every kernel test: all capabilities of the device, and the plain path of any device. */
export const PATHS: readonly (readonly CapabilityName[])[] = [[], ['subgroups', 'immediates']];

export function pathName(without: readonly CapabilityName[]): string {
  return without.length === 0 ? 'all capabilities' : `without ${without.join(' and ')}`;
}
