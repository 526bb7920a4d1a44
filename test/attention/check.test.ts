// The check of a sibling on this GPU: right kernels pass, broken shaders do not.

import { describe, expect, test } from 'vitest';
import {
  ATTENTION_NAMES,
  type AttentionKernel,
  type AttentionName,
  type AttentionShape,
} from '../../src/attention/attention';
import { checkAttention } from '../../src/attention/check';
import { createAttention } from '../../src/attention/create';
import type { Gpu } from '../../src/gpu/device';
import { hardwareGpu, PATHS, pathName } from '../gpu/test_device';
import { modelBuffers, withBrokenShaders } from './buffers';
import { plainScores } from './cases';

const SHAPE: AttentionShape = {
  nHeads: 4,
  nKvHeads: 2,
  headDim: 64,
  contextLength: 512,
  maxTokens: 128,
  kvType: 'f16',
  ...plainScores(64),
};

/** Shorter than the pass, longer, one head alone, many; both types of cache. */
const SHAPES: AttentionShape[] = [
  SHAPE,
  { ...SHAPE, nHeads: 9, nKvHeads: 3, kvType: 'f32' },
  { ...SHAPE, nHeads: 1, nKvHeads: 1, headDim: 128, contextLength: 60 },
  { ...SHAPE, nHeads: 14, headDim: 40, contextLength: 100, maxTokens: 20 },
  { ...SHAPE, nHeads: 2, headDim: 256, contextLength: 300, kvType: 'f32' },
  { ...SHAPE, contextLength: 1, maxTokens: 1 },
];

const SCORED: AttentionShape = { ...SHAPE, scale: 0.3, softcap: 50, windowed: true };

const title = ({ nHeads, nKvHeads, headDim, contextLength, maxTokens, kvType }: AttentionShape) =>
  `heads=${nHeads}/${nKvHeads} head_dim=${headDim} context=${contextLength} max_tokens=${maxTokens} ${kvType}`;

/** Runs the check on buffers of its own, freed afterwards with the kernel. */
async function checkOnce(gpu: Gpu, kernel: AttentionKernel, shape: AttentionShape, nTokens: number) {
  const buffers = modelBuffers(gpu, shape);
  try {
    return await checkAttention(gpu, kernel, shape, buffers, nTokens);
  } finally {
    for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
  }
}

/** A check sees outputs alone, so faults are made where kernels compile twice as fast as with subgroups. */
const plainGpu = () => hardwareGpu(['subgroups']);

/** Wrong in the binding or the list: what any sibling can suffer, the CPU's too. */
const WRAPPERS: [string, (kernel: AttentionKernel) => AttentionKernel, RegExp][] = [
  [
    'keys and values exchanged',
    (kernel) => ({ ...kernel, bind: (q, k, v, out, window) => kernel.bind(q, v, k, out, window) }),
    /^its outputs differ from the textbook by [\d.]+ of the largest value \(element \d+: \S+ instead of \S+\)$/,
  ],
  [
    'its work left out',
    (kernel) => ({ ...kernel, bind: () => ({ record() {} }) }),
    /^element \d+ of its outputs is not a number$/,
  ],
];

/**
 * Wrong in the shader, at its edge alone or a little. Each has a context of its own, so that no compiled kernel is met
 * again.
 */
const REWRITES: [string, number, (code: string) => string][] = [
  ['the last key left out', 501, (code) => code.replaceAll('step.position', '(step.position - 1u)')],
  ['no maximum subtracted', 502, (code) => code.replaceAll('exp2(score - m)', 'exp2(score)')],
];

/** Siblings that round to bytes are for prompts alone, and a check of them sees larger faults of a factor. */
const IN_BYTES: readonly AttentionName[] = ['flash_prefill_q8'];

