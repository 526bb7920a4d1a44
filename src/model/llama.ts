import type { AttentionKernel, AttentionName, AttentionShape, BoundAttention } from '../attention/attention';
import { type PreparedAttention, prepareAttention } from '../attention/prepare';
import type { AttentionProfile } from '../attention/profile';
import { type TuneOptions, tuneAttention } from '../attention/tune';
import { ropeTable } from '../cpu/rope';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../gpu/device';
import { CommandList } from '../gpu/kernel';
import { createEmbed, type Embed } from '../kernels/embed';
import { createGateUp } from '../kernels/gate_up';
import { createHead } from '../kernels/head';
import type { Linear, LinearShape } from '../kernels/linear';
import { createQkv } from '../kernels/qkv';
import { createRepetitionPenalty, type RepetitionPenalty, seenBytes } from '../kernels/repetition_penalty';
import { createResidual } from '../kernels/residual';
import { createSample, type Sample } from '../kernels/sample';
import type { WeightFormat, WeightMatrix } from '../kernels/weight_format';
import { packSampling, SAMPLING_BYTES, type SamplingParams } from '../sampling/sampling';
import type { ModelConfig } from './config';
import { createKvCache, type KvCache } from './kv_cache';
import type { LayerWeights, ModelWeights, Product } from './weights';

export { ATTENTION_NAMES, type AttentionName } from '../attention/attention';
export type { AttentionProfile, TuneResult } from '../attention/profile';
export { attentionShaderHash } from '../attention/shader_hash';

/** Tokens of one prefill pass: enough rows to fill a GPU, few enough that no submit takes 100 ms. */
export const PREFILL_CHUNK = 256;

export interface LlamaOptions {
  contextLength: number;
  kvType: 'f16' | 'f32';
  /** `auto` or the name of a sibling for prefill and decode alike. */
  attention: AttentionName | 'auto';
  /** What a tuner measured on this GPU; obeyed by `auto`. */
  profile?: AttentionProfile;
}

/** A layer ready to record: each kernel with its buffers bound. */
interface Layer {
  qkv: Bound;
  o: Bound;
  gateUp: Bound;
  down: Bound;
}

interface Bound {
  kernel: Linear;
  groups: readonly GPUBindGroup[];
}

/** What attention runs on: the siblings in use, and each bound to the buffers of every layer. */
interface Attention {
  prepared: PreparedAttention;
  bound: Map<AttentionKernel, BoundAttention[]>;
}

/** What a pass ends with: nothing (more of the prompt follows), or the next token. */
export type PassEnd = 'none' | 'sample' | 'penalise_and_sample';

/** The activations of one pass and the state that outlives it. Separate buffers, since barriers are per buffer. */
interface Buffers {
  x: GPUBuffer; // (PREFILL_CHUNK, hidden_size)
  q: GPUBuffer; // (PREFILL_CHUNK, n_heads, head_dim)
  attn: GPUBuffer; // (PREFILL_CHUNK, n_heads, head_dim)
  h: GPUBuffer; // (PREFILL_CHUNK, intermediate_size)
  logits: GPUBuffer; // (vocab_size)
  tokens: GPUBuffer; // (context_length + 1), the id at each position
  seen: GPUBuffer; // (vocab_size) bits
  sampling: GPUBuffer; // struct Sampling
  rope: GPUBuffer; // (context_length, head_dim / 2, 2)
}

/** The forward pass on the GPU: token ids in a buffer to the next id in the same buffer, with no CPU in between. */
export class Llama {
  private readonly lists = new Map<BoundAttention[], Map<string, CommandList>>();

  private constructor(
    private readonly gpu: Gpu,
    private readonly config: ModelConfig,
    readonly contextLength: number,
    private readonly buffers: Buffers,
    private readonly kvCache: KvCache,
    private readonly embed: { kernel: Embed; groups: readonly GPUBindGroup[] },
    private readonly layers: Layer[],
    private readonly head: Bound,
    private readonly penalty: { kernel: RepetitionPenalty; group: GPUBindGroup },
    private readonly sample: { kernel: Sample; group: GPUBindGroup },
    readonly attentionShape: AttentionShape,
    private current: Attention,
    /** The sibling that was asked for by name, or `auto`. */
    readonly asked: AttentionName | 'auto',
    readonly bytes: { kvCache: number; activations: number },
  ) {}

