// Parked keys and values on the GPU, and those that go to storage: what comes back is what was there, in as many arenas
// as the cache has, and refused memory leaves nothing behind.

import { afterEach, describe, expect, test } from 'vitest';
import { type KvType, kvLayerBytes, kvPlanes } from '../../../src/attention/kv_layout';
import type { BufferRange } from '../../../src/gpu/buffer_range';
import { readConfig } from '../../../src/model/config/read';
import { createKvCache } from '../../../src/model/kv/kv_cache';
import { KvParking } from '../../../src/model/kv/kv_parking';
import { KvPieces } from '../../../src/model/kv/kv_pieces';
import { openModel } from '../../../src/storage/model_file';
import { faultyGpu } from '../../faults/memory_faults';
import { modelFile } from '../fixtures/tiny_gguf';

const CONTEXT = 24;
const SHAPE = { vocab: 133, hidden: 64, intermediate: 64, layers: 5, heads: 4, kvHeads: 2, headDim: 16 };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function cacheOf(kvType: KvType, layersPerArena: number) {
  const { gpu, ...faults } = await faultyGpu();
  ends.push(faults.end);
  const config = readConfig(await openModel(modelFile({ format: 'f16' }, SHAPE)));
  const shape = { nKvHeads: config.nKvHeads, headDim: config.headDim, kvType, contextLength: CONTEXT };
  const layerBytes = Math.ceil(kvLayerBytes(shape, CONTEXT) / 256) * 256;
  Object.defineProperty(gpu, 'bindingLimit', { value: layersPerArena * layerBytes });
  const cache = createKvCache(gpu, config, CONTEXT, kvType);
  const tokens: Uint32Array[] = [];
  const branches = new KvParking(gpu, cache, shape, (ids) => void tokens.push(ids));
  const pieces = new KvPieces(gpu, cache, shape, (ids) => void tokens.push(ids));
  const ranges = [...cache.k, ...cache.v];
  /** Another number in each byte of each range. */
  const fill = (seed: number) =>
    ranges.forEach((range, i) => {
      gpu.write(
        range,
        Uint8Array.from({ length: range.size }, (_, at) => (seed + 31 * i + 7 * at + (at >> 8)) & 255),
      );
    });
  const read = () => Promise.all(ranges.map(async (range: BufferRange) => new Uint8Array(await gpu.read(range))));
  const planes = kvPlanes(shape, CONTEXT);
  /** The first `count` rows of each head, with their scales, and the rest. */
  const split = (bytes: readonly Uint8Array[], count: number) => {
    const parts: [number[], number[]] = [[], []];
    for (const range of bytes) {
      for (const [at, byte] of range.entries()) {
        const { offset, rowBytes } = planes.findLast((plane) => at >= plane.offset) ?? planes[0];
        parts[(at - offset) % (CONTEXT * rowBytes) < count * rowBytes ? 0 : 1].push(byte);
      }
    }
    return parts;
  };
  return { gpu, faults, cache, branches, pieces, tokens, fill, read, split, valueBytes: planes[0].rowBytes };
}

describe.each([
  ['f16', 5],
  ['f16', 2],
  ['f32', 1],
  ['q8', 5],
  ['q8', 2],
] as const)('%s, %i layers an arena', (kvType, layersPerArena) => {
  test('a branch comes back as it was, wholly, in part and cut', async () => {
    const { gpu, faults, cache, branches, tokens, fill, read, split } = await cacheOf(kvType, layersPerArena);
    expect(cache.arenas.length).toBe(Math.ceil(SHAPE.layers / layersPerArena));
    const before = faults.live.size;
    fill(1);
    const first = await read();
    const parked = await branches.park(10);
    const bytes = gpu.allocatedBytes - cache.bytes;
    expect(bytes).toBe(10 * branches.bytesPerToken);
    fill(99);
    const other = await read();
    const ids = Uint32Array.from({ length: 7 }, (_, i) => i);
    parked?.restore(ids);
    let [rows, rest] = split(await read(), 7);
    expect(rows).toEqual(split(first, 7)[0]);
    expect(rest).toEqual(split(other, 7)[1]);
    fill(50);
    const cut = await parked?.shrink(4);
    parked?.destroy();
    cut?.restore(ids.slice(0, 4));
    [rows, rest] = split(await read(), 4);
    expect(rows).toEqual(split(first, 4)[0]);
    expect(tokens.map(({ length }) => length)).toEqual([7, 4]);
    cut?.destroy();
    expect(faults.live.size).toBe(before);
    expect(gpu.failure).toBeNull();
    await branches.park(10);
    gpu.destroy(); // an unload
    expect([faults.live.size, gpu.allocatedBytes]).toEqual([0, 0]);
  });

  test('a piece for storage comes back as it was, also in a cache of other arenas', async () => {
    const [from, to] = [await cacheOf(kvType, layersPerArena), await cacheOf(kvType, 1)];
    from.fill(1);
    to.fill(99);
    const before = await to.read();
    const bytes = await from.pieces.read(4, 8);
    expect(bytes?.length).toBe(8 * from.branches.bytesPerToken);
    const ids = Uint32Array.from({ length: 12 }, (_, i) => i);
    expect(bytes && (await to.pieces.write(ids, 4, bytes))).toBe(true);
    const after = await to.read();
    expect(to.split(after, 4)[0]).toEqual(to.split(before, 4)[0]);
    expect(to.split(after, 12)[1]).toEqual(to.split(before, 12)[1]);
    expect(Buffer.compare((await to.pieces.read(4, 8)) ?? new Uint8Array(), bytes ?? new Uint8Array(1))).toBe(0);
    const rowOf = (all: readonly Uint8Array[]) => all.map((range) => range[4 * from.valueBytes]);
    expect(rowOf(after)).toEqual(rowOf(await from.read()));
    expect(to.tokens).toEqual([ids]);
    await expect(to.pieces.write(ids, 3, bytes ?? new Uint8Array())).rejects.toThrow(RangeError);
    to.faults.refuse((_n) => true);
    expect([await to.pieces.read(4, 8), await to.pieces.write(ids, 4, bytes ?? new Uint8Array())]).toEqual([
      null,
      false,
    ]);
    expect(to.gpu.failure).toBeNull();
  });
});

test('each buffer of a copy that is refused: no copy, nothing left, and the device works on', async () => {
  for (const fault of [0, 1, 2, 3, 4, 5]) {
    const { gpu, faults, branches, fill } = await cacheOf('f16', 2);
    fill(1);
    const before = faults.live.size;
    const first = faults.labels.length;
    faults.refuse((n) => n === first + fault);
    expect(await branches.park(10)).toBeNull();
    expect([faults.live.size, gpu.failure]).toEqual([before, null]);
    faults.refuse(() => false);
    const parked = await branches.park(10);
    parked?.destroy();
    expect(parked).not.toBeNull();
    expect(faults.live.size).toBe(before);
  }
});
