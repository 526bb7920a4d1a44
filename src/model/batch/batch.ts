// The pass of a batch: a step of several conversations, a token each, that reads every weight once. The operations are
// those of Llama.forward.

import type { Place } from '../../cpu/grammar';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE } from '../../gpu/device';
import { CommandList, type ListAtStep } from '../../gpu/kernel';
import type { Automaton } from '../../grammar/automaton';
import { createEmbed } from '../../kernels/elementwise/embed';
import { headRowsEpilogue } from '../../kernels/linear/epilogues/head_rows';
import { createMatmulFew } from '../../kernels/linear/matmul_few';
import { type BatchRow, createRows, SLOTS, TOKEN_RING } from '../../kernels/row_table';
import { logitsBytes, maximaBytes, seenBytes } from '../../kernels/sampling/logits_size';
import { partsBytes } from '../../kernels/sampling/sample';
import { LOGPROBS_RING } from '../../sampling/logprobs';
import {
  BIASES_BYTES,
  packBiases,
  packSampling,
  penalizes,
  SAMPLING_BYTES,
  type SamplingParams,
} from '../../sampling/sampling';
import { arrived } from '../../shared/part';
import type { KvBranches, SlotRows } from '../kv/kv_branches';
import { LinearBuilder, type LinearSources } from '../layers/linears';
import type { TokenTables } from '../output/constrainer';
import type { FusedLaunch } from '../step/decode_step';
import { bindableRoom, createBatchCache, slotArenas } from './batch_cache';
import type { BatchConstraints } from './batch_constraints';
import {
  type BatchFused,
  type BatchLayers,
  compileFusedLayers,
  createFusedLayers,
  createPlainLayers,
} from './batch_layers';
import { type BatchLogprobs, createLogprobsOfBatch, ENTRY_WORDS, REPORT_WORDS, RING_WORDS } from './batch_logprobs';
import { createBatchSampler, type StepEnd } from './batch_sampler';

export { ENTRY_WORDS, REPORT_WORDS, RING_WORDS, SLOTS };

