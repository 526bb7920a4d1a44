import wgsl from '../../shaders/attention/split_kv_decode.wgsl?raw';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../gpu/device';
import { createKernel } from '../gpu/kernel';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  check,
  checkScratch,
  mergeParameters,
} from './attention';
import { checkTiles, type DecodeTiles, defaultTiles, headSlices, tileSource } from './decode_tiles';

const NAME = 'split_kv_decode';
const MAX_SPLITS = 256;
const UNIFORM_BYTES = 16;
const MERGE_COLUMNS = 16;
const MAX_MERGE_SLICES = 16;
/** Keys that are worth a workgroup, and workgroups that fill a large GPU. `npm run bench -- tune` shows whether they still do. */
const MIN_SPLIT_KEYS = 128;
const ENOUGH_WORKGROUPS = 256;

/** SPLITS and WORKGROUP for a cache of kvLen keys where nothing was measured. */
export function untunedSplits(kvLen: number, shape: AttentionShape, limits: AttentionLimits) {
  const most = Math.min(kvLen / MIN_SPLIT_KEYS, ENOUGH_WORKGROUPS / shape.nKvHeads, MAX_SPLITS);
  const SPLITS = 2 ** Math.floor(Math.log2(Math.max(1, most)));
  return { SPLITS, WORKGROUP: defaultTiles(shape, limits, kvLen / SPLITS).WORKGROUP };
}

/** Quads of query heads that share a KV head, over all KV heads. */
function kvQuads(shape: AttentionShape, tiles: DecodeTiles): number {
  return shape.nKvHeads * headSlices(shape, tiles) * Math.ceil(tiles.HEADS / 4);
}

/** SPLITS: parts of the keys, one workgroup each (times KV heads). WORKGROUP, HEADS: see DecodeTiles. */
export function planSplitKvDecode(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'SPLITS' | 'WORKGROUP' | 'HEADS'> {
  const tiles = defaultTiles(shape, limits, 0);
  const defaults = { ...tiles, ...untunedSplits(shape.contextLength, shape, limits) };
  const parameters = mergeParameters(NAME, defaults, given);
  checkTiles(NAME, shape, limits, parameters);
  const { SPLITS } = parameters;
  const mostSlices = Math.floor(limits.maxComputeInvocationsPerWorkgroup / MERGE_COLUMNS);
  const MERGE_SLICES = Math.min(MAX_MERGE_SLICES, mostSlices);
  check(NAME, SPLITS <= MAX_SPLITS, `SPLITS ${SPLITS} is above ${MAX_SPLITS}`);
  const quads = Math.max(SPLITS, shape.maxTokens) * kvQuads(shape, parameters);
  const bytes = quads * shape.headDim * 16;
  checkScratch(NAME, limits, bytes);
  return {
    parameters,
    derived: { MAX_SPLITS, MERGE_COLUMNS, MERGE_SLICES },
    scratchBytes: bytes + quads * 32 + UNIFORM_BYTES,
  };
}

/** Decode with a long cache; any number of tokens, each on its own. The kernels are the same for every number of splits. */
export async function createSplitKvDecode(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
): Promise<AttentionKernel> {
  const { parameters, derived, scratchBytes } = planSplitKvDecode(shape, gpu.limits, given);
  const source = tileSource(gpu, shape, parameters);
  const kernel = (entryPoint: string) =>
    createKernel(gpu, {
      ...source,
      label: `attention/${NAME}.${entryPoint}`,
      wgsl: [...source.wgsl, wgsl],
      constants: { ...source.constants, ...derived },
      bindings: ['read', 'read', 'read', 'write', 'write', 'write', 'uniform'],
      entryPoint,
    });
  const [main, merge] = await Promise.all([kernel('main'), kernel('merge')]);
  const { SPLITS } = parameters;
  const buffers = await gpu.guardMemory(`attention/${NAME}`, () => {
    const quads = Math.max(SPLITS, shape.maxTokens) * kvQuads(shape, parameters);
    return {
      o: gpu.createBuffer(`${NAME}.part_o`, quads * shape.headDim * 16, GPU_STORAGE),
      ml: gpu.createBuffer(`${NAME}.part_ml`, quads * 32, GPU_STORAGE),
      splits: gpu.createBuffer(`${NAME}.splits`, UNIFORM_BYTES, GPU_UNIFORM | GPU_COPY_DST),
    };
  });
  gpu.write(buffers.splits, new Uint32Array([SPLITS]));
  return {
    name: NAME,
    parameters,
    scratchBytes,
    bind(q, k, v, out) {
      const group = main.bind(q, k, v, out, buffers.o, buffers.ml, buffers.splits);
      return {
        record(list, nTokens) {
          const splits = Math.max(1, Math.floor(SPLITS / nTokens));
          list.add(main, group, shape.nKvHeads, splits, nTokens * headSlices(shape, parameters));
          list.add(merge, group, kvQuads(shape, parameters), Math.ceil(shape.headDim / MERGE_COLUMNS), nTokens);
        },
      };
    },
    destroy() {
      for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
    },
  };
}
