// A device of Dawn that refuses chosen buffers, and counts those that exist.

import { Gpu } from '../../src/gpu/device';
import { requestGpu } from '../gpu/test_device';

/** `refused`: an error in the scope of the call. `thrown`: a RangeError of the call. `unmapped`: a readback fails. */
type MemoryFault = 'refused' | 'thrown' | 'unmapped';

class GPUOutOfMemoryError extends Error {}

/** The device that all Gpus of `faultyGpu` share, so that each kernel is compiled once. */
let shared: Promise<Gpu> | null = null;

type Listener = (event: { error: Error }) => void;

/** Listeners of each Gpu that has not ended. */
const hearing = new Set<ReadonlySet<Listener>>();

async function share(): Promise<Gpu> {
  const gpu = await requestGpu();
  gpu.device.addEventListener('uncapturederror', (event: unknown) => {
    for (const listeners of hearing) for (const listener of listeners) listener(event as { error: Error });
  });
  return gpu;
}

/** True for a buffer that is refused, by its number, from 0, its size and its label. */
type Refuse = (n: number, bytes: number, label: string) => boolean;

/** A Gpu on a device with faults. Its buffers are counted, and the device behind it outlives it. */
interface FaultyGpu {
  gpu: Gpu;
  /** Labels of the buffers that were asked for, in their order. */
  labels: string[];
  /** The buffers that exist. */
  live: ReadonlySet<GPUBuffer>;
  refuse(refuse: Refuse): void;
  /** Sends an error of memory that no scope caught. */
  report(message: string): void;
  /** Waits for the events of the device, and stops hearing them. */
  end(): Promise<void>;
}

const MAP_READ = 1;
const STORAGE = 0x80;

export async function faultyGpu({
  fault = 'refused',
  refuse = () => false,
}: {
  fault?: MemoryFault;
  refuse?: Refuse;
} = {}): Promise<FaultyGpu> {
  shared ??= share();
  const { device } = await shared;
  const listeners = new Set<Listener>();
  hearing.add(listeners);
  const labels: string[] = [];
  const live = new Set<GPUBuffer>();
  let isRefused = false;
  const create = (descriptor: GPUBufferDescriptor): GPUBuffer => {
    const { label = '', size } = descriptor;
    const refuses = refuse(labels.length, size, label);
    labels.push(label);
    if (refuses && fault === 'thrown') throw new RangeError('createBuffer failed, size is too large');
    isRefused = refuses && fault === 'refused';
    if (isRefused) device.pushErrorScope('validation');
    const usage = isRefused ? MAP_READ | STORAGE : descriptor.usage; // not legal together: an invalid buffer
    const buffer = device.createBuffer({ ...descriptor, usage });
    if (isRefused) void device.popErrorScope();
    if (refuses && fault === 'unmapped') {
      buffer.mapAsync = () => Promise.reject(new RangeError('Array buffer allocation failed'));
    }
    live.add(buffer);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      live.delete(buffer);
      return destroy();
    };
    return buffer;
  };
  const pop = async () => {
    const refused = isRefused;
    isRefused = false;
    const error = await device.popErrorScope();
    return refused ? new GPUOutOfMemoryError('refused by a test') : error;
  };
  const replaced: Record<string | symbol, unknown> = {
    createBuffer: create,
    popErrorScope: pop,
    destroy() {}, // a device lives on for the next Gpu
    addEventListener: (_: string, listener: Listener) => listeners.add(listener),
  };
  const proxy = new Proxy(device, {
    get(target, key) {
      if (key in replaced) return replaced[key];
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { can } = await shared;
  const adapter = {
    limits: device.limits,
    info: { isFallbackAdapter: true, subgroupMinSize: can.subgroupMinSize, vendor: '', description: 'faulty' },
    features: device.features,
    requestDevice: async () => proxy,
  };
  const languageFeatures = new Set(can.immediates ? ['immediate_address_space'] : []);
  const source = { wgslLanguageFeatures: languageFeatures, requestAdapter: async () => adapter };
  return {
    gpu: await Gpu.request({ gpu: source as unknown as GPU }),
    labels,
    live,
    refuse(next) {
      refuse = next;
    },
    report(message) {
      for (const listener of listeners) listener({ error: new GPUOutOfMemoryError(message) });
    },
    async end() {
      await device.queue.onSubmittedWorkDone();
      hearing.delete(listeners);
    },
  };
}
