// Decode attention over splits of the cache, merged afterwards: limits, splits, scratch memory and grids.

import mergeParts from '../../../shaders/attention/decode/merge_parts.wgsl?raw';
import mergedF32 from '../../../shaders/attention/decode/merged_f32.wgsl?raw';
import wgsl from '../../../shaders/attention/decode/split_kv_decode.wgsl?raw';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import { type CommandList, type Constant, createKernel } from '../../gpu/kernel';
import { why } from '../../shared/why';
import {
  type AttentionKernel,
  type AttentionLimits,
  type AttentionPlan,
  type AttentionShape,
  attentionLimits,
  check,
  checkScratch,
  mergeParameters,
} from '../attention';
import { Windows } from '../source';
import { checkTiles, defaultTiles, headSlices, tileSource } from './decode_tiles';

const NAME = 'split_kv_decode';
const MAX_SPLITS = 256;
const UNIFORM_BYTES = 16;
/** Threads of a merging workgroup, at most. */
const MERGE_THREADS = 256;
const MAX_MERGE_SLICES = 16;
/** m and l. */
const STATE_BYTES = 8;
/**
 * Keys that are worth a workgroup, and workgroups that fill a large GPU. `npm run bench -- tune` shows whether they
 * still do.
 */
const MIN_SPLIT_KEYS = 128;
const ENOUGH_WORKGROUPS = 256;
/** Splits of a short cache, and the fewest keys of each, where the output projection merges them. */
const SHORT_CACHE_SPLITS = 4;
const MIN_SHORT_SPLIT_KEYS = 32;

/** The form of what the merge of the splits leaves: the library that binds `out`. */
export interface MergedOutput {
  wgsl: readonly string[];
  constants?: Readonly<Record<string, Constant>>;
}

/** SPLITS and WORKGROUP for a cache of kvLen keys where nothing was measured. */
export function untunedSplits(kvLen: number, shape: AttentionShape, limits: AttentionLimits) {
  const short = shape.partsMergeInO ? Math.min(SHORT_CACHE_SPLITS, kvLen / MIN_SHORT_SPLIT_KEYS) : 1;
  const most = Math.min(Math.max(short, kvLen / MIN_SPLIT_KEYS), ENOUGH_WORKGROUPS / shape.nKvHeads, MAX_SPLITS);
  const SPLITS = 2 ** Math.floor(Math.log2(Math.max(1, most)));
  return { SPLITS, WORKGROUP: defaultTiles(shape, limits, kvLen / SPLITS).WORKGROUP };
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
  const mostThreads = Math.min(MERGE_THREADS, limits.maxComputeInvocationsPerWorkgroup);
  const MERGE_SLICES = Math.min(MAX_MERGE_SLICES, Math.floor(mostThreads / (shape.headDim / 4)));
  check(NAME, SPLITS <= MAX_SPLITS, why`SPLITS ${SPLITS} is above ${MAX_SPLITS}`);
  const bytes = partBytes(shape, SPLITS);
  checkScratch(NAME, limits, bytes.o);
  return { parameters, derived: { MERGE_SLICES }, scratchBytes: bytes.o + bytes.ml + UNIFORM_BYTES };
}

/** Bytes of the parts of a pass: f32 o (tokens, heads, splits, headDim), and m and l of each. */
function partBytes({ nHeads, headDim, maxTokens, rows }: AttentionShape, splits: number): { o: number; ml: number } {
  const parts = (rows ? splits * rows.most : Math.max(splits, maxTokens)) * nHeads;
  return { o: parts * headDim * 4, ml: parts * STATE_BYTES };
}

/**
 * Decode with a long cache; any number of tokens, each on its own. The kernels are the same for every number of splits.
 * @param merged default: out in f32
 */
export async function createSplitKvDecode(
  gpu: Gpu,
  shape: AttentionShape,
  given?: Record<string, number>,
  merged: MergedOutput = { wgsl: [mergedF32] },
): Promise<AttentionKernel> {
  const { parameters, derived, scratchBytes } = planSplitKvDecode(shape, attentionLimits(gpu), given);
  const bindings = ['read', 'read', 'read', 'write', 'write', 'write', 'uniform'] as const;
  const source = await tileSource(gpu, shape, parameters, bindings);
  const kernel = (entryPoint: string) =>
    createKernel(gpu, {
      ...source,
      label: `attention/${NAME}.${entryPoint}`,
      wgsl: [...source.wgsl, mergeParts, ...merged.wgsl, wgsl],
      constants: { ...source.constants, ...derived, ...merged.constants },
      entryPoint,
    });
  const [main, merge] = await Promise.all([kernel('main'), kernel('merge')]);
  const { SPLITS } = parameters;
  const buffers = await gpu.guardMemory(`attention/${NAME}`, () => {
    const bytes = partBytes(shape, SPLITS);
    return {
      o: gpu.createBuffer(`${NAME}.part_o`, bytes.o, GPU_STORAGE | GPU_COPY_DST),
      ml: gpu.createBuffer(`${NAME}.part_ml`, bytes.ml, GPU_STORAGE | GPU_COPY_DST),
      splits: gpu.createBuffer(`${NAME}.splits`, UNIFORM_BYTES, GPU_UNIFORM | GPU_COPY_DST),
    };
  });
  gpu.write(buffers.splits, new Uint32Array([SPLITS]));
  const windows = new Windows(gpu, NAME, shape);
  return {
    name: NAME,
    parameters,
    scratchBytes,
    parts: { ...buffers, count: SPLITS },
    bind(q, k, v, out, window, room) {
      const group = main.bind(q, k, v, out, buffers.o, buffers.ml, buffers.splits, ...windows.of(window, room));
      const recordParts = (list: CommandList, nTokens: number) => {
        const splits = shape.rows ? SPLITS : Math.max(1, Math.floor(SPLITS / nTokens));
        list.add(main, group, shape.nKvHeads, splits, nTokens * headSlices(shape, parameters));
      };
      return {
        recordParts,
        record(list, nTokens) {
          recordParts(list, nTokens);
          list.add(merge, group, shape.nHeads, nTokens);
        },
      };
    },
    destroy() {
      for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
      windows.destroy();
    },
  };
}
