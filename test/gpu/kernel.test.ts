// Kernels and command lists on a device: constants, steps, refusals, and cuts into submits.

import { expect, test, vi } from 'vitest';
import embed from '../../shaders/elementwise/embed.wgsl?raw';
import { Gpu } from '../../src/gpu/device';
import { CommandList, createKernel, type Step } from '../../src/gpu/kernel';
import { PATHS, pathName, requestGpu, testGpu } from './test_device';

const wgsl = `
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < COUNT) { out[id.x] = x[id.x] * FACTOR + step.position * 1000u + step.n_tokens; }
}`;

for (const without of PATHS) {
  test(`a kernel sees its constants and its step, ${pathName(without)}`, async () => {
    const gpu = await testGpu(without);
    const kernel = await createKernel(gpu, {
      label: 'test/scale',
      wgsl: [wgsl],
      constants: { COUNT: 5, FACTOR: 3 },
      bindings: ['read', 'write'],
    });
    const x = gpu.upload('x', new Uint32Array([1, 2, 3, 4, 5]));
    const out = gpu.upload('out', new Uint32Array(5));
    const list = new CommandList(gpu);
    list.add(kernel, kernel.bind(x, out), 1);
    for (const step of [
      { position: 7, nTokens: 2 },
      { position: 8, nTokens: 1 },
    ]) {
      const before = { ...gpu.counters };
      list.run(step);
      const result = new Uint32Array(await gpu.read(out, 20));
      const tail = step.position * 1000 + step.nTokens;
      expect([...result]).toEqual([3, 6, 9, 12, 15].map((v) => v + tail));
      expect(gpu.counters.dispatches - before.dispatches).toBe(1);
      expect(gpu.counters.bytesRead - before.bytesRead).toBe(20);
    }
    expect(gpu.failure).toBeNull();
  });
}

test('a refused device is a typed error, so that callers can fall back', async () => {
  const adapter = { features: new Set(), limits: {}, info: {}, requestDevice: () => Promise.reject(new Error('lost')) };
  const gpu = { requestAdapter: async () => adapter, wgslLanguageFeatures: new Set() } as unknown as GPU;
  await expect(Gpu.request({ gpu })).rejects.toMatchObject({
    code: 'webgpu-unavailable',
    message: expect.stringMatching(/lost/),
  });
});

test('a page over plain http is told to use https, and another one to use another browser', async () => {
  vi.stubGlobal('navigator', {});
  const refusal = () => Gpu.request().catch(({ message }) => message);
  expect(await refusal()).toMatch(/has none.*Chrome, Edge or Firefox/);
  vi.stubGlobal('crypto', {}); // has no `subtle` where a page is not secure
  expect(await refusal()).toMatch(/this page is not secure: use HTTPS\./);
  vi.unstubAllGlobals();
});

test('a shader that does not compile is a typed error that names kernel and line', async () => {
  const gpu = await testGpu();
  const broken = createKernel(gpu, { label: 'test/broken', wgsl: ['fn main( {'], constants: {}, bindings: [] });
  await expect(broken).rejects.toThrow(/test\/broken.*line/s);
});

test('the source that Firefox repeats in its message is left out', async () => {
  const gpu = await requestGpu();
  const create = gpu.device.createShaderModule.bind(gpu.device);
  const messages = [
    { type: 'error', lineNum: 1, linePos: 1, message: "Function 'main' is invalid\n  ┌─ test:1:1\n  │" },
  ];
  gpu.device.createShaderModule = (descriptor) =>
    Object.assign(create(descriptor), { getCompilationInfo: async () => ({ messages }) });
  const broken = createKernel(gpu, { label: 'test/long', wgsl: ['fn main( {'], constants: {}, bindings: [] });
  await expect(broken).rejects.toThrow(/Function 'main' is invalid$/);
  gpu.destroy();
});

test('a shader that does not compile names the file and its line, where a mark tells the file', async () => {
  const gpu = await testGpu();
  const good = '// --- shaders/test/good.wgsl\nfn good() {}\n';
  const bad = '// --- shaders/test/bad.wgsl\n\nfn bad() { return 1; }\n';
  const broken = createKernel(gpu, { label: 'test/marked', wgsl: [good, bad], constants: {}, bindings: [] });
  await expect(broken).rejects.toThrow('shaders/test/bad.wgsl line 2: fn bad() { return 1; }');
});

test('the text of a shader begins with a mark that names its file', () => {
  expect(embed.split('\n', 1)[0]).toBe('// --- shaders/elementwise/embed.wgsl');
});

test('a buffer past the limit is refused with both numbers before it is asked for', async () => {
  const gpu = await testGpu();
  expect(() => gpu.createBuffer('huge', 2 ** 45, 0x80)).toThrow(/huge needs 35184372088832 bytes/);
});

