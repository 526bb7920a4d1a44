// A real WebGPU device in Node for kernel tests: Dawn, on whatever adapter the machine has (SwiftShader in CI).

import { create, globals } from 'webgpu';
import { Gpu } from '../../src/gpu/device';
import type { CapabilityName } from '../../src/gpu/limits';

Object.assign(globalThis, globals);
// Dawn is freed when this object is collected, and devices with it: it lives as long as the module.
// SwiftShader spends seconds a kernel on clearing workgroup memory; off, a kernel that relies on zeros shows itself too.
const dawn = create(['enable-dawn-features=disable_workgroup_init']);

const devices = new Map<string, Promise<Gpu>>();

/** One device per set of capabilities left out, shared by all tests of a file. */
export function testGpu(without: readonly CapabilityName[] = []): Promise<Gpu> {
  const key = [...without].sort().join();
  const gpu = devices.get(key) ?? Gpu.request({ gpu: dawn, without });
  devices.set(key, gpu);
  return gpu;
}

/** Every kernel test runs on both: all that the device can do, and the plain path that any device has. */
export const PATHS: readonly (readonly CapabilityName[])[] = [[], ['subgroups', 'immediates']];

export function pathName(without: readonly CapabilityName[]): string {
  return without.length === 0 ? 'all capabilities' : `without ${without.join(' and ')}`;
}
