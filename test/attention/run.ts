// Runs one attention pass on the GPU as the forward pass would, with everything around it poisoned.

import type { AttentionKernel, AttentionName, AttentionShape } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import { kvLayerBytes, kvRoom } from '../../src/attention/kv_layout';
import { halfToNumber, toHalf } from '../../src/cpu/half';
import { quantizeActivations, roundedToBytes } from '../../src/cpu/quantize_activations';
import { type BufferRange, rangeStride } from '../../src/gpu/buffer_range';
import type { Gpu } from '../../src/gpu/device';
import { CommandList } from '../../src/gpu/kernel';
import type { CapabilityName } from '../../src/gpu/limits';
import { hardwareGpu, testGpu } from '../gpu/test_device';

export interface Pass {
  shape: AttentionShape;
  position: number;
  nTokens: number;
  q: Float32Array;
  k: Float32Array;
  v: Float32Array;
  /** Keys that a token sees; default all. */
  window?: number | null;
  /** Rows of a head in the caches; default: those of a layer with this window. */
  room?: number;
}

/** The sibling of a pass, its capabilities and its parameters. */
export interface Target {
  name: AttentionName;
  without: readonly CapabilityName[];
  parameters?: Record<string, number>;
  /** With the parameters and paths of a GPU in software. Default: those of hardware. */
  inSoftware?: boolean;
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
  return (await replayOnGpu(target, [pass]))[0];
}

/**
 * The same of several passes by one command list: shape, nTokens and window are those of the first, positions may
 * differ.
 */
export async function replayOnGpu(target: Target, passes: readonly Pass[]): Promise<Float32Array[]> {
  const [{ shape, nTokens, window = null, room }] = passes;
  const gpu = await (target.inSoftware ? testGpu : hardwareGpu)(target.without);
  const kernel = await kernelFor(gpu, target, shape);
  const size = nTokens * shape.nHeads * shape.headDim;
  const q = gpu.upload('q', data(passes[0], 'q'));
  const [k, v] = (['k', 'v'] as const).map((name) => uploadWithin(gpu, name, data(passes[0], name)));
  const out = gpu.upload('out', poison(size));
  const list = new CommandList(gpu);
  kernel.bind(q, k, v, out, window, room).record(list, nTokens);
  const outs: Float32Array[] = [];
  for (const [i, pass] of passes.entries()) {
    if (i > 0) {
      gpu.write(q, data(pass, 'q'));
      gpu.write(k, data(pass, 'k'));
      gpu.write(v, data(pass, 'v'));
      gpu.write(out, poison(size));
    }
    await list.run({ position: pass.position, nTokens });
    const bits = new Uint32Array(await gpu.read(out));
    if (gpu.failure) throw gpu.failure;
    checkWritten(target, bits, size);
    outs.push(new Float32Array(bits.buffer, 0, size));
  }
  for (const buffer of [q, k.buffer, v.buffer, out]) gpu.destroyBuffer(buffer);
  return outs;
}

/** Uploads a cache as the second of three layers in one buffer. The others are poison, which shows when it is read. */
function uploadWithin(gpu: Gpu, label: string, cache: ReturnType<typeof stored>): BufferRange {
  const size = cache.byteLength;
  const offset = rangeStride(size);
  const buffer = gpu.upload(label, new Uint32Array((2 * offset + size) / 4).fill(NAN_AND_NANS));
  const range = { buffer, offset, size };
  gpu.write(range, cache);
  return range;
}

function checkWritten({ name }: Target, bits: Uint32Array, size: number): void {
  const unwritten = bits.subarray(0, size).indexOf(POISON);
  if (unwritten >= 0) throw new Error(`${name} left element ${unwritten} of ${size} unwritten`);
  const past = bits.subarray(size).findIndex((word) => word !== POISON);
  if (past >= 0) throw new Error(`${name} wrote element ${size + past}, past the ${size} of the pass`);
}

/** A NaN that no arithmetic makes. */
const POISON = 0x7fabcdef;

/** NaN as f32, and as f16 twice. */
const NAN_AND_NANS = 0x7fff7fff;

function poison(size: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(size + GUARD).fill(POISON);
}

type Stored = Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

function data(pass: Pass, name: 'q' | 'k' | 'v'): Stored {
  const { shape, window = null, room = kvRoom(shape, window) } = pass;
  if (name === 'q') return new Float32Array(pass.q);
  const rows = room < shape.contextLength ? ringOf(pass[name], pass, room) : pass[name];
  return stored(rows, { ...shape, contextLength: room });
}

/** The newest `room` rows of each head, each in its row of the ring; the rest of a ring that is not full is NaN. */
function ringOf(cache: Float32Array, { shape, position, nTokens }: Pass, room: number): Float32Array {
  const { nKvHeads, headDim, contextLength } = shape;
  const ring = new Float32Array(nKvHeads * room * headDim).fill(Number.NaN);
  for (let head = 0; head < nKvHeads; head++) {
    for (let key = Math.max(0, position + nTokens - room); key < position + nTokens; key++) {
      const from = (head * contextLength + key) * headDim;
      ring.set(cache.subarray(from, from + headDim), (head * room + (key % room)) * headDim);
    }
  }
  return ring;
}

function stored(cache: Float32Array, shape: AttentionShape): Stored {
  if (shape.kvType === 'f32') return new Float32Array(cache);
  if (shape.kvType === 'q8') return storedBytes(cache, shape);
  const halves = new Uint16Array(cache.length);
  for (let i = 0; i < halves.length; i++) halves[i] = toHalf(cache[i]);
  return halves;
}

/** All rows in signed bytes, then a scale for each. */
function storedBytes(cache: Float32Array, shape: AttentionShape): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(kvLayerBytes(shape, shape.contextLength));
  const { q, d } = quantizeActivations(cache, shape.headDim);
  bytes.set(new Uint8Array(q.buffer));
  bytes.set(new Uint8Array(d.buffer), q.length);
  return bytes;
}

/** The values that the kernel reads from the cache. */
export function rounded(cache: Float32Array, shape: AttentionShape): Float32Array {
  if (shape.kvType === 'q8') return roundedToBytes(cache, shape.headDim);
  return shape.kvType === 'f16' ? cache.map((x) => halfToNumber(toHalf(x))) : cache;
}
