import type { AttentionKernel, AttentionName, AttentionShape, BoundAttention } from '../attention/attention';
import { type PreparedAttention, prepareAttention } from '../attention/prepare';
import type { AttentionProfile } from '../attention/profile';
import { ropeTable, withRopeFactors } from '../cpu/rope';
import type { Gpu } from '../gpu/device';
import { CommandList } from '../gpu/kernel';
import { createEmbed, type Embed } from '../kernels/elementwise/embed';
import type { ProductProfile } from '../kernels/linear/product_profile';
import { createMaxima, type Maxima } from '../kernels/sampling/maxima';
import { createRepetitionPenalty, type RepetitionPenalty } from '../kernels/sampling/repetition_penalty';
import { createSample, type Sample } from '../kernels/sampling/sample';
import { packSampling, type SamplingParams } from '../sampling/sampling';
import { type TuneOptions, tuneAttention } from '../tune/attention';
import { countCandidates, namedProducts, type TuneProductsOptions, tuneProducts } from '../tune/products';
import { type Buffers, createBuffers, PREFILL_CHUNK } from './buffers';
import type { ModelConfig } from './config/config';
import { createKvCache, type KvCache } from './kv_cache';
import { type PaddedConfig, padConfig } from './padding';
import { type ActivationType, type LayerPlace, type LayerProducts, ProductFactory, type Recordable } from './products';
import { isInTurns, type ModelWeights } from './weights';

export { ATTENTION_NAMES, type AttentionName } from '../attention/attention';
export type { AttentionProfile, TuneResult } from '../attention/profile';
export { PREFILL_CHUNK } from './buffers';

/** Operations of one submit, or of one layer where that has more: a GPU of a TFLOP/s takes 100 ms for them. */
const SUBMIT_OPERATIONS = 1e11;

export interface LlamaOptions {
  contextLength: number;
  kvType: 'f16' | 'f32';
  /** `auto` or the name of a sibling for prefill and decode alike. */
  attention: AttentionName | 'auto';
  /** What a tuner measured on this GPU; obeyed by `auto`. */
  profile?: AttentionProfile;
  /** The same of matrix products. */
  productProfile?: ProductProfile;
  /** `q8` and `auto`: activations in signed bytes wherever a matrix has integers. Default f32, which is exact. */
  activations?: 'auto' | ActivationType;
}

/** A layer ready to record, for one token and for many. */
interface Layer {
  decode: LayerProducts;
  prefill: LayerProducts;
}

/** The products of all layers, ready to record, and who made them. */
interface Products {
  factory: ProductFactory;
  layers: Layer[];
  head: Recordable;
}

/** What attention runs on: the siblings in use, and each bound to the buffers of every layer. */
interface Attention {
  prepared: PreparedAttention;
  bound: Map<AttentionKernel, BoundLayer[]>;
}

/** The attention of a layer, and the output projection that merges its parts, where there is one. */
interface BoundLayer {
  attention: BoundAttention;
  mergingO: Recordable | null;
}

/** What a pass ends with: nothing (more of the prompt follows), or the next token. */
export type PassEnd = 'none' | 'sample' | 'penalize_and_sample';

/** The forward pass on the GPU: token ids in a buffer to the next id in the same buffer, with no CPU in between. */
export class Llama {
  private readonly lists = new Map<BoundLayer[], Map<string, CommandList>>();

  private constructor(
    private readonly gpu: Gpu,
    private readonly config: PaddedConfig,
    readonly contextLength: number,
    private readonly buffers: Buffers,
    private readonly kvCache: KvCache,
    private readonly embed: { kernel: Embed; groups: readonly GPUBindGroup[] },
    private readonly weights: ModelWeights,
    private products: Products,
    private readonly penalty: { kernel: RepetitionPenalty; group: GPUBindGroup },
    private readonly maxima: { kernel: Maxima; group: GPUBindGroup },
    private readonly sample: { kernel: Sample; group: GPUBindGroup },
    readonly attentionShape: AttentionShape,
    private current: Attention,
    /** The sibling that was asked for by name, or `auto`. */
    readonly asked: AttentionName | 'auto',
    /** What the products run on: q8 where any of them does. */
    readonly activations: ActivationType,
    readonly kvCacheBytes: number,
  ) {}

