// Runs one attention pass on the GPU as the forward pass would, with everything around it poisoned.

import type { AttentionKernel, AttentionName, AttentionShape } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import { halfToNumber } from '../../src/cpu/dequantise';
import { toHalf } from '../../src/cpu/half';
import type { Gpu } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import type { CapabilityName } from '../../src/gpu/limits';
import { testGpu } from '../gpu/test_device';

export interface Pass {
  shape: AttentionShape;
  position: number;
  nTokens: number;
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
}

/** Where a pass runs: which sibling, on which capabilities, with which parameters. */
export interface Target {
  name: AttentionName;
  without: readonly CapabilityName[];
  parameters?: Record<string, number>;
}

/** Elements past the last token, to see that none is written. */
const GUARD = 256;

const kernels = new Map<string, Promise<AttentionKernel>>();

function kernelFor(gpu: Gpu, target: Target, shape: AttentionShape): Promise<AttentionKernel> {
  const key = JSON.stringify([target, shape]);
  const kernel = kernels.get(key) ?? createAttention(gpu, target.name, shape, target.parameters);
  kernels.set(key, kernel);
  return kernel;
}

/** out of a pass, (nTokens, nHeads, headDim). Throws when an element is left unwritten or one past the end is not. */
export async function attentionOnGpu(target: Target, pass: Pass): Promise<Float32Array> {
  const { shape, position, nTokens } = pass;
  const gpu = await testGpu(target.without);
  const kernel = await kernelFor(gpu, target, shape);
  const size = nTokens * shape.nHeads * shape.headDim;
  const q = gpu.upload('q', new Float32Array(pass.q));
  const k = gpu.upload('k', stored(pass.k, shape));
  const v = gpu.upload('v', stored(pass.v, shape));
  const out = gpu.upload('out', poison(size));
  const list = new CommandList(gpu);
  kernel.bind(q, k, v, out).record(list, nTokens);
  await list.run({ position, nTokens });
  const bits = new Uint32Array(await gpu.read(out));
  for (const buffer of [q, k, v, out]) gpu.destroyBuffer(buffer);
  if (gpu.failure) throw gpu.failure;
  bits.forEach((word, i) => {
    if (i < size && word === POISON) throw new Error(`${target.name} left element ${i} of ${size} unwritten`);
    if (i >= size && word !== POISON)
      throw new Error(`${target.name} wrote element ${i}, past the ${size} of the pass`);
  });
  return new Float32Array(bits.buffer, 0, size);
}

/** A NaN that no arithmetic makes. */
const POISON = 0x7fabcdef;

function poison(size: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(size + GUARD).fill(POISON);
}

function stored(cache: Float32Array, shape: AttentionShape): Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
  if (shape.kvType === 'f32') return new Float32Array(cache);
  const halves = new Uint16Array(cache.length);
  for (let i = 0; i < halves.length; i++) halves[i] = toHalf(cache[i]);
  return halves;
}

/** What the kernel reads back from the cache. */
export function rounded(cache: Float32Array, shape: AttentionShape): Float32Array {
  return shape.kvType === 'f16' ? cache.map((x) => halfToNumber(toHalf(x))) : cache;
}
