// The forward pass on the GPU: ids in a buffer to the next id in the same buffer, with no CPU in between.
// src/cpu/llama.ts is the same pass in plain loops.

import type { AttentionName } from '../attention/attention';
import type { PreparedAttention } from '../attention/prepare';
import type { AttentionProfile } from '../attention/profile';
import type { Place } from '../cpu/grammar';
import { ropeTable, withRopeFactors } from '../cpu/rope';
import type { Gpu } from '../gpu/device';
import { CommandList, type Step } from '../gpu/kernel';
import type { Automaton } from '../grammar/automaton';
import { createEmbed } from '../kernels/elementwise/embed';
import { createLastRow } from '../kernels/elementwise/last_row';
import { MANY_TOKENS } from '../kernels/linear/matmul_plan';
import type { ProductProfile } from '../kernels/linear/product_profile';
import type { StepTest } from '../kernels/step/step';
import type { StepLaunch } from '../kernels/step/step_plan';
import { packBiases, packSampling, type SamplingParams } from '../sampling/sampling';
import type { TokenBytes } from '../sampling/token_bytes';
import { arrived } from '../shared/part';
import { type ModelConfig, vectorsOf } from './config/config';
import { KvParking } from './kv/kv_parking';
import type { KvPieces } from './kv/kv_pieces';
import { type ActivationType, type Arithmetic, arithmeticOf, type MatrixChoice } from './layers/arithmetic';
import { type Layer, Layers } from './layers/layers';
import type { LinearSources, LongPasses, Operation } from './layers/linears';
import { allocateMemory, type ContextOptions, type ModelMemory, shapeOf } from './memory';
import type { TokenTables } from './output/constrainer';
import { type SampleEnd, Sampler } from './output/sampler';
import { padConfig } from './padding';
import { createDecodeStep, type DecodeStep, type FusedLaunch, type StepDecision } from './step/decode_step';
import type { FusedLayers } from './step/fused_step';
import type { StepAsked, StepChoice, TunedStep } from './step/step_choice';
import type { ModelWeights } from './weights/weights';

/** Most dispatches of a submit of a prompt. The GPU begins with the first ones while the others are recorded. */
const PROMPT_DISPATCHES = 32;

/** Tokens of the prompt that a check in idle runs. */
const WITNESS_TOKENS = 3;

export interface LlamaOptions extends ContextOptions {
  /** The parameters of linears that a tuner measured on this GPU. */
  productProfile?: ProductProfile;
  /** `q8` and `auto`: activations in signed bytes wherever a matrix has integers. Default f32, which is exact. */
  activations?: 'auto' | ActivationType | Arithmetic;
  /** The fewest tokens of a pass on subgroup matrices, where they are granted; infinity for none. */
  matricesFrom?: number;
  /** Default plain. */
  step?: StepAsked;
  /** Workgroups and threads of a fused step. Default: those of `tunedStep`, else measured here. */
  stepLaunch?: StepLaunch;
  /** The step that an earlier load measured on this GPU; `auto` obeys it. */
  tunedStep?: TunedStep;
  /** Allocated already, for `contextLength`. */
  memory?: ModelMemory;
  /** Tests cut or damage a fused step. */
  stepTest?: StepTest;
}

/** The end of a pass: nothing (more of the prompt follows), the next token, or the vector of the text. */
export type PassEnd = 'none' | 'hidden' | SampleEnd;

/** The parts of a model that stay when it is tuned. */
interface LlamaParts {
  sources: Omit<LinearSources, 'tuned'>;
  step: DecodeStep;
  embed: Operation;
  /** x[0] = x[nTokens - 1], and the same for q. */
  lastRow: Operation;
  /** The config without padding. */
  unpadded: ModelConfig;
  sampler: Sampler;
  options: LlamaOptions;
}

export class Llama {
  private readonly lists = new Map<readonly Layer[] | FusedLayers, Map<string, CommandList>>();
  /**
   * The operations of a submit of a prompt, which ends with the product that reaches them, so that the GPU can show the
   * page. At first what a GPU of a TFLOP/s does in 200 ms; the backend knows the time of earlier prompts. Attention is
   * not counted: passTokens bounds it.
   */
  submitOperations = 2e11;
  /** Made by the first text whose vector is asked for. */
  private pool: Operation | null = null;

