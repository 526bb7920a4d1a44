// A real WebGPU device in Node for kernel tests: Dawn, on whatever adapter the machine has (SwiftShader in CI).

import { create, globals } from 'webgpu';
import { Gpu, type GpuOptions } from '../../src/gpu/device';
import type { CapabilityName } from '../../src/gpu/limits';
import { checkWithNaga } from './naga';
import { checkWorkgroupVectors } from './workgroup_vectors';

Object.assign(globalThis, globals);
pollSeldom();
// A constant of the module, because Dawn and its devices are freed when this object is collected. SwiftShader spends
// seconds a kernel on clearing workgroup memory. Without clearing, kernels that rely on zeros fail.
const dawn = create(['enable-dawn-features=disable_workgroup_init']);

/** A device of its own. What it compiles for every browser, the compiler of Firefox must take, too. */
export async function requestGpu(options: Omit<GpuOptions, 'gpu'> = {}): Promise<Gpu> {
  const gpu = await Gpu.request({ gpu: dawn, ...options });
  const { device } = gpu;
  const [createModule, createPipeline] = [device.createShaderModule, device.createComputePipelineAsync];
  const codes = new WeakMap<GPUShaderModule, string>();
  device.createShaderModule = (descriptor) => {
    const module = createModule.call(device, descriptor);
    codes.set(module, descriptor.code);
    return module;
  };
  device.createComputePipelineAsync = async (descriptor) => {
    const pipeline = await createPipeline.call(device, descriptor);
    const code = codes.get(descriptor.compute.module) ?? '';
    checkWithNaga(code);
    checkWorkgroupVectors(code);
    return pipeline;
  };
  return gpu;
}

const devices = new Map<string, Promise<Gpu>>();

function shared(key: string, options: Omit<GpuOptions, 'gpu'>): Promise<Gpu> {
  const gpu = devices.get(key) ?? requestGpu(options);
  devices.set(key, gpu);
  return gpu;
}

/** One device for each set of omitted capabilities, shared by all tests of a file. */
export function testGpu(without: readonly CapabilityName[] = []): Promise<Gpu> {
  return shared([...without].sort().join(), { without });
}

/** The same, with the parameters and the paths of hardware, which a GPU in software is spared. For tests of kernels. */
export function hardwareGpu(without: readonly CapabilityName[] = []): Promise<Gpu> {
  return shared(['as hardware', ...[...without].sort()].join(), { without, asHardware: true });
}

/**
 * The same device to code that compiles kernels anew and counts its own bytes. Shaders that the device has compiled cost
 * nothing: Dawn finds its pipelines by their text.
 * @param bindingLimit most bytes of a binding
 */
export function twinOf(gpu: Gpu, bindingLimit = Number.POSITIVE_INFINITY): Gpu {
  return Object.assign(Object.create(gpu), { allocatedBytes: 0, peakBytes: 0, plannedBinding: bindingLimit });
}

/** The paths of every kernel test: all capabilities of the device, and the plain path of any device. */
export const PATHS: readonly (readonly CapabilityName[])[] = [[], ['subgroups', 'immediates']];

export function pathName(without: readonly CapabilityName[]): string {
  return without.length === 0 ? 'all capabilities' : `without ${without.join(' and ')}`;
}

/**
 * Lets Dawn look for finished work at most once a millisecond. While a promise of the GPU is open, Dawn asks in every
 * turn of the event loop, which takes a core from the threads that compile and run the kernels.
 */
function pollSeldom(): void {
  const { setImmediate: soon, setTimeout: later } = globalThis;
  const isNative = (task: unknown) => typeof task === 'function' && `${task}`.includes('[native code]');
  const schedule = (task: () => void, ...rest: []) => (isNative(task) ? later(task, 1) : soon(task, ...rest));
  globalThis.setImmediate = Object.assign(schedule as typeof setImmediate, soon);
}
