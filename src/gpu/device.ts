// A WebGPU device: requests it, allocates and reads its buffers, counts its calls, and turns its failures into typed
// errors.

import { DeviceLostError, GpuMemoryError, GpuProgramError, VivaceError, WebGpuUnavailableError } from '../errors';
import { type Bindable, rangeOf, storedBytes } from './buffer_range';
import { type CapabilityName, capabilities, type GpuCapabilities, MATRIX_FEATURE, wantedLimits } from './limits';
import { Watch } from './watch';

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
  /** Treats an adapter that computes on the CPU as any other: tests run what hardware runs. */
  asHardware?: boolean;
  /** Most bytes of a binding, if less than the device grants: tests split small matrices. */
  bindingLimit?: number;
}

/** Longest delay between the failure of a call and the news that the device is lost. */
const LOSS_MS = 500;

/** Errors of a call that a lost device may have caused. */
const GPU_CODES = ['gpu-program', 'gpu-memory', 'attention-unavailable', 'device-lost'];

/** Compares the name, because Node has no such global class. */
const isOutOfMemory = (error: GPUError) => error.constructor.name === 'GPUOutOfMemoryError';

/** The remedy of refused memory. */
const FREE_SOME = 'Close other GPU pages, or choose a smaller model or context.';

/** An allocation that was refused, and the bytes in use before it. */
interface Refused {
  label: string;
  bytes: number;
  usedBytes: number;
}

const bufferError = ({ label, bytes, usedBytes }: Refused) =>
  new GpuMemoryError(`The buffer "${label}"`, bytes, null, FREE_SOME, { usedBytes });

/** Measurements under `trial`: their buffers are temporary, and their refusals are not the device's. */
interface Trial {
  refused: GpuMemoryError | null;
}

/** Turns a refusal of the browser into a typed error, so that callers can fall back. */
async function granted<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw new WebGpuUnavailableError(messageOf(error));
  }
}

/** A device with its capabilities, its allocated bytes and the counts of its calls. */
export class Gpu {
  /** Its waits are those for the GPU. */
  readonly watch: Watch;
  readonly counters: GpuCounters = { dispatches: 0, submits: 0, syncs: 0, bytesRead: 0, pipelines: 0 };
  allocatedBytes = 0;
  peakBytes = 0;
  /** The first error that no scope caught, or the loss of the device. The loop checks it between steps. */
  failure: Error | null = null;
  /** Resolves with `failure` once there is one. */
  readonly failing: Promise<Error>;
  private resolveFailing: (error: Error) => void = () => {};
  private isDestroyed = false;
  private readonly live = new Set<GPUBuffer>();
  /** Allocations that the GPU has not answered yet. */
  private readonly asked = new Set<Promise<unknown>>();
  /** The allocations of the `guardMemory` that is running. Null outside of one. */
  private guarded: Promise<Refused | null>[] | null = null;
  private trialing: Trial | null = null;
  private isMeasuring = false;

  private constructor(
    readonly device: GPUDevice,
    readonly adapterName: string,
    readonly can: GpuCapabilities,
    /** True if the adapter computes on the CPU: it compiles kernels for seconds, and no hardware feature is fast. */
    readonly isSoftware: boolean,
    readonly isApple: boolean,
    private readonly plannedBinding: number,
  ) {
    this.watch = new Watch(device.queue);
    this.failing = new Promise((resolve) => {
      this.resolveFailing = resolve;
    });
    void device.lost.then((info) => {
      if (!this.isDestroyed) this.fail(new DeviceLostError(info.message || info.reason));
    });
    device.addEventListener('uncapturederror', async ({ error }) => {
      await this.answered(); // a refused buffer makes later commands invalid
      if (!isOutOfMemory(error)) return this.fail(new GpuProgramError('WebGPU', error.message));
      const what = `The GPU's work on its ${this.live.size} buffers`;
      this.fail(new GpuMemoryError(what, this.allocatedBytes, null, `${FREE_SOME} (${error.message})`));
    });
  }

  /** Declares the device lost to all later calls. */
  fail(error: Error): void {
    this.failure ??= error;
    this.resolveFailing(this.failure);
  }

  /** Waits for the GPU's answers to all allocations. */
  private async answered(): Promise<void> {
    await Promise.all(this.asked);
  }

  /** Waits for the GPU's answers to all allocations. @throws the failure of the device or of the trial, if any */
  async settled(): Promise<void> {
    await this.answered();
    const failure = this.failure ?? this.trialing?.refused;
    if (failure) throw failure;
  }

  /**
   * The cause of a failed call: the error itself, or the loss of the device, which fails every call with a message of
   * its own. Waits up to LOSS_MS for the news of the loss, if the error does not name another cause.
   */
  async explain(error: unknown): Promise<unknown> {
    if (error instanceof VivaceError && !GPU_CODES.includes(error.code)) return error;
    if (this.asked.size > 0) await this.answered();
    if (this.trialing?.refused) return this.trialing.refused;
    if (!this.failure && (!(error instanceof VivaceError) || error.code === 'gpu-program')) {
      await Promise.race([this.failing, new Promise((resolve) => setTimeout(resolve, LOSS_MS))]);
    }
    return this.failure ?? error;
  }

