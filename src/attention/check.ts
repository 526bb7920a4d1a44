// The check of a sibling on this very GPU before it is used: one small pass, compared with the textbook.

import { attention as textbook } from '../cpu/attention';
import { VivaceError } from '../errors';
import type { Gpu } from '../gpu/device';
import { CommandList, type Step } from '../gpu/kernel';
import type { AttentionKernel, AttentionShape } from './attention';

/** As the model binds them: q, out (maxTokens, nHeads, headDim) in f32; k, v the caches of one layer. */
export interface AttentionBuffers {
  q: GPUBuffer;
  k: GPUBuffer;
  v: GPUBuffer;
  out: GPUBuffer;
}

/** Keys before the checked token of a decode pass: more than two tiles of 128. */
const DECODE_POSITION = 270;
/** A prefill pass: more than one block of 64 rows, and past the end of a tile of 32 keys. */
const PREFILL_POSITION = 40;
const PREFILL_TOKENS = 70;
/** By how much an output may differ, as a share of the largest |v|. */
const BOUND = 1e-4;
/** Multiplications of the textbook, at most: about 15 ms. */
const TEXTBOOK_WORK = 1 << 24;
/** A score that overflows exp in f32 (above 88.7) unless the maximum is subtracted. */
const LARGE_SCORE = 120;

/**
 * Runs a small pass of the kernel, of one token or of up to nTokens, on buffers whose contents may be lost. Null when its
 * outputs are right, else what is wrong with them, as a fragment of a sentence; so too when the GPU refuses the pass.
 */
export async function checkAttention(
  gpu: Gpu,
  kernel: AttentionKernel,
  shape: AttentionShape,
  buffers: AttentionBuffers,
  nTokens: number,
): Promise<string | null> {
  const step = checkedStep(shape, nTokens);
  const pass = makePass(shape, step);
  const size = pass.q.length;
  gpu.write(buffers.q, pass.q);
  writeCache(gpu, buffers.k, pass.k, shape);
  writeCache(gpu, buffers.v, pass.v, shape);
  gpu.write(buffers.out, new Float32Array(size).fill(Number.NaN)); // what is left unwritten shows
  try {
    await runOnce(gpu, kernel, buffers, step);
    const out = new Float32Array(await gpu.read(buffers.out, 4 * size));
    return gpu.failure?.message ?? compare(out, pass, shape, step);
  } catch (error) {
    if (error instanceof VivaceError) return error.message;
    throw error;
  }
}

function checkedStep({ maxTokens, contextLength }: AttentionShape, most: number): Step {
  const nTokens = Math.min(most, maxTokens, contextLength, PREFILL_TOKENS);
  const before = nTokens === 1 ? DECODE_POSITION : PREFILL_POSITION;
  return { nTokens, position: Math.min(before, contextLength - nTokens) };
}

/** Under error scopes: a pass that the GPU refuses is this kernel's error, not the device's. */
async function runOnce(gpu: Gpu, kernel: AttentionKernel, { q, k, v, out }: AttentionBuffers, step: Step) {
  const list = new CommandList(gpu);
  let running: Promise<void> | undefined;
  await gpu.guardMemory(`attention/${kernel.name}`, () => {
    kernel.bind(q, k, v, out).record(list, step.nTokens);
    running = list.run(step);
    running.catch(() => {}); // awaited below, once the scopes have answered
  });
  await running;
}

/** q (nTokens, nHeads, headDim); k, v one (kvLen, headDim) per KV head. */
interface Pass {
  q: Float32Array<ArrayBuffer>;
  k: Float32Array<ArrayBuffer>[];
  v: Float32Array<ArrayBuffer>[];
}

/**
 * Random values of variance 1, the same every time and exact in f16. Two keys of each head are zero but for a large first
 * element, and of the query rows one in three sees it, the others have a zero there.
 */
