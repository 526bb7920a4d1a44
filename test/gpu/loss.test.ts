// A GPU that is lost during calls: each call fails with a message of its own, and all are reported as that loss. The
// device is a stub, because Dawn in Node loses none on demand. Its events come in the order of Chromium when the GPU
// process dies.

import { afterEach, expect, test, vi } from 'vitest';
import { AttentionUnavailable, GpuProgramError, InvalidRequestError } from '../../src/errors';
import { Gpu } from '../../src/gpu/device';
import { createKernel, type KernelSource } from '../../src/gpu/kernel';

const GONE = 'A valid external Instance reference no longer exists.';
const gone = async (): Promise<never> => {
  throw new DOMException(GONE, 'OperationError');
};

class StubDevice extends EventTarget {
  readonly limits = { maxBufferSize: 1e9, maxStorageBufferBindingSize: 1e9 };
  lose: (info: { reason: string; message: string }) => void = () => {};
  readonly lost = new Promise((resolve) => {
    this.lose = resolve;
  });
  readonly queue = { submit() {}, writeBuffer() {}, onSubmittedWorkDone: gone };
  pushErrorScope() {}
  popErrorScope = gone;
  createBindGroupLayout = () => ({});
  createBindGroup = () => ({});
  createPipelineLayout = () => ({});
  createShaderModule = () => ({ getCompilationInfo: gone });
  createComputePipelineAsync = gone;
  createCommandEncoder = () => ({ copyBufferToBuffer() {}, finish() {} });
  createBuffer = ({ size }: { size: number }) => ({ size, mapAsync: gone, destroy() {} });
  destroy() {
    this.lose({ reason: 'destroyed', message: 'Device was destroyed.' });
  }
}

async function stubGpu() {
  const device = new StubDevice();
  const adapter = { info: {}, limits: {}, features: new Set(), requestDevice: async () => device };
  const gpu = { wgslLanguageFeatures: new Set(), requestAdapter: async () => adapter } as unknown as GPU;
  return { device, gpu: await Gpu.request({ gpu }) };
}

const KERNEL: KernelSource = { label: 'test/none', wgsl: [''], constants: {}, bindings: [] };

const CALLS: Record<string, (gpu: Gpu) => Promise<unknown>> = {
  'the compilation of a kernel': (gpu) => createKernel(gpu, KERNEL),
  'an allocation under error scopes': (gpu) => gpu.guardMemory('test', () => null),
  'a readback': (gpu) => gpu.read(gpu.createBuffer('test', 16, 0)),
  'a wait for the queue': (gpu) =>
    gpu.device.queue.onSubmittedWorkDone().catch(async (error) => {
      throw await gpu.explain(error);
    }),
};

afterEach(() => void vi.useRealTimers());

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} fails with the loss, which is heard of before or after`, async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    for (const isLate of [true, false]) {
      const { device, gpu } = await stubGpu();
      if (!isLate) device.lose({ reason: 'unknown', message: 'reset' });
      const failed = call(gpu).catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      if (isLate) device.lose({ reason: 'unknown', message: 'reset' });
      expect(await failed).toMatchObject({ code: 'device-lost', canRetry: true });
      expect(await gpu.failing).toMatchObject({ code: 'device-lost', message: expect.stringContaining('reset') });
    }
  });
}

test('without a loss an error stays what it is, after a moment', async () => {
  const { gpu } = await stubGpu();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  for (const error of [new GpuProgramError('test', 'refused'), new DOMException(GONE, 'OperationError')]) {
    const explained = gpu.explain(error);
    vi.runAllTimers();
    expect(await explained).toBe(error);
  }
});

test('an error that says what is wrong is not the loss, and one that the loss brings about is', async () => {
  const { device, gpu } = await stubGpu();
  const [request, attention] = [new InvalidRequestError('x'), new AttentionUnavailable('eager', 'x')];
  expect(await gpu.explain(request)).toBe(request);
  expect(await gpu.explain(attention)).toBe(attention);
  device.lose({ reason: 'unknown', message: 'reset' });
  expect(await gpu.explain(request)).toBe(request);
  expect(await gpu.explain(attention)).toBe(gpu.failure);
});

test('a device that others destroy is lost, one that its owner destroys is not', async () => {
  const others = await stubGpu();
  others.device.destroy();
  expect(await others.gpu.failing).toMatchObject({ code: 'device-lost' });
  const own = await stubGpu();
  own.gpu.destroy();
  await own.device.lost;
  expect(own.gpu.failure).toBeNull();
});