describe.each(ATTENTION_NAMES)('%s', (name) => {
  const [passes, factor] = IN_BYTES.includes(name) ? [[128], 1.1] : [[1, 128], 1.002];
  for (const without of PATHS) {
    // What the check does with a shape is the same for all: two that compile quickly are given every one.
    for (const shape of without.length === 0 && ['cpu', 'chunked'].includes(name) ? SHAPES : [SHAPE]) {
      test(`passes with ${title(shape)}, ${pathName(without)}`, async () => {
        const gpu = await hardwareGpu(without);
        const kernel = await createAttention(gpu, name, shape);
        for (const nTokens of [1, 128]) expect(await checkOnce(gpu, kernel, shape, nTokens)).toBeNull();
        kernel.destroy();
        expect(gpu.failure).toBeNull();
      });
    }
  }

  test.for(WRAPPERS)('is caught with %s', async ([_, wrap, fault]) => {
    const gpu = await plainGpu();
    const kernel = await createAttention(gpu, name, SHAPE);
    for (const nTokens of [1, 128]) expect(await checkOnce(gpu, wrap(kernel), SHAPE, nTokens)).toMatch(fault);
    kernel.destroy();
  });

  test('passes with a scale, a cap and windows, and is caught without each of them', async () => {
    const gpu = await plainGpu();
    const kernel = await createAttention(gpu, name, SCORED);
    const unwindowed: AttentionKernel = { ...kernel, bind: (q, k, v, out) => kernel.bind(q, k, v, out, null) };
    for (const nTokens of passes) {
      const fault = (checked: AttentionKernel, changes: Partial<AttentionShape> = {}) =>
        checkOnce(gpu, checked, { ...SCORED, ...changes }, nTokens);
      expect(await fault(kernel)).toBeNull();
      expect(await fault(kernel, { scale: factor * SCORED.scale })).toMatch(/differ from the textbook/);
      expect(await fault(kernel, { softcap: null })).toMatch(/differ from the textbook/);
      expect(await fault(unwindowed)).toMatch(/differ from the textbook/);
    }
    kernel.destroy();
  });

  if (name === 'cpu') return;
  const rewrites = name === 'flash_prefill' || name === 'fused_decode' ? REWRITES : REWRITES.slice(0, 1);
  test.for(rewrites)('is caught with %s', async ([_, contextLength, rewrite]) => {
    const gpu = await plainGpu();
    const shape = { ...SHAPE, contextLength };
    const broken = () => createAttention(gpu, name, shape);
    const kernel = await withBrokenShaders(gpu, `attention/${name}`, rewrite, broken);
    for (const nTokens of passes) {
      expect(await checkOnce(gpu, kernel, shape, nTokens)).toMatch(/not a number|differ from the textbook/);
    }
    kernel.destroy();
  });
});

test('a pass that the GPU refuses is a reason, and the device stays usable', async () => {
  const gpu = await plainGpu();
  const kernel = await createAttention(gpu, 'fused_decode', SHAPE);
  const buffers = modelBuffers(gpu, SHAPE);
  // Bound twice in one dispatch, once to be written: a binding that WebGPU forbids.
  const twice: AttentionKernel = { ...kernel, bind: (_, k, v, out, window) => kernel.bind(out, k, v, out, window) };
  expect(await checkAttention(gpu, twice, SHAPE, buffers, 1)).toMatch(/attention\/fused_decode/);
  expect(gpu.failure).toBeNull();
  expect(await checkAttention(gpu, kernel, SHAPE, buffers, 1)).toBeNull();
  for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
});

test('cache rows past the pass are left as they were', async () => {
  const gpu = await plainGpu();
  const kernel = await createAttention(gpu, 'fused_decode', SHAPE);
  const buffers = modelBuffers(gpu, SHAPE);
  await checkAttention(gpu, kernel, SHAPE, buffers, 1);
  const halves = new Uint16Array(await gpu.read(buffers.k));
  const used = (i: number) => Math.floor(i / SHAPE.headDim) % SHAPE.contextLength <= 270;
  expect(halves.every((x, i) => used(i) || x === 0)).toBe(true);
  for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
});

test('memory is as before once buffers and kernels are freed', async () => {
  const gpu = await plainGpu();
  const before = gpu.allocatedBytes;
  const kernel = await createAttention(gpu, 'flash_prefill', SHAPE);
  expect(await checkOnce(gpu, kernel, SHAPE, 128)).toBeNull();
  kernel.destroy();
  expect(gpu.allocatedBytes).toBe(before);
});
