// Attention on the CPU: reads Q, K and V back and runs the reference.

import { attention as textbook } from '../../cpu/attention';
import { halfToNumber } from '../../cpu/half';
import { type Bindable, rangeOf } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_MAP_READ, type Gpu } from '../../gpu/device';
import type { Step } from '../../gpu/kernel';
import { type AttentionKernel, type AttentionShape, attentionLimits } from '../attention';
import { kvPlanes, kvRoom, kvRowBytes } from '../kv_layout';
import { checkWindow } from '../source';
import { planCpu, rowBytes } from './baseline_plans';

const NAME = 'cpu';

/** Reads Q, K and V back, attends in plain loops and uploads the result: the last resort, and a baseline. */
export async function createCpu(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, scratchBytes } = planCpu(shape, attentionLimits(gpu), given);
  const readback = await gpu.guardMemory(`The readback of attention "${NAME}"`, () =>
    gpu.createBuffer(`attention.${NAME}.readback`, scratchBytes, GPU_MAP_READ | GPU_COPY_DST),
  );
  const unpack = unpackOf(shape);

  const attend = async (step: Step, q: GPUBuffer, caches: readonly Bindable[], window: number | null, room: number) => {
    const kvLen = step.position + step.nTokens;
    const used = Math.min(kvLen, room);
    const kvBytes = rowBytes(shape, 0, used) / 2;
    const bytes = copyInputs(gpu, readback, shape, step, q, caches, room);
    const data = await gpu.readMapped(readback, bytes);
    const queries = new Float32Array(data, 0, (bytes - 2 * kvBytes) / 4);
    const [keys, values] = [bytes - 2 * kvBytes, bytes - kvBytes].map((at) =>
      tokensFirst(unpack(data, at, kvBytes), shape, kvLen, used),
    );
    return new Float32Array(textbook(queries, keys, values, { ...shape, ...step, window }));
  };
  return {
    name: NAME,
    parameters,
    scratchBytes,
    bind(q, k, v, out, window, room = kvRoom(shape, window)) {
      checkWindow(NAME, shape.windowed, window);
      const pass = async (step: Step) => gpu.write(out, await attend(step, q, [k, v], window, room));
      return { record: (list) => list.addHost(pass) };
    },
    destroy() {
      gpu.destroyBuffer(readback);
    },
  };
}

/**
 * One submit that puts the queries of the pass and the rows in use of each cache one behind the other. Returns their
 * bytes.
 */
function copyInputs(
  gpu: Gpu,
  readback: GPUBuffer,
  shape: AttentionShape,
  { position, nTokens }: Step,
  q: GPUBuffer,
  caches: readonly Bindable[],
  room: number,
): number {
  const { nHeads, nKvHeads } = shape;
  const encoder = gpu.device.createCommandEncoder({ label: `attention/${NAME}` });
  let end = rowBytes(shape, nTokens * nHeads, 0);
  encoder.copyBufferToBuffer(q, 0, readback, 0, end);
  const rows = Math.min(position + nTokens, room);
  for (const { buffer, offset } of caches.map(rangeOf)) {
    for (const plane of kvPlanes(shape, room)) {
      const from = offset + plane.offset;
      for (let head = 0; head < nKvHeads; head++) {
        const used = rows * plane.rowBytes;
        encoder.copyBufferToBuffer(buffer, from + head * room * plane.rowBytes, readback, end, used);
        end += used;
      }
    }
  }
  gpu.submit(encoder.finish());
  return end;
}

/**
 * (nKvHeads, used, headDim), as the cache has it, to (kvLen, nKvHeads, headDim), as the textbook wants it: zeros where
 * the cache keeps a key no more.
 */
function tokensFirst(
  rows: Float32Array,
  { nKvHeads, headDim }: AttentionShape,
  kvLen: number,
  used: number,
): Float32Array {
  const turned = new Float32Array(kvLen * nKvHeads * headDim);
  for (let head = 0; head < nKvHeads; head++) {
    for (let s = kvLen - used; s < kvLen; s++) {
      const from = (head * used + (s % used)) * headDim;
      turned.set(rows.subarray(from, from + headDim), (s * nKvHeads + head) * headDim);
    }
  }
  return turned;
}

type Unpack = (data: ArrayBuffer, at: number, bytes: number) => Float32Array;

function unpackOf(shape: AttentionShape): Unpack {
  switch (shape.kvType) {
    case 'f16':
      return unpackF16();
    case 'f32':
      return unpackF32;
    case 'q8':
      return unpackQ8(shape);
    default:
      throw shape.kvType satisfies never;
  }
}

const unpackF32: Unpack = (data, at, bytes) => new Float32Array(data, at, bytes / 4);

/** Unpacks halves by a table of all 65,536. */
function unpackF16(): Unpack {
  const numbers = Float32Array.from({ length: 0x10000 }, (_, half) => halfToNumber(half));
  return (data, at, bytes) => {
    const halves = new Uint16Array(data, at, bytes / 2);
    const unpacked = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; i++) unpacked[i] = numbers[halves[i]];
    return unpacked;
  };
}

/** Signed bytes of all rows, then a scale for each row. */
function unpackQ8(shape: AttentionShape): Unpack {
  const { headDim } = shape;
  return (data, at, bytes) => {
    const rows = bytes / kvRowBytes(shape);
    const values = new Int8Array(data, at, rows * headDim);
    const scales = new Float32Array(data, at + values.length, rows);
    return Float32Array.from(values, (value, i) => value * scales[Math.floor(i / headDim)]);
  };
}
