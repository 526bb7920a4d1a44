// The pass of a batch: a step of several conversations, a token each, that reads every weight once. The operations are
// those of Llama.forward.

import { mergedQ8 } from '../../attention/merged_q8';
import { createSplitKvDecode } from '../../attention/split_kv_decode';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE } from '../../gpu/device';
import { CommandList, type ListAtStep } from '../../gpu/kernel';
import { createEmbed } from '../../kernels/elementwise/embed';
import { headRowsEpilogue } from '../../kernels/linear/epilogues/head_rows';
import { createMatmulFew } from '../../kernels/linear/matmul_few';
import { BLOCK, ZERO_BELOW } from '../../kernels/linear/weight_format';
import { type BatchRow, createRows, SLOTS, TOKEN_RING } from '../../kernels/row_table';
import { logitsBytes, maximaBytes } from '../../kernels/sampling/maxima';
import { seenBytes } from '../../kernels/sampling/penalties';
import { partsBytes } from '../../kernels/sampling/sample';
import {
  BIASES_BYTES,
  packBiases,
  packSampling,
  penalizes,
  SAMPLING_BYTES,
  type SamplingParams,
} from '../../sampling/sampling';
import type { KvBranches } from '../kv_branches';
import { LinearBuilder, type LinearSources, type Operation } from '../linears';
import { bindableRoom, createBatchCache, SlotRows } from './batch_cache';
import { createBatchSampler } from './batch_sampler';
import { fewLinears, takesIntegers } from './few_linears';

export { SLOTS };

/** Keys that are worth a workgroup of attention, and workgroups of all conversations together that fill a large GPU. */
const SPLIT_KEYS = 128;
const ENOUGH_WORKGROUPS = 512;