  /**
   * Compiles every pipeline at once and allocates everything that a run will touch. The weights may still be on their
   * way; `start` follows when they are there.
   */
  static async create(gpu: Gpu, config: ModelConfig, weights: ModelWeights, options: LlamaOptions): Promise<Llama> {
    const { contextLength, kvType, attention: asked, profile } = options;
    const { nHeads, nKvHeads, headDim } = config;
    const shape = { nHeads, nKvHeads, headDim, contextLength, kvType, maxTokens: PREFILL_CHUNK };
    const before = gpu.allocatedBytes;
    const { buffers, kvCache } = await gpu.guardMemory('The KV cache and the activations', () => ({
      kvCache: createKvCache(gpu, config, contextLength, kvType),
      buffers: createBuffers(gpu, config, contextLength),
    }));
    const activations = gpu.allocatedBytes - before - kvCache.bytes;
    const products = new ProductKernels(gpu, config, shape);
    const { vocabSize, hiddenSize } = config;
    const { x, q, attn, h, logits, tokens, seen, sampling, rope } = buffers;
    const [prepared, embed, penalty, sample, head, layerKernels] = await Promise.all([
      prepareAttention(gpu, shape, { forced: asked, profile, buffers: checkBuffers(buffers, kvCache) }),
      createEmbed(gpu, { vocabSize, hiddenSize, ...storage(weights.embedding) }),
      createRepetitionPenalty(gpu, { vocabSize }),
      createSample(gpu, { vocabSize }),
      createHead(gpu, products.shape(weights.head, true)),
      Promise.all(weights.layers.map((layer) => products.ofLayer(layer))),
    ]);

    const scratch = [...prepared.kernels].reduce((sum, kernel) => sum + kernel.scratchBytes, 0);

    const bind = (kernel: Linear, { matrix, params }: Product, ...rest: GPUBuffer[]): Bound => ({
      kernel,
      groups: kernel.bind(matrix, rest[0], params, ...rest.slice(1)),
    });
    const layers = weights.layers.map((layer, i): Layer => {
      const kernel = layerKernels[i];
      const [k, v] = [kvCache.k[i], kvCache.v[i]];
      return {
        qkv: bind(kernel.qkv, layer.qkv, x, rope, q, k, v),
        o: bind(kernel.o, layer.o, attn, x),
        gateUp: bind(kernel.gateUp, layer.gateUp, x, h),
        down: bind(kernel.down, layer.down, h, x),
      };
    });
    return new Llama(
      gpu,
      config,
      contextLength,
      buffers,
      kvCache,
      { kernel: embed, groups: embed.bind(weights.embedding, tokens, x) },
      layers,
      bind(head, weights.head, x, logits),
      { kernel: penalty, group: penalty.bind(logits, sampling, tokens, seen) },
      { kernel: sample, group: sample.bind(logits, sampling, tokens) },
      shape,
      bindAttention(prepared, buffers, kvCache),
      asked,
      { kvCache: kvCache.bytes, activations: activations + scratch },
    );
  }

  /** The angles of every position; a GGUF's factors are among the weights. */
  start(weights: ModelWeights): void {
    const rope = { ...this.config.rope, factors: weights.ropeFactors };
    const table = ropeTable(this.config.headDim, rope, this.contextLength);
    this.gpu.write(this.buffers.rope, table as Float32Array<ArrayBuffer>);
  }

  /** tokens[position + t] becomes ids[t]: the prompt, before its passes. */
  writeTokens(ids: Uint32Array<ArrayBuffer>, position: number): void {
    this.gpu.write(this.buffers.tokens, ids, position * 4);
  }

  setSampling(params: SamplingParams): void {
    this.gpu.write(this.buffers.sampling, new Uint8Array(packSampling(params)));
  }

  /** The buffer of ids, where a pass of nTokens at `position` leaves the next one at [position + nTokens]. */
  get tokens(): GPUBuffer {
    return this.buffers.tokens;
  }

  /** Which sibling runs which pass, and why. */
  get attention(): PreparedAttention {
    return this.current.prepared;
  }

  /** Whether a pass may wait for the CPU in its middle. */
  get needsHost(): boolean {
    return [...this.attention.kernels].some((kernel) => kernel.name === 'cpu');
  }

  /** Measures attention on the caches of this model, which it overwrites. */
  tune(options: TuneOptions): ReturnType<typeof tuneAttention> {
    const { q, attn: out } = this.buffers;
    return tuneAttention(this.gpu, this.attentionShape, { q, out, k: this.kvCache.k, v: this.kvCache.v }, options);
  }

  /** From now on as the profile says. Between requests only; when it throws, nothing has changed. */
  async retune(profile: AttentionProfile): Promise<void> {
    const { gpu, attentionShape, asked: forced, buffers, kvCache } = this;
    const options = { forced, profile, buffers: checkBuffers(buffers, kvCache) };
    const prepared = await prepareAttention(gpu, attentionShape, options);
    this.current.prepared.destroy();
    this.current = bindAttention(prepared, buffers, kvCache);
    this.lists.clear();
  }

  /** The dispatches of a pass of nTokens at `position`, made once per kind of pass and replayed. */
  pass(nTokens: number, end: PassEnd, position: number): CommandList {
    const { prepared, bound } = this.current;
    const attention = bound.get(prepared.at(nTokens, position + nTokens).kernel) as BoundAttention[];
    const lists = this.lists.get(attention) ?? new Map<string, CommandList>();
    this.lists.set(attention, lists);
    const key = `${nTokens} ${end}`;
    const known = lists.get(key);
    if (known) return known;
    const list = this.forward(nTokens, end, attention);
    // Decode and whole chunks come again and again; what is left of a prompt seldom does.
    if (nTokens === 1 || nTokens === PREFILL_CHUNK) lists.set(key, list);
    return list;
  }