  private constructor(
    private readonly parts: LlamaParts,
    private layers: Layers,
    private tuned: ProductProfile | null,
  ) {}

  /**
   * Records one pass over the newest nTokens, whose ids lie in `tokens`, and yields after each layer. A fused step runs
   * all layers of one token.
   */
  private *forward(
    list: CommandList,
    step: Step,
    end: PassEnd,
    layers: readonly Layer[] | FusedLayers,
  ): Generator<void> {
    const { nTokens } = step;
    this.parts.embed.record(list, nTokens); // x = E[token]
    if ('record' in layers)
      layers.record(list); // the same operations in one dispatch
    else {
      const isPruned = nTokens > 1 && end !== 'hidden';
      for (const layer of isPruned ? layers.slice(0, -1) : layers) yield recordLayer(list, layer, nTokens);
      if (isPruned) this.recordLastLayer(list, step, end, layers[layers.length - 1]);
    }
    if (end === 'none') return;
    if (end === 'hidden') {
      this.pool?.record(list, nTokens); // pooled = n(x), of the last token or the sum of all
      return;
    }
    this.layers.head.record(list, nTokens); // logits = Wh n(x), of the last token
    this.parts.sampler.record(list, end); // tokens[position + nTokens] = the next id
  }

  /**
   * The last layer of a prompt. Later tokens need its keys and values, but x of the last token alone: the rest of the
   * layer runs as a step of one token does, or not at all where more of the prompt follows.
   */
  private recordLastLayer(list: CommandList, { position, nTokens }: Step, end: PassEnd, layer: Layer): void {
    layer.qkv.record(list, nTokens);
    if (end === 'none') return;
    this.parts.lastRow.record(list, nTokens);
    list.toLastToken();
    recordBehindQkv(list, this.layers.at(1, position + nTokens)[this.parts.sources.config.nLayers - 1], 1);
  }

  /** The dispatches of a pass of nTokens at `position`, which runs next: made once for each kind, and replayed. */
  pass(nTokens: number, end: PassEnd, position: number): CommandList {
    const fused = nTokens === 1 && end !== 'hidden' ? this.parts.step.at(position) : null;
    const layers = fused ?? this.layers.at(nTokens, position + nTokens);
    this.parts.sources.kvCache.rings.write(position, position + nTokens);
    const lists = this.lists.get(layers) ?? new Map<string, CommandList>();
    this.lists.set(layers, lists);
    // One submit for one token, so that steps can share it.
    const most = nTokens > 1 ? { operations: this.submitOperations, dispatches: PROMPT_DISPATCHES } : undefined;
    const key = [nTokens, end, most?.operations].join(' ');
    const known = lists.get(key);
    if (known) return known;
    const list = new CommandList(this.parts.sources.gpu, most);
    list.addLate(this.forward(list, { position, nTokens }, end, layers));
    // Decode and whole chunks come again and again; the end of a prompt seldom does.
    if (nTokens === 1 || (nTokens === this.passTokens && end === 'none')) lists.set(key, list);
    return list;
  }

