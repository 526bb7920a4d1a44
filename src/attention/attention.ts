// The attention room: siblings that answer one question (out = softmax(softcap(scale q k^T)) v, causal or not,
// grouped queries, maybe the nearest keys alone) and the choice among them. It knows nothing of layers, weights or
// tokens.

import { AttentionUnavailable } from '../errors';
import type { Bindable } from '../gpu/buffer_range';
import type { Gpu } from '../gpu/device';
import type { CommandList, RowTable } from '../gpu/kernel';
import { type Reason, why } from '../shared/why';

/** `k` and `v` are caches (nKvHeads, room, headDim) of one layer, as kv_layout.ts says. */
export interface AttentionShape {
  nHeads: number;
  nKvHeads: number;
  headDim: number;
  contextLength: number;
  /** Most tokens of one pass. */
  maxTokens: number;
  /** f16: two halves packed in each 32-bit word. q8: signed bytes, with a scale for each row of headDim. */
  kvType: 'f16' | 'f32' | 'q8';
  /** Factor of q . k; 1 / sqrt(headDim) in most models. */
  scale: number;
  /** score -> cap * tanh(score / cap) after scaling, before the mask; null: none. */
  softcap: number | null;
  /** True when some layer has a window. Otherwise no shader reads one. */
  windowed: boolean;
  /** False: a token also sees the keys after its own, up to the end of its pass. Default: true. */
  causal?: boolean;
  /**
   * True when the output projection merges the splits of the cache, so that splitting costs no dispatch. Default:
   * false.
   */
  partsMergeInO?: boolean;
  /** The tokens of a pass are steps of several conversations. Of the siblings for decode alone. */
  rows?: RowTable;
}

export const ATTENTION_NAMES = [
  'cpu',
  'eager',
  'chunked',
  'flash_prefill',
  'flash_prefill_q8',
  'fused_decode',
  'split_kv_decode',
] as const;

export type AttentionName = (typeof ATTENTION_NAMES)[number];

/** A sibling, compiled. Its scratch memory serves every layer, since layers run one after another. */
export interface AttentionKernel {
  readonly name: AttentionName;
  readonly parameters: Record<string, number>;
  /** Bytes of GPU memory beside q, k, v and out. */
  readonly scratchBytes: number;
  /** Most that an output may differ from the textbook, as a share of the largest |v|. Default: that of f32. */
  readonly bound?: number;
  /** The unmerged result of recordParts. */
  readonly parts?: AttentionParts;
  /**
   * q, out: f32 (nTokens, nHeads, headDim), q rotated and not scaled; k, v hold the tokens of the pass already. window:
   * keys that a token sees, its own included; null: all before it. room: rows of a head in these caches; default: those
   * of a layer with this window.
   * @throws AttentionUnavailable for a window where the shape has none
   */
  bind(q: GPUBuffer, k: Bindable, v: Bindable, out: GPUBuffer, window: number | null, room?: number): BoundAttention;
  /** Frees the scratch memory. */
  destroy(): void;
}

interface BoundAttention {
  /** Adds this sibling's dispatches for a pass of nTokens to the list. */
  record(list: CommandList, nTokens: number): void;
  /** Adds the same dispatches without the merging of parts, which their reader does. */
  recordParts?(list: CommandList, nTokens: number): void;
}

/** Softmax over `count` parts of the keys, for each query head of one token. */
export interface AttentionParts {
  /** f32 (nHeads, count, headDim), not yet divided by l. */
  o: GPUBuffer;
  /** f32 (nHeads, count, 2): m and l. */
  ml: GPUBuffer;
  /** A uniform with `count`. */
  splits: GPUBuffer;
  count: number;
}

/** The limits that decide whether a sibling can run: those of GPUSupportedLimits. */
export interface AttentionLimits {
  maxComputeWorkgroupStorageSize: number;
  maxComputeInvocationsPerWorkgroup: number;
  maxStorageBufferBindingSize: number;
  /** True if the adapter computes on the CPU, where small workgroups are faster. Default: false. */
  isSoftware?: boolean;
}

export function attentionLimits({ limits, isSoftware }: Gpu): AttentionLimits {
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxStorageBufferBindingSize } = limits;
  return { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxStorageBufferBindingSize, isSoftware };
}

/** The constants of a sibling, known before anything is compiled. */
export interface AttentionPlan<Parameter extends string = string> {
  /** The constants that a tuner may set. */
  parameters: Record<Parameter, number>;
  /** Constants of the shader beyond its shape. */
  derived: Record<string, number>;
  /** Bytes of GPU memory beside q, k, v and out. */
  scratchBytes: number;
}

const MAX_HEAD_DIM = 256;

export function checkShape(name: AttentionName, shape: AttentionShape): void {
  const { nHeads, nKvHeads, headDim, scale, softcap } = shape;
  check(name, nHeads % nKvHeads === 0, why`${nHeads} query heads do not share ${nKvHeads} key heads evenly`);
  check(name, headDim % 8 === 0, why`head_dim ${headDim} is no multiple of 8`);
  check(name, headDim <= MAX_HEAD_DIM, why`head_dim ${headDim} is above ${MAX_HEAD_DIM}`);
  check(name, isFactor(scale), why`the scale of its scores, ${scale}, is no positive number of 32 bits`);
  check(
    name,
    softcap === null || isFactor(softcap),
    why`the cap of its scores, ${softcap}, is no positive number of 32 bits`,
  );
}

/** True when shaders can multiply by x and divide by x. */
function isFactor(x: number): boolean {
  return x > 1e-30 && x < 1e30;
}

/** The defaults with what the caller set; a name that the sibling does not know is refused. */
export function mergeParameters<Parameter extends string>(
  name: AttentionName,
  defaults: Record<Parameter, number>,
  given: Record<string, number>,
): Record<Parameter, number> {
  const names = Object.keys(defaults).join(', ');
  for (const [key, value] of Object.entries(given)) {
    check(
      name,
      key in defaults,
      names ? why`it has no parameter ${key}, only ${names}` : why`it has no parameters, so no ${key} either`,
    );
    check(name, Number.isInteger(value) && value > 0, why`${key} ${value} is no positive whole number`);
  }
  return { ...defaults, ...given };
}

export function checkLimits(name: AttentionName, limits: AttentionLimits, threads: number, bytes: number): void {
  const { maxComputeInvocationsPerWorkgroup: most, maxComputeWorkgroupStorageSize: memory } = limits;
  check(name, threads <= most, why`it needs ${threads} invocations in a workgroup, this GPU grants ${most}`);
  check(name, bytes <= memory, why`it needs ${bytes} bytes of workgroup memory, this GPU grants ${memory}`);
}

export function checkScratch(name: AttentionName, limits: AttentionLimits, bytes: number): void {
  const { maxStorageBufferBindingSize: most } = limits;
  check(name, bytes <= most, why`it needs ${bytes} bytes of scratch memory in one binding, this GPU grants ${most}`);
}

export function check(name: AttentionName, holds: boolean, reason: Reason): void {
  if (!holds) throw new AttentionUnavailable(name, reason);
}
