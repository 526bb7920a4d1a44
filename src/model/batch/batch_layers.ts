// The layers of a step of a batch: one dispatch for all where the model's own steps are fused, or else a dispatch for
// each operation.

import { mergedQ8 } from '../../attention/decode/merged_q8';
import { createSplitKvDecode } from '../../attention/decode/split_kv_decode';
import type { CommandList } from '../../gpu/kernel';
import { BLOCK, ZERO_BELOW } from '../../kernels/linear/weight_format';
import { SLOTS } from '../../kernels/row_table';
import type { StepTest } from '../../kernels/step/step';
import { arrived } from '../../shared/part';
import type { LinearBuilder, LinearSources, Operation } from '../layers/linears';
import type { FusedLaunch } from '../step/decode_step';
import { type FusedModel, fusedModel, type StepSources } from '../step/fused_model';
import { fewLinears } from './few_linears';

/** Keys that are worth a workgroup of attention, and workgroups of all conversations together that fill a large GPU. */
const SPLIT_KEYS = 128;
const ENOUGH_WORKGROUPS = 512;
/** Most positions of a slot for fused steps: from 2,500 keys of all on, they take longer than others. */
const FUSED_ROOM = 8192;

/** x of the embedding to x of the last layer. */
export interface BatchLayers {
  record(list: CommandList, nTokens: number): void;
  /** The first word is not 0 after a step that gave up, as no plain step does. */
  status: GPUBuffer;
  /** Makes ready for steps of other conversations. */
  renew(): void;
  destroy(): void;
}

/** A fused step that works here, and what tests change of it. */
export type BatchFused = FusedLaunch & { test?: StepTest };

function shortModel(sources: StepSources): FusedModel | null {
  const model = sources.attentionShape.contextLength <= FUSED_ROOM ? fusedModel(sources) : null;
  return typeof model === 'string' ? null : model;
}

/** The fused layers, or null where they cannot run. `sources` are those of the batch: its rows, its cache. */
export async function createFusedLayers(
  sources: LinearSources,
  { launch, spins, test }: BatchFused,
): Promise<BatchLayers | null> {
  const model = shortModel(sources);
  if (!model) return null;
  const { createFused } = await arrived(import('../step/create_fused'));
  const fused = await createFused(sources, model, { asked: launch }, test);
  if (typeof fused === 'string') return null;
  fused.start();
  fused.reset(spins);
  return {
    record: (list) => fused.tiles.record(list),
    status: fused.words,
    renew: () => fused.renew(spins),
    destroy: () => fused.destroy(),
  };
}

/** Compiles the shader of createFusedLayers, where they can run, and allocates nothing. */
export async function compileFusedLayers(sources: StepSources, { launch }: FusedLaunch): Promise<void> {
  const model = shortModel(sources);
  if (!model) return;
  const { compileFused } = await arrived(import('../step/create_fused'));
  await compileFused(sources, model, launch);
}

/** A dispatch for each operation, those of Llama.forward. */
export async function createPlainLayers(linears: LinearBuilder, sources: LinearSources): Promise<BatchLayers> {
  const { gpu, config, weights, attentionShape, kvCache, buffers } = sources;
  const { q, attn, status } = buffers;
  const inQ8 = weights.layers.every(({ o }) => linears.takesIntegers(o));
  const quantizesAttn = inQ8 && config.headDim % BLOCK === 0;
  const merged = quantizesAttn ? mergedQ8(ZERO_BELOW) : undefined;
  const [attention, ...layers] = await Promise.all([
    createSplitKvDecode(gpu, attentionShape, { SPLITS: splitsOf(sources) }, merged),
    ...weights.layers.map((_, i) => fewLinears(linears, sources, i, quantizesAttn)),
  ]);
  const attends = layers.map((_, i): Operation => {
    const room = Math.min(attentionShape.contextLength, kvCache.rooms[i]);
    return attention.bind(q, kvCache.k[i], kvCache.v[i], attn, config.layers[i].window, room);
  });
  return {
    record(list, nTokens) {
      for (const [i, { qkv, o, gateUp, down }] of layers.entries()) {
        for (const operation of [qkv, attends[i], o, gateUp, down]) operation.record(list, nTokens);
      }
    },
    status,
    renew() {},
    destroy: () => attention.destroy(),
  };
}

/** Parts of the keys of each conversation, always as many: the sums must not depend on how many there are. */
function splitsOf({ attentionShape: { contextLength, nKvHeads } }: LinearSources): number {
  const most = Math.min(contextLength / SPLIT_KEYS, ENOUGH_WORKGROUPS / (SLOTS * nKvHeads));
  return 2 ** Math.floor(Math.log2(Math.max(1, most)));
}
