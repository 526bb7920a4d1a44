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
import { checkTiles, defaultTiles, headSlices, tileSource } from './decode_tiles';

const NAME = 'split_kv_decode';
const MAX_SPLITS = 256;
const MERGE_WORKGROUP = 128;
/** Keys that are worth a workgroup of their own, and workgroups that fill a large GPU. `npm run bench -- tune` sets both. */
const MIN_SPLIT_KEYS = 64;
const ENOUGH_WORKGROUPS = 512;

/** Splits for a cache of kvLen keys where nothing was measured: a power of two. */
export function splitsFor(kvLen: number, shape: AttentionShape): number {
  const most = Math.min(kvLen / MIN_SPLIT_KEYS, ENOUGH_WORKGROUPS / shape.nKvHeads, MAX_SPLITS);
  return 2 ** Math.floor(Math.log2(Math.max(1, most)));
}

/** SPLITS: parts of the keys, one workgroup each (times KV heads). WORKGROUP, HEADS: see DecodeTiles. */
export function planSplitKvDecode(
  shape: AttentionShape,
  limits: AttentionLimits,
  given: Record<string, number> = {},
): AttentionPlan<'SPLITS' | 'WORKGROUP' | 'HEADS'> {
  const defaults = { SPLITS: splitsFor(shape.contextLength, shape), ...defaultTiles(shape, limits) };
  const parameters = mergeParameters(NAME, defaults, given);
  checkTiles(NAME, shape, limits, parameters);
  const { SPLITS } = parameters;
  check(NAME, SPLITS <= MAX_SPLITS, `SPLITS ${SPLITS} is above ${MAX_SPLITS}`);
  const parts = Math.max(SPLITS, shape.maxTokens) * shape.nHeads;
  const bytes = parts * shape.headDim * 4;
  checkScratch(NAME, limits, bytes);
  return { parameters, derived: { MAX_SPLITS, MERGE_WORKGROUP }, scratchBytes: bytes + parts * 8 };
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
    const parts = Math.max(SPLITS, shape.maxTokens) * shape.nHeads;
    return {
      o: gpu.createBuffer(`${NAME}.part_o`, parts * shape.headDim * 4, GPU_STORAGE),
      ml: gpu.createBuffer(`${NAME}.part_ml`, parts * 8, GPU_STORAGE),
      splits: gpu.createBuffer(`${NAME}.splits`, 4, GPU_UNIFORM | GPU_COPY_DST),
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
          list.add(merge, group, shape.nHeads, nTokens);
        },
      };
    },
    destroy() {
      for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
    },
  };
}
