// The arenas of weights and of keys and values: every layer has its ranges in them, and how many arenas there are
// changes no result.

import { describe, expect, test } from 'vitest';
import type { BufferRange } from '../../../src/gpu/buffer_range';
import type { Gpu } from '../../../src/gpu/device';
import { planeBytes, type WeightMatrix } from '../../../src/kernels/linear/weight_format';
import { readConfig } from '../../../src/model/config/read';
import { createKvCache, type KvArena } from '../../../src/model/kv/kv_cache';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateLayers, type PlannedMatrix, type WeightArena } from '../../../src/model/weights/weight_arenas';
import { allocateWeights, type LayerWeights, type ModelWeights } from '../../../src/model/weights/weights';
import { openModel } from '../../../src/storage/model_file';
import { testGpu, twinOf } from '../../gpu/test_device';
import { modelFile, type Variant } from '../fixtures/tiny_gguf';

const gpuOf = async (bindingLimit?: number) => twinOf(await testGpu(), bindingLimit);

// The limit is a context of tokens x 64 values, enough for every activation. A layer of 48 KB in f16 takes less than half
// of it, and so does one cache of 512 tokens.
const SHAPE = { vocab: 133, hidden: 64, intermediate: 64, layers: 5, heads: 2, kvHeads: 1, headDim: 32 };
const CONTEXT = 512;
const LIMIT = CONTEXT * 64 * 4;
const IDS = Uint32Array.from([0, 19, 132, 7, 20, 77]);

const MIXED: Variant = { format: 'f16', mixed: { attn_v: 'q8', attn_output: 'q4', ffn_down: 'q4_1' } };

async function load(gpu: Gpu, variant: Variant): Promise<{ weights: ModelWeights; llama: Llama }> {
  const files = await openModel(modelFile(variant, SHAPE));
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const options = { contextLength: CONTEXT, kvType: 'f32', attention: 'fused_decode' } as const;
  const llama = await Llama.create(gpu, config, weights, options);
  await read(files);
  llama.start(weights);
  return { weights, llama };
}

async function logits({ llama }: { llama: Llama }): Promise<Float32Array> {
  const last = IDS.length - 1;
  llama.writeTokens(IDS, 0);
  llama.pass(last, 'none', 0).run({ position: 0, nTokens: last });
  llama.pass(1, 'sample', last).run({ position: last, nTokens: 1 });
  return llama.readLogits();
}

const matricesOf = ({ qkv, o, gateUp, down }: LayerWeights) => [qkv, o, gateUp, down].map(({ matrix }) => matrix);
const partsOf = (matrices: readonly WeightMatrix[]) => matrices.flatMap(({ parts }) => parts);

/** Ranges lie in their buffer in this order, apart from one another, from aligned offsets on. */
function expectApart(gpu: Gpu, ranges: readonly BufferRange[], buffer: GPUBuffer): void {
  let end = 0;
  for (const range of ranges) {
    expect(range.buffer).toBe(buffer);
    expect(range.offset % Math.max(256, gpu.limits.minStorageBufferOffsetAlignment)).toBe(0);
    expect(range.offset).toBeGreaterThanOrEqual(end);
    expect(range.size).toBeGreaterThanOrEqual(16);
    end = range.offset + range.size;
  }
  expect(end).toBeLessThanOrEqual(buffer.size);
  expect(buffer.size - end).toBeLessThan(256);
}

function expectArenas(gpu: Gpu, arenas: readonly WeightArena[], layers: readonly (readonly WeightMatrix[])[]): void {
  for (const { firstLayer, nLayers, weights, scales } of arenas) {
    const parts = partsOf(layers.slice(firstLayer, firstLayer + nLayers).flat());
    const ranges = (plane: 'weights' | 'scales') => parts.map((part) => part[plane]);
    expectApart(gpu, ranges('weights'), weights);
    expectApart(gpu, ranges('scales'), scales);
  }
  for (const { parts, cols } of layers.flat()) {
    for (const { format, rows, weights, scales } of parts) {
      const bytes = planeBytes(format, rows, cols);
      expect([weights.size, scales.size]).toEqual([bytes.weights, Math.max(16, bytes.scales)]);
    }
  }
}

const layersOf = (arenas: readonly (WeightArena | KvArena)[]) =>
  arenas.map(({ firstLayer, nLayers }) => [firstLayer, nLayers]);

