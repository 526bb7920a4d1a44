// Faults of the GPU: loss, refusal, memory that runs out, readbacks that fail, and weights that are no numbers.

import { around, refusal } from './patch';
import type { Schedule } from './schedule';

interface Scope {
  filter: string;
  error: GPUError | null;
}

interface Watched {
  scopes: Scope[];
  /** Bytes of the buffers that live. */
  bytes: number;
}

const devices = new Map<GPUDevice, Watched>();
const owners = new WeakMap<GPUBuffer, GPUDevice>();
/** Vectors of weights that can be written. */
const vectors = new Set<GPUBuffer>();

export function destroyDevices(): void {
  for (const device of devices.keys()) device.destroy();
}

/** Fills a vector of weights with bytes that are NaN in f32 and in f16. */
export function damageWeights(random: () => number): void {
  const buffer = [...vectors][Math.floor(random() * vectors.size)];
  const device = buffer && owners.get(buffer);
  if (!buffer || !device) return;
  const bytes = new Uint8Array(Math.min(64, buffer.size)).fill(0xff);
  device.queue.writeBuffer(buffer, 0, bytes);
}

export function patchGpu(schedule: Schedule): void {
  around('GPU', ['requestAdapter'], (usual) => (schedule.strikes('gpu-refused') ? Promise.resolve(null) : usual()));
  around('GPUAdapter', ['requestDevice'], async (usual) => {
    const device = (await usual()) as GPUDevice;
    devices.set(device, { scopes: [], bytes: 0 });
    void device.lost.then(() => devices.delete(device));
    return device;
  });
  around('GPUQueue', ['submit'], (usual) => {
    const submitted = usual();
    schedule.submitted();
    return submitted;
  });
  around('GPUBuffer', ['mapAsync'], (usual) => {
    if (!schedule.strikes('gpu-map-rejected')) return usual();
    return Promise.reject(refusal('OperationError', 'the readback failed'));
  });
  patchScopes();
  patchBuffers(schedule);
}

/** Error scopes also take the errors that are injected. */
function patchScopes(): void {
  around('GPUDevice', ['pushErrorScope'], (usual, device, [filter]) => {
    devices.get(device as GPUDevice)?.scopes.push({ filter: String(filter), error: null });
    return usual();
  });
  around('GPUDevice', ['popErrorScope'], async (usual, device) => {
    const scope = devices.get(device as GPUDevice)?.scopes.pop();
    return (await usual()) ?? scope?.error ?? null;
  });
}

function patchBuffers(schedule: Schedule): void {
  around('GPUDevice', ['createBuffer'], (usual, self, args) => {
    const device = self as GPUDevice;
    const { size, usage, label = '' } = args[0] as GPUBufferDescriptor;
    const watched = devices.get(device);
    if (!watched) return usual();
    const small = schedule.strikes('gpu-small');
    const fails = (small && watched.bytes + size > small.mb * 1e6) || schedule.strikes('gpu-oom');
    if (fails) {
      failNearest(device, watched);
      // A buffer without memory is invalid, as one with these usages is.
      args[0] = { ...(args[0] as GPUBufferDescriptor), usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE };
      device.pushErrorScope('validation');
      const invalid = usual();
      void device.popErrorScope();
      return invalid;
    }
    const buffer = usual() as GPUBuffer;
    owners.set(buffer, device);
    watched.bytes += size;
    if (label.startsWith('weights.') && usage & GPUBufferUsage.COPY_DST) vectors.add(buffer);
    return buffer;
  });
  around('GPUBuffer', ['destroy'], (usual, self) => {
    const buffer = self as GPUBuffer;
    const watched = devices.get(owners.get(buffer)!);
    if (watched) watched.bytes -= buffer.size;
    owners.delete(buffer);
    vectors.delete(buffer);
    return usual();
  });
}

/** Gives the error to the nearest scope, or to the device. */
function failNearest(device: GPUDevice, { scopes }: Watched): void {
  const error = new GPUOutOfMemoryError('Injected: out of memory');
  const scope = scopes.findLast(({ filter }) => filter === 'out-of-memory');
  if (scope) scope.error ??= error;
  else device.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
}
