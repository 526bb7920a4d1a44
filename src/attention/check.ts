// The check of a sibling on this very GPU before it is used: one small pass, compared with the textbook.

import { attention as textbook } from '../cpu/attention';
import { halfToNumber, toHalf } from '../cpu/half';
import { quantizeActivations, roundedToBytes } from '../cpu/quantize_activations';
import { VivaceError } from '../errors';
import type { Bindable } from '../gpu/buffer_range';
import type { Gpu } from '../gpu/device';
import { CommandList, type Step } from '../gpu/kernel';
import { quoted, type Reason, why } from '../shared/why';
import type { AttentionKernel, AttentionShape } from './attention';
import { kvPlanes } from './kv_layout';

/** The buffers of one layer: q, out (maxTokens, nHeads, headDim) in f32; k and v are its caches. */
export interface AttentionBuffers {
  q: GPUBuffer;
  k: Bindable;
  v: Bindable;
  out: GPUBuffer;
  /** Rows of a head in the caches. Default: the context. */
  room?: number;
}

/** Keys before the checked token of a decode pass: more than two tiles of 128. */
const DECODE_POSITION = 270;
/** A prefill pass: more than one block of 64 rows, and past the end of a tile of 32 keys. */
const PREFILL_POSITION = 40;
const PREFILL_TOKENS = 70;
/** Positions of the caches that a check overwrites, from 0, where the context has so many. */
export const CHECKED_POSITIONS = DECODE_POSITION + 1;
/** Magnitude limit of the random values, v among them. */
const LARGEST = 1.75;
/** Largest allowed difference of an output, as a share of the largest |v|. */
const BOUND = 1e-4;
/** Multiplications of the textbook, at most: 4 to 25 ms. */
const TEXTBOOK_WORK = 1 << 22;
/** A score that overflows exp in f32 (above 88.7) unless the maximum is subtracted or the score capped. */
const LARGE_SCORE = 120;
/** The first element of a key that makes a large score, at most: f16 ends at 65504. */
const LARGEST_KEY = 60000;

/**
 * Runs a small pass of the kernel, of one token or of up to nTokens, on buffers whose contents may be lost. Null when
 * its outputs are right, else what is wrong with them, as a fragment of a sentence; so too when the GPU refuses the
 * pass.
 */
export async function checkAttention(
  gpu: Gpu,
  kernel: AttentionKernel,
  shape: AttentionShape,
  buffers: AttentionBuffers,
  nTokens: number,
): Promise<Reason | null> {
  const step = checkedStep(shape, nTokens);
  const pass = makePass(shape, step);
  const size = pass.q.length;
  gpu.write(buffers.q, pass.q);
  const { k, v, room = shape.contextLength } = buffers;
  writeCache(gpu, k, pass.k, K_TURN, { ...shape, room });
  writeCache(gpu, v, pass.v, V_TURN, { ...shape, room });
  gpu.write(buffers.out, new Float32Array(size).fill(Number.NaN)); // what is left unwritten shows
  try {
    await runOnce(gpu, kernel, { ...buffers, room }, step, checkedWindow(shape, step));
    const out = new Float32Array(await gpu.read(buffers.out, 4 * size));
    return gpu.failure ? quoted(gpu.failure.message) : compare(out, pass, shape, step, kernel.bound);
  } catch (error) {
    if (error instanceof VivaceError) return quoted(error.message);
    throw error;
  }
}

function checkedStep({ maxTokens, contextLength }: AttentionShape, most: number): Step {
  const nTokens = Math.min(most, maxTokens, contextLength, PREFILL_TOKENS);
  const before = nTokens === 1 ? DECODE_POSITION : PREFILL_POSITION;
  return { nTokens, position: Math.min(before, contextLength - nTokens) };
}

/**
 * The window of the check, for shapes with windows: one that hides about half of the keys and leaves a decode pass more
 * than a tile of 128.
 */
function checkedWindow({ windowed }: AttentionShape, { position, nTokens }: Step): number | null {
  return windowed ? Math.ceil((position + nTokens) / 2) : null;
}

/** Under error scopes: a pass that the GPU refuses is this kernel's error, not the device's. */
async function runOnce(
  gpu: Gpu,
  kernel: AttentionKernel,
  { q, k, v, out, room }: AttentionBuffers,
  step: Step,
  window: number | null,
) {
  const list = new CommandList(gpu);
  let running: Promise<void> | undefined;
  await gpu.guardMemory(`attention/${kernel.name}`, () => {
    kernel.bind(q, k, v, out, window, room).record(list, step.nTokens);
    running = list.run(step);
    running.catch(() => {}); // awaited below, once the scopes have answered
  });
  await running;
}

/**
 * q (nTokens, nHeads, headDim); k, v (kvLen, headDim), which each KV head sees turned by a number of rows of its own.
 */
interface Pass {
  q: Float32Array<ArrayBuffer>;
  k: Float32Array<ArrayBuffer>;
  v: Float32Array<ArrayBuffer>;
}

/** Rows by which the keys and the values of a KV head are turned against those of the head before. */
const K_TURN = 7;
const V_TURN = 13;

/**
 * Random values of variance 1, the same every time and exact in the type of the cache; q, too, where that is signed
 * bytes, since some siblings quantize it then. Two keys are zero but for a
 * large first element; of the query rows one in three sees it, the others have a zero there.
 */