  /**
   * Compiles every pipeline at once and allocates everything that a run will touch. The weights may still be on their
   * way; `start` follows when they are there.
   */
  static async create(gpu: Gpu, unpadded: ModelConfig, weights: ModelWeights, options: LlamaOptions): Promise<Llama> {
    const config = padConfig(unpadded);
    const { contextLength, kvType, attention: asked, profile, productProfile, activations = 'f32' } = options;
    const { nHeads, nKvHeads, headDim, vocabSize, hiddenSize } = config;
    const heads: AttentionShape = {
      nHeads,
      nKvHeads,
      headDim,
      contextLength,
      kvType,
      maxTokens: PREFILL_CHUNK,
      scale: config.attentionScale,
      softcap: config.attentionSoftcap,
      windowed: config.layers.some(({ window }) => window !== null),
    };
    const { buffers, kvCache } = await gpu.guardMemory('The KV cache and the activations', () => ({
      kvCache: createKvCache(gpu, config, contextLength, kvType),
      buffers: createBuffers(gpu, config, contextLength, !weights.layers.every(({ gateUp }) => isInTurns(gateUp))),
    }));
    const inputs = activations === 'f32' ? 'f32' : 'q8';
    const factory = new ProductFactory(gpu, config, heads, buffers, inputs, productProfile);
    const shape = { ...heads, partsMergeInO: weights.layers.every(({ o }) => factory.canMergeIn(o)) };
    const { x, logits, maxima, tokens, seen, sampling } = buffers;
    const [prepared, embed, penalty, maximum, sample, products] = await Promise.all([
      prepareAttention(gpu, shape, { forced: asked, profile, buffers: checkBuffers(buffers, kvCache) }),
      createEmbed(gpu, { vocabSize, hiddenSize, parts: weights.embedding.parts, scale: config.embeddingScale }),
      createRepetitionPenalty(gpu, { vocabSize }),
      createMaxima(gpu, { vocabSize }),
      createSample(gpu, { vocabSize }),
      bindProducts(factory, weights, placesOf(config, kvCache)),
    ]);
    return new Llama(
      gpu,
      config,
      contextLength,
      buffers,
      kvCache,
      { kernel: embed, groups: embed.bind(weights.embedding, tokens, x) },
      weights,
      products,
      { kernel: penalty, group: penalty.bind(logits, sampling, tokens, seen) },
      { kernel: maximum, group: maximum.bind(logits, maxima) },
      { kernel: sample, group: sample.bind(logits, maxima, sampling, tokens) },
      shape,
      await bindAttention(prepared, buffers, kvCache, weights, factory, config),
      asked,
      factory.usesQ8 ? 'q8' : 'f32',
      kvCache.bytes,
    );
  }

  /** The angles of every position; a GGUF's factors are among the weights. */
  start(weights: ModelWeights): void {
    const { headDim, ropes } = this.config;
    for (const [i, rope] of ropes.entries()) {
      const parameters = weights.ropeFactors ? withRopeFactors(rope, weights.ropeFactors) : rope;
      const table = ropeTable(headDim, parameters, this.contextLength, 0, this.contextLength);
      this.gpu.write(this.buffers.ropes[i], table as Float32Array<ArrayBuffer>);
    }
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
    const windows = this.config.layers.map(({ window }) => window);
    const buffers = { q, out, k: this.kvCache.k, v: this.kvCache.v, windows };
    return tuneAttention(this.gpu, this.attentionShape, buffers, options);
  }

  /** How many candidates `tuneProducts` will try. */
  countProductCandidates(): number {
    return countCandidates(this.gpu, this.attentionShape, this.tunableProducts(), this.prefillTokens);
  }

  /** Measures products on the buffers of this model, which it overwrites. */
  tuneProducts(options: TuneProductsOptions): ReturnType<typeof tuneProducts> {
    const { gpu, attentionShape, prefillTokens } = this;
    return tuneProducts(gpu, attentionShape, this.tunableProducts(), prefillTokens, options);
  }

  private tunableProducts() {
    return namedProducts(this.products.factory.made, this.weights);
  }

  private get prefillTokens(): number {
    return Math.min(PREFILL_CHUNK, this.contextLength);
  }

  /** From now on as the profiles say. Between requests only; when it throws, nothing has changed. */
  async retune(profile: AttentionProfile, productProfile?: ProductProfile): Promise<void> {
    const { gpu, config, attentionShape, asked: forced, buffers, kvCache, weights } = this;
    const products = await bindProducts(
      this.products.factory.retuned(productProfile),
      weights,
      placesOf(config, kvCache),
    );
    const options = { forced, profile, buffers: checkBuffers(buffers, kvCache) };
    const prepared = await prepareAttention(gpu, attentionShape, options);
    const next = await bindAttention(prepared, buffers, kvCache, weights, products.factory, config);
    this.current.prepared.destroy();
    this.current = next;
    this.products = products;
    this.lists.clear();
  }