describe('weights', () => {
  /** Bindings that hold all layers, and bindings that do not. Both share kernels, and so do variants. */
  let pair: Promise<readonly [Gpu, Gpu]> | undefined;
  const devicePair = async () => [await gpuOf(), await gpuOf(LIMIT)] as const;

  for (const variant of [{ format: 'f16' }, MIXED] satisfies Variant[]) {
    test(`of ${JSON.stringify(variant)}: one arena or several, with the same planes and logits`, async () => {
      pair ??= devicePair();
      const [large, small] = await pair;
      const whole = await load(large, variant);
      const split = await load(small, variant);
      expect(layersOf(whole.weights.arenas)).toEqual([[0, 5]]);
      expect(split.weights.arenas.length).toBeGreaterThan(1);
      expect(
        split.weights.arenas.reduce((next, { firstLayer, nLayers }) => (firstLayer === next ? next + nLayers : -1), 0),
      ).toBe(5);
      expectArenas(large, whole.weights.arenas, whole.weights.layers.map(matricesOf));
      expectArenas(small, split.weights.arenas, split.weights.layers.map(matricesOf));
      for (const { weights, scales } of split.weights.arenas) {
        expect(Math.max(weights.size, scales.size)).toBeLessThanOrEqual(LIMIT);
      }
      const planes = (gpu: Gpu, { layers }: ModelWeights) =>
        Promise.all(partsOf(layers.flatMap(matricesOf)).flatMap((p) => [gpu.read(p.weights), gpu.read(p.scales)]));
      expect(await planes(small, split.weights)).toEqual(await planes(large, whole.weights));
      const expected = await logits(whole);
      expect(expected.every((logit) => Number.isFinite(logit) && logit !== 0)).toBe(true);
      expect(await logits(split)).toEqual(expected);
      expect([large.failure, small.failure]).toEqual([null, null]);
    });
  }

  test('take their planes in bytes, and less than the alignment for each part', async () => {
    const gpu = await gpuOf();
    const files = await openModel(modelFile(MIXED, SHAPE));
    const config = readConfig(files);
    const { weights } = await allocateWeights(gpu, resolveTensors(files, config), config);
    const parts = partsOf(weights.layers.flatMap(matricesOf));
    const exact = parts.reduce((sum, { weights, scales }) => sum + weights.size + scales.size, 0);
    const arenas = weights.arenas.reduce((sum, { weights, scales }) => sum + weights.size + scales.size, 0);
    expect(arenas).toBeGreaterThanOrEqual(exact);
    expect(arenas).toBeLessThan(exact + 2 * 256 * parts.length);
    expect(gpu.allocatedBytes).toBeGreaterThanOrEqual(weights.bytes);
  });

  test('of a layer that exceeds a binding have buffers of their own, between the arenas of its neighbors', async () => {
    const gpu = await gpuOf(4096);
    const matrix = (i: number, rows: number): PlannedMatrix => ({
      label: `weights.${i}`,
      rows,
      cols: 32,
      parts: [{ format: 'q8', row0: 0, rows }],
    });
    // In bytes: 1024 a layer, 2 x 4096 in the third, 4096 in the last.
    const rows = [[32], [32], [128, 128], [32], [64, 64]];
    const { arenas, matrices } = allocateLayers(
      gpu,
      rows.map((layer, i) => layer.map((n) => matrix(i, n))),
    );
    expect(layersOf(arenas)).toEqual([
      [0, 2],
      [3, 1],
      [4, 1],
    ]);
    expectArenas(gpu, arenas, matrices);
    const own = partsOf(matrices[2]).flatMap(({ weights, scales }) => [weights, scales]);
    expect(own.map(({ offset }) => offset)).toEqual([0, 0, 0, 0]);
    const buffers = new Set(own.map(({ buffer }) => buffer));
    expect(buffers.size).toBe(4);
    expect(arenas.some(({ weights, scales }) => buffers.has(weights) || buffers.has(scales))).toBe(false);
  });
});

describe('keys and values', () => {
  for (const { name, limit, contextLength, counts } of [
    { name: 'all layers in one arena', limit: undefined, contextLength: CONTEXT, counts: [[0, 5]] },
    {
      name: 'two layers in an arena',
      limit: LIMIT,
      contextLength: CONTEXT,
      counts: [
        [0, 2],
        [2, 2],
        [4, 1],
      ],
    },
    {
      name: 'a layer that fills a binding',
      limit: LIMIT,
      contextLength: 2 * CONTEXT,
      counts: [0, 1, 2, 3, 4].map((i) => [i, 1]),
    },
    {
      name: 'layers of 384 bytes, 512 apart',
      limit: 1024,
      contextLength: 3,
      counts: [
        [0, 2],
        [2, 2],
        [4, 1],
      ],
    },
    {
      name: 'a layer that fits without its padding',
      limit: 384,
      contextLength: 3,
      counts: [0, 1, 2, 3, 4].map((i) => [i, 1]),
    },
  ]) {
    test(name, async () => {
      const gpu = await gpuOf(limit);
      const config = readConfig(await openModel(modelFile({ format: 'f16' }, SHAPE)));
      const { k, v, arenas, bytes } = createKvCache(gpu, config, contextLength, 'f32');
      expect(layersOf(arenas)).toEqual(counts);
      for (const { firstLayer, nLayers, layerBytes, ...buffers } of arenas) {
        const layers = (ranges: readonly BufferRange[]) => ranges.slice(firstLayer, firstLayer + nLayers);
        for (const ranges of [layers(k), layers(v)]) {
          expect(ranges.map(({ offset }) => offset)).toEqual(ranges.map((_, i) => i * layerBytes));
        }
        expectApart(gpu, layers(k), buffers.k);
        expectApart(gpu, layers(v), buffers.v);
      }
      expect(new Set([...k, ...v].map(({ size }) => size))).toEqual(new Set([32 * 4 * contextLength]));
      expect(bytes).toBe(gpu.allocatedBytes);
    });
  }

  test('of a layer that exceeds a binding are refused, with the bytes of a layer', async () => {
    const gpu = await gpuOf(LIMIT);
    const config = readConfig(await openModel(modelFile({ format: 'f16' }, SHAPE)));
    expect(() => createKvCache(gpu, config, 1025, 'f32')).toThrow(/kv_cache\.k\.0.*131200/);
  });
});