  /**
   * Compiles every pipeline at once and allocates everything that a run will touch. The weights may still be on their
   * way; `start` follows when they are there.
   */
  static async create(gpu: Gpu, unpadded: ModelConfig, weights: ModelWeights, options: LlamaOptions): Promise<Llama> {
    const config = padConfig(unpadded);
    const { productProfile: tuned = null } = options;
    const { vocabSize, hiddenSize, embeddingScale: scale } = config;
    const { buffers, kvCache } = options.memory ?? (await allocateMemory(gpu, unpadded, weights, options));
    const activations = arithmeticOf(options.activations ?? 'f32');
    const attentionShape = shapeOf(gpu, config, options);
    const matrices = gpu.can.matrices ? await matrixPasses(gpu, activations, options.matricesFrom) : null;
    const sources = { gpu, config, attentionShape, buffers, kvCache, weights, activations, matrices } as const;
    const [layers, embed, lastRow, step] = await Promise.all([
      Layers.create({ ...sources, tuned }, { forced: options.attention, profile: options.profile }),
      createEmbed(gpu, { vocabSize, hiddenSize, parts: weights.embedding.parts, scale }),
      createLastRow(gpu, { xSize: hiddenSize, qSize: config.nHeads * config.headDim }),
      createDecodeStep(sources, options),
    ]);
    const sampler = await Sampler.create(gpu, vocabSize, buffers, step.fused?.words ?? buffers.status);
    const groups = embed.bind(weights.embedding, buffers.tokens, buffers.x);
    const rows = lastRow.bind(buffers.x, buffers.q);
    const bound = {
      embed: { record: (list, nTokens) => embed.record(list, groups, nTokens) },
      lastRow: { record: (list) => lastRow.record(list, rows) },
    } satisfies Record<string, Operation>;
    return new Llama({ sources, step, ...bound, unpadded, sampler, options }, layers, tuned);
  }

  /** Writes the angles of every position. The factors of a GGUF are among the weights. */
  start({ ropeFactors }: ModelWeights): void {
    const { gpu, config, buffers } = this.parts.sources;
    this.parts.step.fused?.start();
    for (const [i, rope] of config.ropes.entries()) {
      const parameters = ropeFactors ? withRopeFactors(rope, ropeFactors) : rope;
      const table = ropeTable(config.headDim, parameters, this.contextLength, 0, this.contextLength);
      gpu.write(buffers.ropes[i], table as Float32Array<ArrayBuffer>);
    }
  }

  /** Writes a prompt before its passes: tokens[position + t] = ids[t]. */
  writeTokens(ids: Uint32Array<ArrayBuffer>, position: number): void {
    const { gpu, buffers } = this.parts.sources;
    gpu.write(buffers.tokens, ids, position * 4);
  }

  setSampling(params: SamplingParams): void {
    const { gpu, buffers } = this.parts.sources;
    gpu.write(buffers.sampling, new Uint8Array(packSampling(params)));
    if (params.biases.length > 0) gpu.write(buffers.biases, new Uint8Array(packBiases(params.biases)));
  }

  /**
   * Makes passes that end with a mask obey an automaton. Between requests only. `tokens` are the model's, always the
   * same.
   * @throws GpuMemoryError, GpuProgramError
   */
  async constrain(automaton: Automaton, tokens: TokenBytes): Promise<void> {
    const { sampler, sources } = this.parts;
    const { gpu, config, buffers } = sources;
    const { Constrainer } = await arrived(import('./output/constrainer'));
    sampler.constrainer ??= await Constrainer.create(gpu, config.vocabSize, buffers, tokens);
    if (!(await sampler.constrainer.obey(automaton))) return;
    for (const lists of this.lists.values()) {
      for (const key of lists.keys()) if (key.includes(' mask')) lists.delete(key); // they bind the automaton before
    }
  }

  /**
   * Makes passes report log probabilities that end so. Between requests only.
   * @throws GpuProgramError
   */
  async reportLogprobs(): Promise<void> {
    const { sampler, sources } = this.parts;
    const { LogProbabilities } = await arrived(import('./output/log_probabilities'));
    sampler.logProbabilities ??= await LogProbabilities.create(sources.gpu, sources.config.vocabSize, sources.buffers);
  }

  /**
   * Makes passes with biases or penalties. Between requests only.
   * @throws GpuProgramError
   */
  async changeLogits(): Promise<void> {
    const { sampler, sources } = this.parts;
    const { LogitChanges } = await arrived(import('./output/logit_changes'));
    sampler.changes ??= await LogitChanges.create(sources.gpu, sources.config.vocabSize, sources.buffers);
  }

  /**
   * Makes passes with the end `hidden`. Between requests only.
   * @throws GpuProgramError
   */
  async poolVectors(): Promise<void> {
    const { createPooling } = await arrived(import('./output/pooling'));
    this.pool ??= await createPooling(this.parts.sources);
  }

  /** Sets where the document stands before the token at a position, with no step in flight. */
  setPlace(position: number, place: Place): void {
    this.parts.sampler.constrainer?.setPlace(position, place);
  }

