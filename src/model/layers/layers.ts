// The layers of a model, ready to record: the linears of each, and the attention between them, for every attention
// kernel in use. All choices are made here, while the model loads; recording a layer only records.

import type { AttentionKernel, AttentionShape } from '../../attention/attention';
import { type PreparedAttention, type PrepareOptions, prepareAttention } from '../../attention/prepare';
import type { LinearPass } from '../../kernels/linear/create_linear';
import type { Arithmetic } from './arithmetic';
import { LinearBuilder, type LinearSources, type Linears, type Operation } from './linears';

/** The five operations of a layer, in their order. */
export interface Layer extends Linears {
  attention: Operation;
}

/** Layers for one token and for many. */
type BoundLayers = Readonly<Record<LinearPass, readonly Layer[]>>;

export class Layers {
  private constructor(
    /** The siblings in use, and why. */
    readonly attention: PreparedAttention,
    readonly attentionShape: AttentionShape,
    private readonly bound: ReadonlyMap<AttentionKernel, BoundLayers>,
    /** logits = Wh n(x) for the last token of a pass, and the maxima of the logits. */
    readonly head: Operation,
    private readonly linears: LinearBuilder,
  ) {}

  /** Compiles the linears while attention is chosen and checked, then binds both. */
  static async create(sources: LinearSources, options: Omit<PrepareOptions, 'buffers' | 'inBytes'>): Promise<Layers> {
    const { gpu, weights, buffers, kvCache } = sources;
    const linears = new LinearBuilder(sources);
    const compiling = Promise.all([
      linears.head(weights.head),
      ...weights.layers.map((_, i) => Promise.all([linears.decode(i), linears.prefill(i)])),
    ]);
    compiling.catch(ignore); // awaited below; attention may fail first
    const partsMergeInO = weights.layers.every(({ o }) => linears.mergingInput(o));
    const shape = { ...sources.attentionShape, partsMergeInO };
    // The check may use the caches of the first layer: between requests nothing in them is needed.
    const inBytes = linears.arithmetic.prefill === 'q8';
    const prepared = await prepareAttention(gpu, shape, {
      ...options,
      inBytes,
      buffers: checkedBuffers(buffers, kvCache),
    });
    try {
      const [head, ...passes] = await compiling;
      const bound = [...prepared.kernels].map(
        async (kernel) => [kernel, await bindLayers(sources, linears, passes, kernel)] as const,
      );
      return new Layers(prepared, shape, new Map(await Promise.all(bound)), head, linears);
    } catch (error) {
      prepared.destroy();
      throw error;
    }
  }

  /** The layers of a pass of nTokens whose last token sees kvLen keys. */
  at(nTokens: number, kvLen: number): readonly Layer[] {
    const { decode, prefill } = this.bound.get(this.attention.at(nTokens, kvLen).kernel) as BoundLayers;
    return nTokens > 1 ? prefill : decode;
  }

  /** The fault of an attention kernel in use, or null. Overwrites the first positions of the first layer's caches. */
  checkAttention({ gpu, buffers, kvCache }: LinearSources): Promise<string | null> {
    return this.attention.check(gpu, this.attentionShape, checkedBuffers(buffers, kvCache));
  }

  /** `q8` for a pass in which any linear runs on quantized activations. */
  get arithmetic(): Arithmetic {
    return this.linears.arithmetic;
  }

  /** Every linear that a tuner may try with other parameters. */
  get made(): LinearBuilder['made'] {
    return this.linears.made;
  }

  /** Frees the scratch memory of attention. */
  destroy(): void {
    this.attention.destroy();
  }
}

function checkedBuffers({ q, attn }: LinearSources['buffers'], { k, v, rooms }: LinearSources['kvCache']) {
  return { q, k: k[0], v: v[0], out: attn, room: rooms[0] };
}

function ignore(): void {}

/**
 * All layers with one attention kernel. In decode the output projection merges the splits of attention where it can.
 */
async function bindLayers(
  { kvCache: { k, v }, buffers: { q, attn }, config, weights }: LinearSources,
  linears: LinearBuilder,
  passes: readonly (readonly [decode: Linears, prefill: Linears])[],
  kernel: AttentionKernel,
): Promise<BoundLayers> {
  const layers = passes.map(async ([decode, prefill], i) => {
    const attention = kernel.bind(q, k[i], v[i], attn, config.layers[i].window);
    const { recordParts: record } = attention;
    const o = record && kernel.parts ? await linears.mergingO(weights.layers[i].o, kernel.parts) : null;
    const merged = record && o ? { attention: { record }, o } : {};
    return { decode: { ...decode, attention, ...merged }, prefill: { ...prefill, attention } };
  });
  const bound = await Promise.all(layers);
  return { decode: bound.map(({ decode }) => decode), prefill: bound.map(({ prefill }) => prefill) };
}