function makePass({ nHeads, headDim, scale, kvType }: AttentionShape, { position, nTokens }: Step): Pass {
  const random = uniform(headDim * 7919 + position * 31 + nTokens);
  const rows = (n: number) => {
    const values = new Float32Array(n * headDim);
    for (let i = 0; i < values.length; i++) values[i] = random();
    return values;
  };
  const kvLen = position + nTokens;
  const pass = { q: rows(nTokens * nHeads), k: rows(kvLen), v: rows(kvLen) };
  for (let row = 0; row < nTokens * nHeads; row++) pass.q[row * headDim] = isLarge(row, nHeads) ? 2 : 0;
  const unit = 1 / (2 * scale); // a first element of k that makes a score of 1 against 2
  for (const [key, score] of [
    [Math.floor(kvLen / 3), LARGE_SCORE - 1],
    [Math.floor((2 * kvLen) / 3), LARGE_SCORE],
  ]) {
    pass.k.fill(0, key * headDim, (key + 1) * headDim);
    pass.k[key * headDim] = halfToNumber(toHalf(Math.min(score * unit, LARGEST_KEY)));
  }
  if (kvType !== 'q8') return pass;
  const [q, k, v] = [pass.q, pass.k, pass.v].map((each) => roundedToBytes(each, headDim));
  return { q, k, v };
}

function isLarge(row: number, nHeads: number): boolean {
  return ((row % nHeads) + Math.floor(row / nHeads)) % 3 === 1;
}

/** Multiples of 1/64 from -LARGEST to LARGEST (variance 1.02), from a linear congruential generator. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 8) % (128 * LARGEST + 1)) / 64 - LARGEST;
  };
}

/** The rows of each KV head at its place in the cache (nKvHeads, room, headDim); those past the pass stay. */
function writeCache(
  gpu: Gpu,
  cache: Bindable,
  rows: Float32Array<ArrayBuffer>,
  turn: number,
  shape: AttentionShape & { room: number },
) {
  const { nKvHeads, headDim, room } = shape;
  const kvLen = rows.length / headDim;
  const stored = storedRows(rows, shape);
  for (const [i, { offset, rowBytes }] of kvPlanes(shape, room).entries()) {
    for (let head = 0; head < nKvHeads; head++) {
      const from = (head * turn) % kvLen;
      const to = offset + head * room * rowBytes;
      gpu.write(cache, stored[i].subarray(from * rowBytes), to);
      gpu.write(cache, stored[i].subarray(0, from * rowBytes), to + (kvLen - from) * rowBytes);
    }
  }
}

/** The bytes of rows in each plane of a cache. */
function storedRows(rows: Float32Array<ArrayBuffer>, { kvType, headDim }: AttentionShape): Uint8Array<ArrayBuffer>[] {
  if (kvType !== 'q8') return [new Uint8Array(kvType === 'f16' ? halves(rows).buffer : rows.buffer)];
  const { q, d } = quantizeActivations(rows, headDim);
  return [q, d].map(({ buffer }) => new Uint8Array(buffer));
}

/** The rows that writeCache writes for one head, (kvLen, headDim). */
function rowsOfHead(rows: Float32Array, turn: number, head: number, headDim: number): Float32Array {
  const from = (head * turn * headDim) % rows.length;
  const turned = new Float32Array(rows.length);
  turned.set(rows.subarray(from));
  turned.set(rows.subarray(0, from), rows.length - from);
  return turned;
}

function halves(rows: Float32Array): Uint16Array<ArrayBuffer> {
  const packed = new Uint16Array(rows.length);
  for (let i = 0; i < rows.length; i++) packed[i] = toHalf(rows[i]);
  return packed;
}

/** The first key that a row sees and the end of those that it sees, where `own` keys end with its own. */
function seenKeys(own: number, kvLen: number, window: number | null, causal: boolean): [begin: number, end: number] {
  const reach = window ?? kvLen;
  return [Math.max(0, own - reach), causal ? own : Math.min(own - 1 + reach, kvLen)];
}

/**
 * Every element must be written; where the textbook would take too long, it computes every stride-th head of a token.
 */
function compare(
  out: Float32Array,
  pass: Pass,
  shape: AttentionShape,
  { position, nTokens }: Step,
  bound = BOUND,
): Reason | null {
  const { nHeads, nKvHeads, headDim, scale, softcap, causal = true } = shape;
  const window = checkedWindow(shape, { position, nTokens });
  const missing = out.findIndex(Number.isNaN);
  if (missing >= 0) return why`element ${missing} of its outputs is not a number`;
  const group = nHeads / nKvHeads;
  const head = { nHeads: 1, nKvHeads: 1, headDim, scale, softcap };
  const stride = Math.ceil((2 * out.length * (position + nTokens)) / TEXTBOOK_WORK);
  const worst = { error: 0, at: 0, want: 0 };
  for (let kvHead = 0; kvHead < nKvHeads; kvHead++) {
    const k = rowsOfHead(pass.k, K_TURN, kvHead, headDim);
    const v = rowsOfHead(pass.v, V_TURN, kvHead, headDim);
    for (let row = 0; row < nTokens * group; row++) {
      const [t, h] = [Math.floor(row / group), kvHead * group + (row % group)];
      if ((t + h) % stride !== 0) continue;
      const first = (t * nHeads + h) * headDim;
      const q = pass.q.subarray(first, first + headDim);
      const [begin, end] = seenKeys(position + t + 1, position + nTokens, window, causal).map((key) => key * headDim);
      const want = textbook(q, k.subarray(begin, end), v.subarray(begin, end), {
        ...head,
        position: (end - begin) / headDim - 1,
      });
      for (let d = 0; d < headDim; d++) {
        const error = Math.abs(out[first + d] - want[d]) / LARGEST;
        if (error > worst.error) Object.assign(worst, { error, at: first + d, want: want[d] });
      }
    }
  }
  if (worst.error <= bound) return null;
  const [error, got, want] = [worst.error, out[worst.at], worst.want].map((x) => Number(x.toPrecision(3)));
  return why`its outputs differ from the textbook by ${error} of the largest value (element ${worst.at}: ${got} instead of ${want})`;
}