/** A kernel each run of which turns y into 3 y + 1, and y = 0. */
async function counting() {
  const gpu = await testGpu();
  const kernel = await createKernel(gpu, {
    label: 'test/count',
    wgsl: [
      '@group(0) @binding(0) var<storage, read_write> y: u32; @compute @workgroup_size(1) fn main() { y = y * 3u + 1u; }',
    ],
    constants: {},
    bindings: ['write'],
  });
  return { gpu, kernel, y: gpu.upload('y', Uint32Array.of(0)) };
}

test('a list cuts itself by operations and dispatches into submits, all made before run returns', async () => {
  const { gpu, kernel, y } = await counting();
  const list = new CommandList(gpu, { operations: 10, dispatches: 3 });
  for (const operations of [4, 6, 25, 2, 1, 1, 9]) {
    list.add(kernel, kernel.bind(y), 1);
    list.count(operations);
  }
  const before = gpu.counters.submits;
  const step = { position: 0, nTokens: 1 };
  list.run(step);
  expect(gpu.counters.submits - before).toBe(4);
  expect(list.submitsAt(step).map(({ commands }) => commands.length)).toEqual([2, 1, 3, 1]);
  expect(list.needsHost).toBe(false);
  expect([...new Uint32Array(await gpu.read(y, 4))]).toEqual([(3 ** 7 - 1) / 2]);
});

test('late dispatches are recorded when those in front of them are submitted, once; without limits at once', async () => {
  const { gpu, kernel, y } = await counting();
  const step = { position: 0, nTokens: 1 };
  let before = 0;
  const submitsBefore: number[] = [];
  function* count(list: CommandList) {
    for (let i = 0; i < 5; i++) {
      submitsBefore.push(gpu.counters.submits - before);
      list.add(kernel, kernel.bind(y), 1);
      list.count(1);
      yield;
    }
  }
  const list = new CommandList(gpu, { operations: 2, dispatches: 9 });
  list.addLate(count(list));
  expect(submitsBefore).toEqual([]);
  for (let run = 0; run < 2; run++) {
    before = gpu.counters.submits;
    await list.run(step);
    expect(gpu.counters.submits - before).toBe(3);
    expect(submitsBefore).toEqual([0, 0, 1, 1, 2]);
  }
  expect([...new Uint32Array(await gpu.read(y, 4))]).toEqual([(3 ** 10 - 1) / 2]);

  const seen = new CommandList(gpu, { operations: 2, dispatches: 9 });
  seen.addLate(count(seen));
  expect(seen.submitsAt(step).map(({ commands }) => commands.length)).toEqual([2, 2, 1]);
  const whole = new CommandList(gpu);
  whole.addLate(count(whole));
  expect(whole.commands).toHaveLength(5);
});

test('late dispatches wait for the CPU between them, and a fault while they are recorded stays', async () => {
  const gpu = await testGpu();
  const list = new CommandList(gpu, { operations: 2, dispatches: 9 });
  const happened: string[] = [];
  function* late() {
    yield list.addHost(async () => void happened.push('on the CPU'));
    happened.push('recorded');
    yield list.addHost(async () => void happened.push('again'));
  }
  list.addLate(late());
  const step = { position: 0, nTokens: 1 };
  await list.run(step);
  expect(happened).toEqual(['on the CPU', 'recorded', 'again']);
  expect(list.needsHost).toBe(true);

  const broken = new CommandList(gpu, { operations: 2, dispatches: 9 });
  function* fault() {
    yield broken.addHost(async () => {});
    throw new RangeError('a test');
  }
  broken.addLate(fault());
  for (let run = 0; run < 2; run++) await expect(broken.run(step)).rejects.toThrow('a test');
  expect(() => broken.submitsAt(step)).toThrow('a test');
});

test('dispatches behind toLastToken see a pass of the last token alone, also on the CPU', async () => {
  const gpu = await testGpu();
  const kernel = await createKernel(gpu, {
    label: 'test/step',
    wgsl: [
      '@group(0) @binding(0) var<storage, read_write> y: vec4u;' +
        '@compute @workgroup_size(1) fn main() { y = vec4(y.zw, step.position, step.n_tokens); }',
    ],
    constants: {},
    bindings: ['write'],
  });
  const y = gpu.upload('y', new Uint32Array(4));
  const list = new CommandList(gpu);
  const onHost: Step[] = [];
  const host = async (step: Step) => void onHost.push(step);
  list.addHost(host);
  list.add(kernel, kernel.bind(y), 1);
  list.toLastToken();
  list.addHost(host);
  list.add(kernel, kernel.bind(y), 1);
  await list.run({ position: 40, nTokens: 6 });
  expect(onHost).toEqual([
    { position: 40, nTokens: 6 },
    { position: 45, nTokens: 1 },
  ]);
  expect([...new Uint32Array(await gpu.read(y, 16))]).toEqual([40, 6, 45, 1]);
});