  static async request(options: GpuOptions = {}): Promise<Gpu> {
    const gpu = options.gpu ?? globalThis.navigator?.gpu;
    if (!gpu) {
      if (!globalThis.crypto?.subtle) throw new WebGpuUnavailableError('this page is not secure: use HTTPS');
      throw new WebGpuUnavailableError('this browser has none');
    }
    const adapter = await granted(gpu.requestAdapter({ powerPreference: 'high-performance' }));
    if (!adapter) throw new WebGpuUnavailableError('this browser found no GPU');
    const can = capabilities(adapter, gpu.wgslLanguageFeatures, options.without ?? []);
    const requiredFeatures: GPUFeatureName[] = [];
    if (can.subgroupMinSize > 0) requiredFeatures.push('subgroups');
    if (can.timestamps) requiredFeatures.push('timestamp-query');
    if (can.matrices) requiredFeatures.push(MATRIX_FEATURE as GPUFeatureName);
    const device = await granted(
      adapter.requestDevice({ label: 'vivace', requiredFeatures, requiredLimits: wantedLimits(adapter.limits) }),
    );
    const { vendor, architecture, description, device: model } = adapter.info;
    const name = description || [vendor, model || architecture].filter(Boolean).join(' ') || 'unknown adapter';
    const isSoftware = adapter.info.isFallbackAdapter === true && !options.asHardware; // older browsers do not say
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
    if (!this.isMeasuring) {
      const buffer = this.allocate(label, bytes, () => this.device.createBuffer({ label, size: bytes, usage }));
      this.live.add(buffer);
      this.use(bytes);
      return buffer;
    }
    this.use(bytes);
    return { size: bytes } as GPUBuffer;
  }

  private use(bytes: number): void {
    this.allocatedBytes += bytes;
    this.peakBytes = Math.max(this.peakBytes, this.allocatedBytes);
  }

  /** A set of timestamps, which no byte is counted for: browsers do not say what it takes. */
  createStamps(label: string, count: number): GPUQuerySet {
    const create = () => this.device.createQuerySet({ label, type: 'timestamp', count });
    return this.isMeasuring ? ({} as GPUQuerySet) : this.allocate(label, 8 * count, create);
  }

  /**
   * Creates something under an error scope of its own, so that a refusal names it. The refusal is that of the guard or
   * of the trial around the call, or else the failure of the device.
   * @throws GpuMemoryError where the browser refuses at once
   */
  private allocate<T>(label: string, bytes: number, create: () => T): T {
    const { guarded, trialing } = this;
    if (trialing?.refused) throw trialing.refused;
    const request: Refused = { label, bytes, usedBytes: this.allocatedBytes };
    this.device.pushErrorScope('out-of-memory');
    try {
      return create();
    } catch (error) {
      throw error instanceof RangeError ? bufferError(request) : error;
    } finally {
      const isGranted = this.device.popErrorScope().then(
        (error) => error === null,
        () => true, // the device is lost, which is not this call's failure
      );
      const answer = isGranted.then((granted) => {
        this.asked.delete(answer);
        if (granted) return null;
        if (!guarded && trialing) trialing.refused ??= bufferError(request);
        else if (!guarded) this.fail(bufferError(request));
        return request;
      });
      this.asked.add(answer);
      guarded?.push(answer);
    }
  }

  /** Runs `allocate` with buffers that are sizes alone, and counts their bytes. */
  measure<T>(allocate: () => T): { bytes: number; result: T } {
    const { allocatedBytes, peakBytes } = this;
    this.isMeasuring = true;
    try {
      const result = allocate();
      return { bytes: this.allocatedBytes - allocatedBytes, result };
    } finally {
      this.isMeasuring = false;
      this.allocatedBytes = allocatedBytes;
      this.peakBytes = peakBytes;
    }
  }

  /** Most bytes of one storage binding. */
  get bindingLimit(): number {
    return Math.min(this.limits.maxBufferSize, this.limits.maxStorageBufferBindingSize, this.plannedBinding);
  }

  /** Does nothing where the buffer is destroyed already. */
  destroyBuffer(buffer: GPUBuffer): void {
    if (!this.live.delete(buffer)) return;
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
    this.watch.submitted();
  }

  /** Waits for all that has been submitted. Rejects with the browser's error where the device is lost. */
  async workDone(): Promise<void> {
    this.watch.begin();
    try {
      await this.device.queue.onSubmittedWorkDone();
    } finally {
      this.watch.end();
    }
  }

