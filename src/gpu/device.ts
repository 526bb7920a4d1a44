// A WebGPU device: requests it, allocates and reads its buffers, counts its calls, and turns its failures into typed
// errors.

import { DeviceLostError, GpuMemoryError, GpuProgramError, VivaceError, WebGpuUnavailableError } from '../errors';
import { type Bindable, rangeOf, storedBytes } from './buffer_range';
import { type CapabilityName, capabilities, type GpuCapabilities, wantedLimits } from './limits';

/** WebGPU calls since the device was made. The metrics of a run are differences of these. */
export interface GpuCounters {
  dispatches: number;
  submits: number;
  /** Readbacks that the CPU waited for. */
  syncs: number;
  /** Bytes mapped for reading. */
  bytesRead: number;
  /** Pipelines that were compiled. */
  pipelines: number;
}

export interface GpuOptions {
  /** Default `navigator.gpu`. Tests pass Dawn's. */
  gpu?: GPU;
  /** Capabilities to leave unused although the device has them. */
  without?: readonly CapabilityName[];
  /** Most bytes of a binding, if less than the device grants: tests split small matrices. */
  bindingLimit?: number;
}

/** Longest delay between the failure of a call and the news that the device is lost. */
const LOSS_MS = 500;

/** Errors of a call that a lost device may have caused. */
const GPU_CODES = ['gpu-program', 'gpu-memory', 'attention-unavailable', 'device-lost'];

/** Compares the name, because Node has no such global class. */
const isOutOfMemory = (error: GPUError) => error.constructor.name === 'GPUOutOfMemoryError';

/** Turns a refusal of the browser into a typed error, so that callers can fall back. */
async function granted<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw new WebGpuUnavailableError(error instanceof Error ? error.message : String(error));
  }
}

/** A device with its capabilities, its allocated bytes and the counts of its calls. */
export class Gpu {
  readonly counters: GpuCounters = { dispatches: 0, submits: 0, syncs: 0, bytesRead: 0, pipelines: 0 };
  allocatedBytes = 0;
  peakBytes = 0;
  /** The first error that no scope caught, or the loss of the device. The loop checks it between steps. */
  failure: Error | null = null;
  /** Resolves with `failure` once there is one. */
  readonly failing: Promise<Error>;
  private resolveFailing: (error: Error) => void = () => {};
  private isDestroyed = false;

  private constructor(
    readonly device: GPUDevice,
    readonly adapterName: string,
    readonly can: GpuCapabilities,
    /** True if the adapter computes on the CPU: it compiles kernels for seconds, and no hardware feature is fast. */
    readonly isSoftware: boolean,
    readonly isApple: boolean,
    private readonly plannedBinding: number,
  ) {
    this.failing = new Promise((resolve) => {
      this.resolveFailing = resolve;
    });
    void device.lost.then((info) => {
      if (!this.isDestroyed) this.fail(new DeviceLostError(info.message || info.reason));
    });
    device.addEventListener('uncapturederror', ({ error }) => {
      if (!isOutOfMemory(error)) return this.fail(new GpuProgramError('WebGPU', error.message));
      const remedy = 'Close other GPU pages, or choose a smaller model.';
      this.fail(new GpuMemoryError('The GPU work', this.allocatedBytes, null, remedy));
    });
  }

  /** Declares the device lost to all later calls. */
  fail(error: Error): void {
    this.failure ??= error;
    this.resolveFailing(this.failure);
  }

  /**
   * The cause of a failed call: the error itself, or the loss of the device, which fails every call with a message of
   * its own. Waits up to LOSS_MS for the news of the loss, if the error does not name another cause.
   */
  async explain(error: unknown): Promise<unknown> {
    if (error instanceof VivaceError && !GPU_CODES.includes(error.code)) return error;
    if (!this.failure && (!(error instanceof VivaceError) || error.code === 'gpu-program')) {
      await Promise.race([this.failing, new Promise((resolve) => setTimeout(resolve, LOSS_MS))]);
    }
    return this.failure ?? error;
  }

  static async request(options: GpuOptions = {}): Promise<Gpu> {
    const gpu = options.gpu ?? globalThis.navigator?.gpu;
    if (!gpu) throw new WebGpuUnavailableError('this browser does not offer it to this page');
    const adapter = await granted(gpu.requestAdapter({ powerPreference: 'high-performance' }));
    if (!adapter) throw new WebGpuUnavailableError('the browser found no usable GPU');
    const can = capabilities(adapter, gpu.wgslLanguageFeatures, options.without ?? []);
    const requiredFeatures: GPUFeatureName[] = [];
    if (can.subgroupMinSize > 0) requiredFeatures.push('subgroups');
    if (can.timestamps) requiredFeatures.push('timestamp-query');
    const device = await granted(
      adapter.requestDevice({ label: 'vivace', requiredFeatures, requiredLimits: wantedLimits(adapter.limits) }),
    );
    const { vendor, architecture, description, device: model } = adapter.info;
    const name = description || [vendor, model || architecture].filter(Boolean).join(' ') || 'unknown adapter';
    const isSoftware = adapter.info.isFallbackAdapter === true; // older browsers do not say
    const isApple = /^apple$/i.test(vendor);
    return new Gpu(device, name, can, isSoftware, isApple, options.bindingLimit ?? Number.POSITIVE_INFINITY);
  }