/** The buffers of a batch beside those of the model. */
function createBuffers({ gpu, config, kvCache, attentionShape }: LinearSources, slots: number, room: number) {
  const { vocabSize } = config;
  const storage = (label: string, bytes: number) =>
    gpu.createBuffer(`batch.${label}`, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  return {
    cache: createBatchCache(gpu, kvCache, attentionShape, slots, room),
    rows: createRows(gpu),
    own: {
      logits: storage('logits', SLOTS * logitsBytes(vocabSize)),
      maxima: storage('maxima', SLOTS * maximaBytes(vocabSize)),
      asked: storage('asked', SLOTS * SAMPLING_BYTES),
      tokens: storage('tokens', 4 * SLOTS * TOKEN_RING),
      parts: storage('parts', partsBytes(vocabSize)), // bound, never written
      biases: storage('biases', slots * BIASES_BYTES),
      history: storage('history', 4 * slots * room), // the ids of each slot, by position, for penalties
      seen: storage('seen', SLOTS * seenBytes(vocabSize)),
    },
  };
}

type BatchBuffers = ReturnType<typeof createBuffers>;

export class Batch {
  /** Steps recorded so far. */
  private steps = 0;
  private nTokens = 0;
  /** True while biases or penalties change the logits of some row. */
  private isChanged = false;
  /** Slots whose conversation asks for that. */
  private readonly changed = new Set<number>();
  private readonly lists = new Map<string, CommandList>();

  private constructor(
    private readonly sources: LinearSources,
    private readonly buffers: BatchBuffers,
    readonly slots: number,
    /** Positions of a slot. */
    readonly room: number,
    private readonly forward: (list: CommandList, nTokens: number, isChanged: boolean) => void,
    private readonly freeScratch: () => void,
  ) {}

  /** As many slots, up to `most`, as this GPU binds with room for so many tokens each. */
  static slotsFor({ gpu, kvCache, attentionShape }: LinearSources, most: number, tokens: number): number {
    let slots = Math.min(most, SLOTS);
    while (slots > 0 && bindableRoom(gpu, kvCache, attentionShape, slots) < tokens) slots--;
    return slots;
  }

  /**
   * Compiles the pass and allocates its memory. Steps and passes of the model may run meanwhile.
   * @param slots conversations, at most SLOTS
   * @param room positions of each, cut to what this GPU binds
   * @throws GpuMemoryError, GpuProgramError, AttentionUnavailable
   */
  static async create(given: LinearSources, slots: number, most: number): Promise<Batch> {
    const { gpu, config, weights } = given;
    const room = Math.min(
      most,
      given.attentionShape.contextLength,
      bindableRoom(gpu, given.kvCache, given.attentionShape, slots),
    );
    const buffers = await gpu.guardMemory('The slots of a batch', () => createBuffers(given, slots, room));
    const { cache, rows, own } = buffers;
    try {
      // As quantized as the steps of one conversation, so that its text does not change its quality.
      const { decode } = given.activations;
      const attentionShape = { ...given.attentionShape, contextLength: room, rows, partsMergeInO: false };
      const sources: LinearSources = {
        ...given,
        attentionShape,
        kvCache: { ...given.kvCache, k: cache.k, v: cache.v },
        activations: { decode, prefill: decode },
        matrices: null,
        createLong: createMatmulFew,
      };
      const { x, q, attn, status } = given.buffers;
      const { vocabSize, hiddenSize, embeddingScale: scale } = config;
      const linears = new LinearBuilder(sources);
      const inQ8 = weights.layers.every(({ o }) => takesIntegers(linears, o));
      const quantizesAttn = inQ8 && config.headDim % BLOCK === 0;
      const epilogue = headRowsEpilogue(config.logitScale, config.logitSoftcap, logitsBytes(vocabSize) / 4);
      const [attention, embed, head, sample, ...layers] = await Promise.all([
        createSplitKvDecode(
          gpu,
          attentionShape,
          { SPLITS: splitsOf(sources) },
          quantizesAttn ? mergedQ8(ZERO_BELOW) : undefined,
        ),
        createEmbed(gpu, { vocabSize, hiddenSize, parts: weights.embedding.parts, scale, rows }),
        linears.linear('prefill', weights.head, epilogue, { from: x }, own.logits),
        createBatchSampler(gpu, { vocabSize, room }, rows, own, status),
        ...weights.layers.map((_, i) => fewLinears(linears, sources, i, quantizesAttn)),
      ]);
      const embedGroups = embed.bind(weights.embedding, own.tokens, x);
      const attends = layers.map((_, i): Operation => {
        const { window } = config.layers[i];
        const ownRoom = Math.min(room, given.kvCache.rooms[i]);
        return attention.bind(q, cache.k[i], cache.v[i], attn, window, ownRoom);
      });
      const forward = (list: CommandList, nTokens: number, isChanged: boolean) => {
        embed.record(list, embedGroups, nTokens);
        for (const [i, layer] of layers.entries()) {
          layer.qkv.record(list, nTokens);
          attends[i].record(list, nTokens);
          layer.o.record(list, nTokens);
          layer.gateUp.record(list, nTokens);
          layer.down.record(list, nTokens);
        }
        head.record(list, nTokens);
        sample(list, nTokens, isChanged);
      };
      return new Batch(sources, buffers, slots, room, forward, () => attention.destroy());
    } catch (error) {
      free(given, buffers);
      throw error;
    }
  }

  /** The ids of steps, SLOTS each. */
  get tokens(): GPUBuffer {
    return this.buffers.own.tokens;
  }

  /** Copies the first positions of the cache, which have these ids, to a slot. Its conversation samples as asked. */
  fill(slot: number, ids: Uint32Array<ArrayBuffer>, asked: SamplingParams, branches: KvBranches): SlotRows {
    const { gpu, kvCache } = this.sources;
    const { own, cache } = this.buffers;
    gpu.write(own.asked, new Uint8Array(packSampling(asked)), slot * SAMPLING_BYTES);
    if (asked.biases.length > 0) gpu.write(own.biases, new Uint8Array(packBiases(asked.biases)), slot * BIASES_BYTES);
    gpu.write(own.history, ids, 4 * slot * this.room);
    if (penalizes(asked) || asked.biases.length > 0) this.changed.add(slot);
    else this.changed.delete(slot);
    return new SlotRows(branches, cache.slot(slot), ids.length, kvCache);
  }

  /** Makes the next steps those of these conversations; `id` is the token that the next one reads, if it is known. */
  setRows(rows: readonly (BatchRow & { id?: number })[]): void {
    const { gpu } = this.sources;
    this.buffers.rows.set(this.steps, rows);
    this.nTokens = rows.length;
    this.isChanged = rows.some(({ slot }) => this.changed.has(slot));
    for (const { slot, id } of rows) {
      if (id !== undefined) gpu.write(this.tokens, Uint32Array.of(id), 4 * this.placeOf(this.steps) + 4 * slot);
    }
  }

  /** The next step, to be recorded at once, and the place of its ids in `tokens`: that of slot 0, in words. */
  next(): { pass: ListAtStep; at: number } {
    const { nTokens, isChanged } = this;
    const step = { position: this.steps++, nTokens };
    const key = `${nTokens} ${isChanged}`;
    let list = this.lists.get(key);
    if (!list) {
      list = new CommandList(this.sources.gpu);
      this.forward(list, nTokens, isChanged);
      this.lists.set(key, list);
    }
    return { pass: { list, step, rows: this.buffers.rows }, at: this.placeOf(this.steps) };
  }

  /** The logits of the rows of the newest step. */
  async readLogits(): Promise<Float32Array[]> {
    const { gpu, config } = this.sources;
    const stride = logitsBytes(config.vocabSize) / 4;
    const all = new Float32Array(await gpu.read(this.buffers.own.logits));
    return Array.from({ length: this.nTokens }, (_, i) => all.slice(i * stride, i * stride + config.vocabSize));
  }

  private placeOf(step: number): number {
    return (step % TOKEN_RING) * SLOTS;
  }

  destroy(): void {
    this.freeScratch();
    free(this.sources, this.buffers);
  }
}

function free({ gpu }: LinearSources, { cache, rows, own }: BatchBuffers): void {
  cache.destroy();
  rows.destroy();
  for (const buffer of Object.values(own)) gpu.destroyBuffer(buffer);
}

/** Parts of the keys of each conversation, always as many: the sums must not depend on how many there are. */
function splitsOf({ attentionShape: { contextLength, nKvHeads } }: LinearSources): number {
  const most = Math.min(contextLength / SPLIT_KEYS, ENOUGH_WORKGROUPS / (SLOTS * nKvHeads));
  return 2 ** Math.floor(Math.log2(Math.max(1, most)));
}