  /** Maps `buffer` (MAP_READ), copies `bytes` of it out and unmaps it: one sync. */
  async readMapped(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    this.counters.syncs++;
    this.counters.bytesRead += bytes;
    this.watch.begin();
    try {
      await buffer.mapAsync(GPU_MAP_READ, 0, bytes);
      const copy = buffer.getMappedRange(0, bytes).slice(0);
      buffer.unmap();
      return copy;
    } catch (error) {
      throw await this.readFailure(error, bytes);
    } finally {
      this.watch.end();
    }
  }

  /** The cause of a readback that failed. */
  async readFailure(error: unknown, bytes: number): Promise<unknown> {
    if (error instanceof RangeError) {
      return new GpuMemoryError('A readback', bytes, null, FREE_SOME, { usedBytes: this.allocatedBytes });
    }
    const cause = await this.explain(error);
    return cause instanceof VivaceError ? cause : new DeviceLostError(messageOf(cause));
  }

  /** The contents of any COPY_SRC buffer, for tests, load-time checks and the tuner, never inside a step. */
  async read(source: Bindable, bytes = source.size): Promise<ArrayBuffer> {
    const { buffer, offset } = rangeOf(source);
    const target = this.createBuffer('gpu.read', bytes, GPU_MAP_READ | GPU_COPY_DST);
    const encoder = this.device.createCommandEncoder({ label: 'gpu.read' });
    encoder.copyBufferToBuffer(buffer, offset, target, 0, bytes);
    this.submit(encoder.finish());
    try {
      return await this.readMapped(target, bytes);
    } finally {
      this.destroyBuffer(target);
    }
  }

  /**
   * Runs `allocate` under error scopes. Where memory is refused, all buffers that it made are destroyed.
   * @throws GpuMemoryError with the bytes of all of them, the first that was refused, and the bytes in use before it
   */
  async guardMemory<T>(what: string, allocate: () => T): Promise<T> {
    const { allocatedBytes: before, peakBytes } = this;
    const older = new Set(this.live);
    const answers: Promise<Refused | null>[] = [];
    this.guarded = answers;
    this.device.pushErrorScope('validation');
    // Synchronous between push and pop: scopes are a stack that concurrent work must not tangle.
    let outcome: { result: T } | { error: unknown };
    try {
      outcome = { result: allocate() };
    } catch (error) {
      outcome = { error };
    }
    this.guarded = null;
    const made = [...this.live].filter((buffer) => !older.has(buffer));
    const asked = this.allocatedBytes - before;
    const invalid = await this.device.popErrorScope().catch(async (error) => {
      throw await this.explain(error);
    });
    const refused = (await Promise.all(answers)).find((answer) => answer !== null);
    if ('result' in outcome && !refused && !invalid) return outcome.result;
    for (const buffer of made) this.destroyBuffer(buffer);
    this.peakBytes = peakBytes;
    if ('error' in outcome) throw outcome.error;
    if (!refused) throw new GpuProgramError(what, invalid?.message ?? '');
    const { label, bytes, usedBytes } = refused;
    const which = `${what} (refused at "${label}" of ${bytes} bytes)`;
    throw new GpuMemoryError(which, asked, null, FREE_SOME, { usedBytes });
  }

  /** The same for what can be done without. Null where its memory is refused, unless the device has failed. */
  async tryMemory<T>(what: string, allocate: () => T): Promise<T | null> {
    try {
      return await this.guardMemory(what, allocate);
    } catch (error) {
      if (error instanceof GpuMemoryError && !this.failure) return null;
      throw error;
    }
  }

  /**
   * Runs measurements that allocate as they go, while nothing else uses the device. Their buffers are destroyed at the
   * end, and what the GPU refuses them is their error alone: the device works on.
   */
  async trial<T>(what: string, work: () => Promise<T>): Promise<T> {
    const older = new Set(this.live);
    const trial: Trial = { refused: null };
    this.trialing = trial;
    this.device.pushErrorScope('out-of-memory');
    this.device.pushErrorScope('validation');
    try {
      const result = await work();
      await this.settled();
      return result;
    } catch (error) {
      await this.answered();
      throw trial.refused ?? error;
    } finally {
      this.trialing = null;
      for (const buffer of this.live) if (!older.has(buffer)) this.destroyBuffer(buffer);
      const scopes = [this.device.popErrorScope(), this.device.popErrorScope()];
      const errors = await Promise.all(scopes).catch(() => []); // rejects on a lost device
      const error = errors.find((each) => each !== null);
      if (error && !trial.refused) this.fail(new GpuProgramError(what, error.message));
    }
  }

  destroy(): void {
    this.isDestroyed = true;
    for (const buffer of this.live) this.destroyBuffer(buffer);
    this.device.destroy();
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// Buffer usage flags by value, because Node has no GPUBufferUsage global (WebGPU specification, section 5.1.2).
export const GPU_MAP_READ = 0x0001;
export const GPU_COPY_SRC = 0x0004;
export const GPU_COPY_DST = 0x0008;
export const GPU_UNIFORM = 0x0040;
export const GPU_STORAGE = 0x0080;
export const GPU_QUERY_RESOLVE = 0x0200;