  /** The buffer of ids. A pass of nTokens at `position` leaves the next id at [position + nTokens]. */
  get tokens(): GPUBuffer {
    return this.parts.sources.buffers.tokens;
  }

  /** The ring of log probabilities. A pass that reports them leaves an entry for the next id's position. */
  get logprobs(): GPUBuffer {
    return this.parts.sources.buffers.logprobs;
  }

  get vectors() {
    return vectorsOf(this.parts.unpadded);
  }

  /** The vector that a pass with the end `hidden` leaves, or the sum to divide by the number of tokens. */
  get pooled(): { buffer: GPUBuffer; size: number; dense: readonly Float32Array[] } {
    const { unpadded, sources } = this.parts;
    return { buffer: sources.buffers.pooled, size: unpadded.hiddenSize, dense: sources.weights.dense };
  }

  /** Most tokens of one pass. */
  get passTokens(): number {
    return this.parts.sources.attentionShape.maxTokens;
  }

  get contextLength(): number {
    return this.parts.options.contextLength;
  }

  /** The sibling that runs each pass, and why. */
  get attention(): PreparedAttention {
    return this.layers.attention;
  }

  /** The sibling that a load named, or `auto`. */
  get asked(): AttentionName | 'auto' {
    return this.parts.options.attention;
  }

  /** `q8` where any linear runs on quantized activations. */
  get activations(): ActivationType {
    return Object.values(this.arithmetic).includes('q8') ? 'q8' : 'f32';
  }

  /** The same for each kind of pass. */
  get arithmetic(): Arithmetic {
    return this.layers.arithmetic;
  }

  /** Whether long passes multiply on subgroup matrices, and why; nothing where the browser grants none. */
  get matrices(): MatrixChoice | undefined {
    return this.parts.sources.matrices?.choice;
  }

  /** The kind of decode step, with its reason. */
  get step(): StepChoice {
    return this.parts.step.choice;
  }

  /** Runs steps as decided from now on. */
  decideStep(decision: StepDecision): void {
    this.parts.step.decide(decision);
  }

  /** The step both ways, for the load that decides between them. */
  get stepped() {
    const { step, sources } = this.parts;
    const { gpu, config, buffers } = sources;
    return {
      fused: step.fused,
      contextLength: this.contextLength,
      recordStep: (list: CommandList, position: number, fused: FusedLayers | null) =>
        list.addLate(this.forward(list, { position, nTokens: 1 }, 'sample', fused ?? this.layers.at(1, position + 1))),
      runPrompt: async (nTokens: number) => {
        this.writeTokens(
          Uint32Array.from({ length: nTokens }, (_, i) => i % config.vocabSize),
          0,
        );
        await this.pass(nTokens, 'none', 0).run({ position: 0, nTokens });
      },
      readX: async () => new Float32Array(await gpu.read(buffers.x, 4 * config.hiddenSize)),
    };
  }

  /** Clears a step that gave up at `position`, which runs as a plain step now. The text is for the user. */
  stepGaveUp(position: number): string | null {
    return this.parts.step.gaveUp(position);
  }

  /** Copies of keys and values beside the cache. */
  get kvParking(): KvParking {
    const { gpu, kvCache, attentionShape } = this.parts.sources;
    return new KvParking(gpu, kvCache, attentionShape, (ids) => this.writeTokens(ids, 0));
  }

  /** What a batch of conversations is made of (batch/batch.ts). A constrained answer has made the tables. */
  get batchSources(): LinearSources & { tables?: TokenTables } {
    return { ...this.parts.sources, tuned: this.tuned, tables: this.parts.sampler.constrainer?.tables };
  }

  /** The fused step that runs, if one does. */
  get fusedLaunch(): FusedLaunch | null {
    return this.parts.step.running;
  }

  /** Keys and values as bytes, for storage. */
  async kvPieces(): Promise<KvPieces> {
    const { gpu, kvCache, attentionShape } = this.parts.sources;
    const { KvPieces } = await arrived(import('./kv/kv_pieces'));
    return new KvPieces(gpu, kvCache, attentionShape, (ids) => this.writeTokens(ids, 0));
  }