function makePass({ nHeads, nKvHeads, headDim }: AttentionShape, { position, nTokens }: Step): Pass {
  const random = uniform(headDim * 7919 + position * 31 + nTokens);
  const rows = (n: number) => Float32Array.from({ length: n * headDim }, random);
  const q = rows(nTokens * nHeads);
  for (let row = 0; row < nTokens * nHeads; row++) q[row * headDim] = isLarge(row, nHeads) ? 2 : 0;
  const kvLen = position + nTokens;
  const heads = Array.from({ length: nKvHeads }, () => ({ k: rows(kvLen), v: rows(kvLen) }));
  const unit = Math.sqrt(headDim) / 2; // a first element of k that makes a score of 1 against 2
  for (const { k } of heads) {
    for (const [key, score] of [
      [Math.floor(kvLen / 3), LARGE_SCORE - 1],
      [Math.floor((2 * kvLen) / 3), LARGE_SCORE],
    ]) {
      k.fill(0, key * headDim, (key + 1) * headDim);
      k[key * headDim] = Math.round(score * unit);
    }
  }
  return { q, k: heads.map((head) => head.k), v: heads.map((head) => head.v) };
}

function isLarge(row: number, nHeads: number): boolean {
  return ((row % nHeads) + Math.floor(row / nHeads)) % 3 === 1;
}

/** Multiples of 1/64 from -1.75 to 1.75 (variance 1.02), from a linear congruential generator. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (((state >>> 8) % 225) - 112) / 64;
  };
}

/** The rows of each KV head at its place in the cache (nKvHeads, contextLength, headDim); those past the pass stay. */
function writeCache(gpu: Gpu, cache: GPUBuffer, heads: readonly Float32Array<ArrayBuffer>[], shape: AttentionShape) {
  const { contextLength, headDim, kvType } = shape;
  heads.forEach((rows, head) => {
    const first = head * contextLength * headDim;
    if (kvType === 'f16') gpu.write(cache, Uint16Array.from(rows, exactHalf), 2 * first);
    else gpu.write(cache, rows, 4 * first);
  });
}

const f32 = new Float32Array(1);
const bits = new Uint32Array(f32.buffer);

/** IEEE 754 half precision of zero or of a number that it holds exactly as a normal one: no rounding. */
function exactHalf(x: number): number {
  f32[0] = x;
  const magnitude = bits[0] & 0x7fffffff;
  return magnitude === 0 ? 0 : ((bits[0] >>> 16) & 0x8000) | ((magnitude >>> 13) - ((127 - 15) << 10));
}

/** Every element must be written; where the textbook would take too long, it computes every stride-th head of a token. */
function compare(out: Float32Array, pass: Pass, shape: AttentionShape, { position, nTokens }: Step): string | null {
  const { nHeads, nKvHeads, headDim } = shape;
  const missing = out.findIndex(Number.isNaN);
  if (missing >= 0) return `element ${missing} of its outputs is not a number`;
  const rows = nTokens * nHeads;
  const stride = Math.ceil((2 * rows * (position + nTokens) * headDim) / TEXTBOOK_WORK);
  const scale = pass.v.reduce((most, v) => v.reduce((a, x) => Math.max(a, Math.abs(x)), most), 0);
  const worst = { error: 0, at: 0, want: 0 };
  for (let row = 0; row < rows; row++) {
    const [t, h] = [Math.floor(row / nHeads), row % nHeads];
    if ((t + h) % stride !== 0) continue;
    const kvHead = Math.floor((h * nKvHeads) / nHeads);
    const q = pass.q.subarray(row * headDim, (row + 1) * headDim);
    const one = { nHeads: 1, nKvHeads: 1, headDim, position: position + t };
    textbook(q, pass.k[kvHead], pass.v[kvHead], one).forEach((want, d) => {
      const at = row * headDim + d;
      const error = Math.abs(out[at] - want) / scale;
      if (error > worst.error) Object.assign(worst, { error, at, want });
    });
  }
  if (worst.error <= BOUND) return null;
  const [error, got, want] = [worst.error, out[worst.at], worst.want].map((x) => Number(x.toPrecision(3)));
  return (
    `its outputs differ from the textbook by ${error} of the largest value ` +
    `(element ${worst.at}: ${got} instead of ${want})`
  );
}