  private forward(nTokens: number, end: PassEnd, attention: readonly BoundAttention[]): CommandList {
    const list = new CommandList(this.gpu);
    this.embed.kernel.record(list, this.embed.groups, nTokens);
    for (const [i, layer] of this.layers.entries()) {
      layer.qkv.kernel.record(list, layer.qkv.groups, nTokens); // norm, Wq Wk Wv, RoPE, K and V written in place
      attention[i].record(list, nTokens);
      layer.o.kernel.record(list, layer.o.groups, nTokens); // x += Wo attn
      layer.gateUp.kernel.record(list, layer.gateUp.groups, nTokens); // norm, h = silu(gate) * up
      layer.down.kernel.record(list, layer.down.groups, nTokens); // x += Wdown h
    }
    if (end === 'none') return list;
    this.head.kernel.record(list, this.head.groups, nTokens); // norm and logits of the last token
    if (end === 'penalise_and_sample') this.penalty.kernel.record(list, this.penalty.group);
    this.sample.kernel.record(list, this.sample.group);
    return list;
  }

  /** The logits of the newest pass, for tests. */
  async readLogits(): Promise<Float32Array> {
    return new Float32Array(await this.gpu.read(this.buffers.logits, this.config.vocabSize * 4));
  }
}

/** The first layer's: attention is checked while no cache is in use yet. */
function checkBuffers({ q, attn }: Buffers, { k, v }: KvCache) {
  return { q, k: k[0], v: v[0], out: attn };
}

function bindAttention(prepared: PreparedAttention, { q, attn }: Buffers, { k, v }: KvCache): Attention {
  const layers = (kernel: AttentionKernel) => k.map((keys, i) => kernel.bind(q, keys, v[i], attn));
  return { prepared, bound: new Map([...prepared.kernels].map((kernel) => [kernel, layers(kernel)])) };
}

function createBuffers(gpu: Gpu, config: ModelConfig, contextLength: number): Buffers {
  const storage = (label: string, elements: number) =>
    gpu.createBuffer(label, elements * 4, GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC);
  const qSize = config.nHeads * config.headDim;
  return {
    x: storage('x', PREFILL_CHUNK * config.hiddenSize),
    q: storage('q', PREFILL_CHUNK * qSize),
    attn: storage('attn', PREFILL_CHUNK * qSize),
    h: storage('h', PREFILL_CHUNK * config.intermediateSize),
    logits: storage('logits', config.vocabSize),
    tokens: storage('tokens', contextLength + 1),
    seen: storage('seen', seenBytes(config.vocabSize) / 4),
    sampling: gpu.createBuffer('sampling', SAMPLING_BYTES, GPU_UNIFORM | GPU_COPY_DST),
    rope: storage('rope', contextLength * config.headDim),
  };
}

/** How a matrix lies in memory, as far as kernels are compiled for it. */
function storage({ format, parts }: WeightMatrix): { format: WeightFormat; partRows: number } {
  return { format, partRows: parts[0].rows };
}

/** The products of a layer, compiled once for every layer that is stored alike. */
class ProductKernels {
  private readonly known = new Map<string, Promise<Linear>>();

  constructor(
    private readonly gpu: Gpu,
    private readonly config: ModelConfig,
    private readonly attention: Pick<
      Parameters<typeof createQkv>[1],
      'nHeads' | 'nKvHeads' | 'headDim' | 'contextLength' | 'kvType'
    >,
  ) {}

  shape({ matrix, biased }: Product, normed: boolean): LinearShape {
    const { rows, cols } = matrix;
    return { rows, cols, ...storage(matrix), bias: biased, normEps: normed ? this.config.rmsNormEps : null };
  }

  async ofLayer(layer: LayerWeights): Promise<Record<keyof LayerWeights, Linear>> {
    const { gpu } = this;
    const [qkv, o, gateUp, down] = await Promise.all([
      this.once('qkv', this.shape(layer.qkv, true), (shape) => createQkv(gpu, { ...shape, ...this.attention })),
      this.once('residual', this.shape(layer.o, false), (shape) => createResidual(gpu, shape)),
      this.once('gate_up', this.shape(layer.gateUp, true), (shape) => createGateUp(gpu, shape)),
      this.once('residual', this.shape(layer.down, false), (shape) => createResidual(gpu, shape)),
    ]);
    return { qkv, o, gateUp, down };
  }

  private once(name: string, shape: LinearShape, create: (shape: LinearShape) => Promise<Linear>): Promise<Linear> {
    const key = `${name} ${JSON.stringify(shape)}`;
    const kernel = this.known.get(key) ?? create(shape);
    this.known.set(key, kernel);
    return kernel;
  }
}