  get kvCacheBytes(): number {
    return this.parts.sources.kvCache.bytes;
  }

  /** True if passes wait for the CPU in their middle. */
  get needsHost(): boolean {
    return [...this.attention.kernels].some((kernel) => kernel.name === 'cpu');
  }

  /** The logits of the newest pass, for tests. */
  async readLogits(): Promise<Float32Array> {
    const { gpu, config, buffers } = this.parts.sources;
    return new Float32Array(await gpu.read(buffers.logits, config.vocabSize * 4));
  }

  /**
   * The first operation that computes a NaN or an infinity when the ids run as a prompt, or null if none does.
   * Overwrites keys and values.
   * @throws MissingPartError
   */
  async findNotFinite(ids: Uint32Array<ArrayBuffer>): Promise<string | null> {
    const { findNotFinite } = await arrived(import('./layers/not_finite'));
    const { embed, sources } = this.parts;
    return findNotFinite({ ...sources, embed, layers: this.layers, passes: this }, ids);
  }

  /** A short run for a check in idle, and what that check overwrites. */
  get witnessed() {
    const { sources } = this.parts;
    const { attentionShape, buffers, kvCache } = sources;
    const nTokens = Math.min(WITNESS_TOKENS, attentionShape.contextLength - 1);
    return {
      nTokens,
      attentionShape,
      kvCache,
      tokens: buffers.tokens,
      runWitness: async () => {
        this.writeTokens(
          Uint32Array.from({ length: nTokens + 1 }, (_, i) => (7 * i + 1) % sources.config.vocabSize),
          0,
        );
        const { written } = kvCache.rings;
        await this.pass(nTokens, 'none', 0).run({ position: 0, nTokens });
        const runStep = () => this.pass(1, 'sample', nTokens).run({ position: nTokens, nTokens: 1 });
        await runStep();
        if (await this.parts.step.fused?.gaveUp()) {
          this.stepGaveUp(nTokens);
          await runStep(); // as a plain step
        }
        kvCache.rings.written = written; // what the witness overwrites is put back
        return this.readLogits();
      },
      checkAttention: () => this.layers.checkAttention({ ...sources, tuned: this.tuned }),
    };
  }

  /** The kernels that can be tuned, with the buffers to measure on. */
  get tunable() {
    const { config, buffers, kvCache, weights } = this.parts.sources;
    const windows = config.layers.map(({ window }) => window);
    return {
      attentionShape: this.layers.attentionShape,
      attentionBuffers: { q: buffers.q, out: buffers.attn, k: kvCache.k, v: kvCache.v, windows },
      linears: this.layers.made,
      weights,
      prefillTokens: Math.min(MANY_TOKENS, this.contextLength),
    };
  }

  /** Runs as the profiles say from now on. Between requests only; when it throws, nothing has changed. */
  async retune(profile?: AttentionProfile, tuned = this.tuned): Promise<void> {
    const next = await Layers.create({ ...this.parts.sources, tuned }, { forced: this.asked, profile });
    this.layers.destroy();
    this.layers = next;
    this.tuned = tuned;
    this.lists.clear();
  }
}

function recordLayer(list: CommandList, layer: Layer, nTokens: number): void {
  layer.qkv.record(list, nTokens); // q, k, v = rope(Wq n(x)), rope(Wk n(x)), Wv n(x); k and v into the cache
  recordBehindQkv(list, layer, nTokens);
}

function recordBehindQkv(list: CommandList, layer: Layer, nTokens: number): void {
  layer.attention.record(list, nTokens); // a = softmax(q k^T) v
  layer.o.record(list, nTokens); // x += Wo a
  layer.gateUp.record(list, nTokens); // h = act(Wg n(x)) * Wu n(x)
  layer.down.record(list, nTokens); // x += Wd h
}

async function matrixPasses(gpu: Gpu, arithmetic: Arithmetic, from?: number): Promise<LongPasses> {
  const { MatrixPasses } = await arrived(import('./layers/matrices'));
  return MatrixPasses.create(gpu, arithmetic, from);
}