  /** The dispatches of a pass of nTokens at `position`, made once per kind of pass and replayed. */
  pass(nTokens: number, end: PassEnd, position: number): CommandList {
    const { prepared, bound } = this.current;
    const attention = bound.get(prepared.at(nTokens, position + nTokens).kernel) as BoundLayer[];
    const lists = this.lists.get(attention) ?? new Map<string, CommandList>();
    this.lists.set(attention, lists);
    const key = `${nTokens} ${end}`;
    const known = lists.get(key);
    if (known) return known;
    const list = new CommandList(this.gpu);
    const every = nTokens > 1 ? this.layersPerSubmit(nTokens) : Number.POSITIVE_INFINITY;
    this.forward(
      () => list,
      nTokens,
      end,
      attention,
      (layer) => {
        if ((layer + 1) % every === 0) list.cut();
      },
    );
    // Decode and whole chunks come again and again; what is left of a prompt seldom does.
    if (nTokens === 1 || nTokens === PREFILL_CHUNK) lists.set(key, list);
    return list;
  }

  /** The dispatches of such a pass by their kind, over all layers: for profiling. */
  kinds(nTokens: number, end: PassEnd, position: number): Map<string, CommandList> {
    const { prepared, bound } = this.current;
    const attention = bound.get(prepared.at(nTokens, position + nTokens).kernel) as BoundLayer[];
    const lists = new Map<string, CommandList>();
    const listOf = (kind: string) => {
      const list = lists.get(kind) ?? new CommandList(this.gpu);
      lists.set(kind, list);
      return list;
    };
    this.forward(listOf, nTokens, end, attention);
    return lists;
  }

  private layersPerSubmit(nTokens: number): number {
    const { hiddenSize, intermediateSize, nHeads, nKvHeads, headDim } = this.config;
    const weights = hiddenSize * (2 * (nHeads + nKvHeads) * headDim + 3 * intermediateSize);
    return Math.max(1, Math.floor(SUBMIT_OPERATIONS / (2 * nTokens * weights)));
  }

  private forward(
    list: (kind: string) => CommandList,
    nTokens: number,
    end: PassEnd,
    attention: readonly BoundLayer[],
    onLayer: (layer: number) => void = () => {},
  ): void {
    this.embed.kernel.record(list('embed'), this.embed.groups, nTokens);
    for (const [i, layer] of this.products.layers.entries()) {
      const { qkv, o, gateUp, down } = nTokens > 1 ? layer.prefill : layer.decode;
      qkv.record(list('qkv'), nTokens); // norm, Wq Wk Wv, norms of q and k, RoPE, K and V written in place
      const { attention: attend, mergingO } = attention[i];
      if (nTokens === 1 && mergingO) {
        attend.recordParts?.(list('attention'), nTokens);
        mergingO.record(list('o'), nTokens); // x += Wo attn, the parts of attn merged
      } else {
        attend.record(list('attention'), nTokens);
        o.record(list('o'), nTokens); // x += Wo attn
      }
      gateUp.record(list('gate_up'), nTokens); // norm, h = activation(gate) * up
      down.record(list('down'), nTokens); // x += Wdown h
      onLayer(i);
    }
    if (end === 'none') return;
    this.products.head.record(list('head'), nTokens); // norm and logits of the last token
    if (end === 'penalize_and_sample') {
      this.penalty.kernel.record(list('penalty'), this.penalty.group);
      this.maxima.kernel.record(list('maxima'), this.maxima.group);
    }
    this.sample.kernel.record(list('sample'), this.sample.group);
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

function placesOf({ layers }: ModelConfig, { k, v }: KvCache): LayerPlace[] {
  return layers.map(({ rope }, i) => ({ k: k[i], v: v[i], rope }));
}

async function bindProducts(
  factory: ProductFactory,
  weights: ModelWeights,
  places: readonly LayerPlace[],
): Promise<Products> {
  const layers = weights.layers.map(async (layer, i): Promise<Layer> => {
    const [decode, prefill] = await Promise.all([factory.decode(layer, places[i]), factory.prefill(layer, places[i])]);
    return { decode, prefill };
  });
  const [head, ...bound] = await Promise.all([factory.head(weights.head), ...layers]);
  return { factory, layers: bound, head };
}

async function bindAttention(
  prepared: PreparedAttention,
  { q, attn }: Buffers,
  { k, v }: KvCache,
  { layers }: ModelWeights,
  products: ProductFactory,
  config: ModelConfig,
): Promise<Attention> {
  const layersOf = (kernel: AttentionKernel): Promise<BoundLayer[]> =>
    Promise.all(
      k.map(async (keys, i) => ({
        attention: kernel.bind(q, keys, v[i], attn, config.layers[i].window),
        mergingO: kernel.parts ? await products.mergingO(layers[i], kernel.parts) : null,
      })),
    );
  const bound = [...prepared.kernels].map(async (kernel) => [kernel, await layersOf(kernel)] as const);
  return { prepared, bound: new Map(await Promise.all(bound)) };
}