/** The buffers of a batch beside those of the model. */
function createBuffers({ gpu, config, kvCache, attentionShape }: LinearSources, slots: number, room: number) {
  const { vocabSize } = config;
  const storage = (label: string, bytes: number) =>
    gpu.createBuffer(`batch.${label}`, bytes, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  return {
    cache: createBatchCache(gpu, kvCache, attentionShape, slots, room),
    rows: createRows(gpu, slots),
    own: {
      logits: storage('logits', SLOTS * logitsBytes(vocabSize)),
      maxima: storage('maxima', SLOTS * maximaBytes(vocabSize)),
      asked: storage('asked', SLOTS * SAMPLING_BYTES),
      tokens: storage('tokens', 4 * SLOTS * TOKEN_RING),
      parts: storage('parts', SLOTS * partsBytes(vocabSize)),
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
  /** The conversations of the next step. */
  rows: readonly BatchRow[] = [];
  /** True while biases or penalties change the logits of some row. */
  private isChanged = false;
  /** Slots whose conversation asks for that. */
  private readonly changed = new Set<number>();
  /** Slots whose conversation asks for log probabilities, and what reports them. */
  private readonly reported = new Set<number>();
  private logprobs: BatchLogprobs | null = null;
  /** That, while some row asks for them. */
  private reports: BatchLogprobs | null = null;
  /** What keeps the constraints of some conversations, and that, while some row has one. */
  private constraints: BatchConstraints | null = null;
  private masks: BatchConstraints | null = null;
  private readonly lists = new Map<string, CommandList>();

  private constructor(
    private readonly sources: LinearSources,
    private readonly buffers: BatchBuffers,
    readonly slots: number,
    /** Positions of a slot. */
    readonly room: number,
    private readonly layers: BatchLayers,
    private readonly forward: (list: CommandList, nTokens: number, end: StepEnd) => void,
  ) {}

  /** As many slots, up to `most`, as this GPU binds with room for so many tokens each. */
  static slotsFor({ gpu, kvCache, attentionShape }: LinearSources, most: number, tokens: number): number {
    let slots = Math.min(most, SLOTS);
    while (slots > 0 && bindableRoom(gpu, kvCache, attentionShape, slots) < tokens) slots--;
    return slots;
  }

  /** Compiles the fused layers of a batch like that, which takes a GPU seconds, and allocates nothing. */
  static async prepare(given: LinearSources, slots: number, most: number, fused: FusedLaunch): Promise<void> {
    const { gpu, kvCache, attentionShape } = given;
    const room = roomOf(given, slots, most);
    const rows = createRows(gpu, slots);
    const arenas = slotArenas(kvCache, attentionShape, slots, room);
    const sources = { ...given, attentionShape: { ...attentionShape, contextLength: room, rows }, kvCache: { arenas } };
    await compileFusedLayers(sources, fused).finally(() => rows.destroy());
  }

  /**
   * Compiles the pass and allocates its memory. Steps and passes of the model may run meanwhile.
   * @param slots conversations, at most SLOTS
   * @param most positions of each, cut to what this GPU binds
   * @param fused the fused step that the model runs. Null: a dispatch for each operation.
   * @throws GpuMemoryError, GpuProgramError, AttentionUnavailable
   */
  static async create(
    given: LinearSources,
    slots: number,
    most: number,
    fused: BatchFused | null = null,
  ): Promise<Batch> {
    const {
      gpu,
      config: { vocabSize },
    } = given;
    const room = roomOf(given, slots, most);
    const buffers = await gpu.guardMemory('The slots of a batch', () => createBuffers(given, slots, room));
    try {
      const sources = batchSources(given, buffers, room);
      const linears = new LinearBuilder(sources);
      const layers =
        (fused && (await createFusedLayers(sources, fused))) ?? (await createPlainLayers(linears, sources));
      try {
        const [ends, sample] = await Promise.all([
          createEnds(linears, sources, buffers),
          createBatchSampler(gpu, { vocabSize, room }, buffers.rows, buffers.own, layers.status),
        ]);
        const forward = (list: CommandList, nTokens: number, end: StepEnd) => {
          ends.embed(list, nTokens);
          layers.record(list, nTokens);
          ends.head(list, nTokens);
          sample(list, nTokens, end);
        };
        return new Batch(sources, buffers, slots, room, layers, forward);
      } catch (error) {
        layers.destroy();
        throw error;
      }
    } catch (error) {
      free(given, buffers);
      throw error;
    }
  }

  /** The ids of steps, SLOTS each. */
  get tokens(): GPUBuffer {
    return this.buffers.own.tokens;
  }

  /** The log probabilities of steps: see BatchLogprobs. */
  get ring(): GPUBuffer | null {
    return this.logprobs?.ring ?? null;
  }

  /**
   * Makes ready for conversations that ask for log probabilities. Steps may run meanwhile.
   * @throws GpuMemoryError, GpuProgramError, MissingPartError
   */
  async reportLogprobs(): Promise<void> {
    const { gpu, config } = this.sources;
    const { rows, own } = this.buffers;
    this.logprobs ??= await createLogprobsOfBatch(gpu, config, rows, own);
  }

  /**
   * Makes ready for a conversation in a slot that obeys an automaton. Steps of others may run meanwhile.
   * @throws GpuMemoryError, GpuProgramError, MissingPartError
   */
  async constrain(slot: number, automaton: Automaton, tables: TokenTables): Promise<void> {
    const { gpu, config } = this.sources;
    const { rows, own } = this.buffers;
    const { BatchConstraints } = await arrived(import('./batch_constraints'));
    this.constraints ??= await BatchConstraints.create(gpu, config.vocabSize, rows, own, tables);
    if (!(await this.constraints.obey(slot, automaton))) return;
    for (const key of this.lists.keys()) if (key.includes('mask')) this.lists.delete(key); // they bind those before
  }

  /**
   * Copies the first positions of the cache, which have these ids, to a slot. Its conversation samples as asked. For
   * log probabilities `reportLogprobs` comes first, and `constrain` for a constraint.
   * @param place where the document of a constraint stands before the token after the next
   */
  fill(
    slot: number,
    ids: Uint32Array<ArrayBuffer>,
    asked: SamplingParams,
    branches: KvBranches,
    place: Place | null = null,
  ): SlotRows {
    const { gpu } = this.sources;
    const { own, cache } = this.buffers;
    if (place) this.constraints?.setPlace(slot, ids.length + 1, place);
    else this.constraints?.free(slot);
    gpu.write(own.asked, new Uint8Array(packSampling(asked)), slot * SAMPLING_BYTES);
    if (asked.biases.length > 0) gpu.write(own.biases, new Uint8Array(packBiases(asked.biases)), slot * BIASES_BYTES);
    gpu.write(own.history, ids, 4 * slot * this.room);
    if (penalizes(asked) || asked.biases.length > 0) this.changed.add(slot);
    else this.changed.delete(slot);
    if (asked.logprobs === null) this.reported.delete(slot);
    else this.reported.add(slot);
    return branches.fill(cache.slot(slot), ids.length);
  }

  /** Makes the next steps those of these conversations; `id` is the token that the next one reads, if it is known. */
  setRows(rows: readonly (BatchRow & { id?: number })[]): void {
    const { gpu } = this.sources;
    this.buffers.rows.set(this.steps, rows);
    this.layers.renew();
    this.rows = rows;
    this.isChanged = rows.some(({ slot }) => this.changed.has(slot));
    this.reports = rows.some(({ slot }) => this.reported.has(slot)) ? this.logprobs : null;
    this.masks = rows.some(({ slot }) => this.constraints?.holds(slot)) ? this.constraints : null;
    for (const { slot, id } of rows) {
      if (id !== undefined) gpu.write(this.tokens, Uint32Array.of(id), 4 * this.placeOf(this.steps) + 4 * slot);
    }
  }

  /**
   * The next step, to be recorded at once, and the places of its ids in `tokens` and of its report in `ring`: those of
   * slot 0, in words. `reportAt` is null where no row asks for log probabilities.
   */
  next(): { pass: ListAtStep; at: number; reportAt: number | null } {
    const { isChanged: changes, reports, masks } = this;
    const nTokens = this.rows.length;
    const step = { position: this.steps++, nTokens };
    const key = `${nTokens} ${changes} ${reports !== null}${masks ? ' mask' : ''}`;
    let list = this.lists.get(key);
    if (!list) {
      list = new CommandList(this.sources.gpu);
      this.forward(list, nTokens, { masks, changes, reports });
      this.lists.set(key, list);
    }
    const reportAt = reports && (this.steps % LOGPROBS_RING) * REPORT_WORDS;
    return { pass: { list, step, rows: this.buffers.rows }, at: this.placeOf(this.steps), reportAt };
  }

  /** The logits of the rows of the newest step. */
  async readLogits(): Promise<Float32Array[]> {
    const { gpu, config } = this.sources;
    const stride = logitsBytes(config.vocabSize) / 4;
    const all = new Float32Array(await gpu.read(this.buffers.own.logits));
    return this.rows.map((_, i) => all.slice(i * stride, i * stride + config.vocabSize));
  }

  private placeOf(step: number): number {
    return (step % TOKEN_RING) * SLOTS;
  }

  destroy(): void {
    this.layers.destroy();
    this.logprobs?.destroy();
    this.constraints?.destroy();
    free(this.sources, this.buffers);
  }
}

function free({ gpu }: LinearSources, { cache, rows, own }: BatchBuffers): void {
  cache.destroy();
  rows.destroy();
  for (const buffer of Object.values(own)) gpu.destroyBuffer(buffer);
}

/** Positions of a slot, up to `most`. */
function roomOf({ gpu, kvCache, attentionShape }: LinearSources, slots: number, most: number): number {
  return Math.min(most, attentionShape.contextLength, bindableRoom(gpu, kvCache, attentionShape, slots));
}

/** The sources of the model, with the rows and the cache of a batch. */
function batchSources(given: LinearSources, { rows, cache }: BatchBuffers, room: number): LinearSources {
  // As quantized as the steps of one conversation, so that its text does not change its quality.
  const { decode } = given.activations;
  const { k, v, arenas } = cache;
  return {
    ...given,
    attentionShape: { ...given.attentionShape, contextLength: room, rows, partsMergeInO: false },
    kvCache: { ...given.kvCache, k, v, arenas },
    activations: { decode, prefill: decode },
    matrices: null,
    createLong: createMatmulFew,
  };
}

type Record = (list: CommandList, nTokens: number) => void;

/** The embedding and the head. */
async function createEnds(
  linears: LinearBuilder,
  { gpu, config, weights, buffers: { x } }: LinearSources,
  { rows, own }: BatchBuffers,
): Promise<{ embed: Record; head: Record }> {
  const { vocabSize, hiddenSize, embeddingScale: scale, logitScale, logitSoftcap } = config;
  const epilogue = headRowsEpilogue(logitScale, logitSoftcap, logitsBytes(vocabSize) / 4);
  const [embed, head] = await Promise.all([
    createEmbed(gpu, { vocabSize, hiddenSize, parts: weights.embedding.parts, scale, rows }),
    linears.linear('prefill', weights.head, epilogue, { from: x }, own.logits),
  ]);
  const groups = embed.bind(weights.embedding, own.tokens, x);
  return {
    embed: (list, nTokens) => embed.record(list, groups, nTokens),
    head: (list, nTokens) => head.record(list, nTokens),
  };
}