  get limits(): GPUSupportedLimits {
    return this.device.limits;
  }

  /**
   * A labeled, zeroed buffer of `size` bytes, rounded up to 4. Throws before it asks for more than the device grants.
   */
  createBuffer(label: string, size: number, usage: GPUBufferUsageFlags): GPUBuffer {
    const bytes = storedBytes(size);
    const limit = usage & GPU_STORAGE ? this.bindingLimit : this.limits.maxBufferSize;
    if (bytes > limit) {
      throw new GpuMemoryError(label, bytes, limit, 'Choose a smaller model, a smaller context or a smaller format.');
    }
    const buffer = this.device.createBuffer({ label, size: bytes, usage });
    this.allocatedBytes += bytes;
    this.peakBytes = Math.max(this.peakBytes, this.allocatedBytes);
    return buffer;
  }

  /** Most bytes of one storage binding. */
  get bindingLimit(): number {
    return Math.min(this.limits.maxBufferSize, this.limits.maxStorageBufferBindingSize, this.plannedBinding);
  }

  destroyBuffer(buffer: GPUBuffer): void {
    this.allocatedBytes -= buffer.size;
    buffer.destroy();
  }

  /** A storage buffer with the given contents. */
  upload(label: string, data: ArrayBufferView<ArrayBuffer>): GPUBuffer {
    const buffer = this.createBuffer(label, data.byteLength, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
    this.write(buffer, data);
    return buffer;
  }

  /** Writes at `offset` bytes of `target`, and pads a tail that is no multiple of 4 bytes with zeros. */
  write(target: Bindable, data: ArrayBufferView<ArrayBuffer>, offset = 0): void {
    const { buffer, offset: first } = rangeOf(target);
    const at = first + offset;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const whole = bytes.length & ~3;
    if (whole > 0) this.device.queue.writeBuffer(buffer, at, bytes, 0, whole);
    if (whole === bytes.length) return;
    const tail = new Uint8Array(4);
    tail.set(bytes.subarray(whole));
    this.device.queue.writeBuffer(buffer, at + whole, tail);
  }

  submit(commands: GPUCommandBuffer): void {
    this.device.queue.submit([commands]);
    this.counters.submits++;
  }

  /** Maps `buffer` (MAP_READ), copies `bytes` of it out and unmaps it: one sync. */
  async readMapped(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    this.counters.syncs++;
    this.counters.bytesRead += bytes;
    try {
      await buffer.mapAsync(GPU_MAP_READ, 0, bytes);
    } catch (error) {
      throw this.failure ?? new DeviceLostError(error instanceof Error ? error.message : String(error));
    }
    const copy = buffer.getMappedRange(0, bytes).slice(0);
    buffer.unmap();
    return copy;
  }

  /** The contents of any COPY_SRC buffer, for tests, load-time checks and the tuner, never inside a step. */
  async read(source: Bindable, bytes = source.size): Promise<ArrayBuffer> {
    const { buffer, offset } = rangeOf(source);
    const target = this.createBuffer('gpu.read', bytes, GPU_MAP_READ | GPU_COPY_DST);
    const encoder = this.device.createCommandEncoder({ label: 'gpu.read' });
    encoder.copyBufferToBuffer(buffer, offset, target, 0, bytes);
    this.submit(encoder.finish());
    const copy = await this.readMapped(target, bytes);
    this.destroyBuffer(target);
    return copy;
  }

  /** Runs `allocate` under error scopes. Exhausted memory becomes a typed error with the bytes that were asked for. */
  async guardMemory<T>(what: string, allocate: () => T): Promise<T> {
    const before = this.allocatedBytes;
    this.device.pushErrorScope('out-of-memory');
    this.device.pushErrorScope('validation');
    // Synchronous between push and pop: scopes are a stack that concurrent work must not tangle.
    let outcome: { result: T } | { error: unknown };
    try {
      outcome = { result: allocate() };
    } catch (error) {
      outcome = { error };
    }
    const scopes = [this.device.popErrorScope(), this.device.popErrorScope()];
    const [invalid, exhausted] = await Promise.all(scopes).catch(async (error) => {
      throw await this.explain(error);
    });
    if ('error' in outcome) throw outcome.error;
    if (exhausted) {
      const asked = this.allocatedBytes - before;
      throw new GpuMemoryError(what, asked, null, 'Close other GPU pages, or choose a smaller model or context.');
    }
    if (invalid) throw new GpuProgramError(what, invalid.message);
    return outcome.result;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.device.destroy();
  }
}

// Buffer usage flags by value, because Node has no GPUBufferUsage global (WebGPU specification, section 5.1.2).
export const GPU_MAP_READ = 0x0001;
export const GPU_COPY_SRC = 0x0004;
export const GPU_COPY_DST = 0x0008;
export const GPU_UNIFORM = 0x0040;
export const GPU_STORAGE = 0x0080;
export const GPU_QUERY_RESOLVE = 0x0200;
