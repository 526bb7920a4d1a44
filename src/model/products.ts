// The products of a layer and the head, with all that happens to their rows: which dispatches those are, the config decides once.

import type { AttentionParts } from '../attention/attention';
import type { Gpu } from '../gpu/device';
import { createGatedUnit } from '../kernels/elementwise/gated_unit';
import { createNormRope } from '../kernels/elementwise/norm_rope';
import { createPostNorm } from '../kernels/elementwise/post_norm';
import { gateUpEpilogue } from '../kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../kernels/linear/epilogues/gate_up_q8';
import { headEpilogue } from '../kernels/linear/epilogues/head';
import { type QkvShape, qkvEpilogue } from '../kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../kernels/linear/epilogues/residual';
import { STORE } from '../kernels/linear/epilogues/store';
import type { ProductProfile } from '../kernels/linear/product_profile';
import { type ActivationType, inOrder, Multiplier, type Multiply, type Recordable } from './multiplier';
import type { PaddedConfig } from './padding';
import { isInTurns, type LayerWeights, type Product } from './weights';

export type { ActivationType, Recordable };

/** Parts of attention that the output projection merges; more of them are merged by a dispatch of their own. */
const MOST_MERGED_PARTS = 16;

/** The products of a layer, for a pass of one token or for one of many. */
export type LayerProducts = Record<keyof LayerWeights, Recordable>;

/** What the products of one layer alone read and write. */
export interface LayerPlace {
  k: GPUBuffer;
  v: GPUBuffer;
  /** Which table of angles turns q and k; null: none does. */
  rope: number | null;
}

/** Activations that products read and write. */
export interface ProductBuffers {
  x: GPUBuffer;
  q: GPUBuffer;
  attn: GPUBuffer;
  h: GPUBuffer;
  /** A product that is to be normalized, or gate and up. */
  y: GPUBuffer;
  /** Quantized activations of the product that is under way. */
  xq: GPUBuffer;
  logits: GPUBuffer;
  maxima: GPUBuffer;
  ropes: readonly GPUBuffer[];
}

/** Builds the products of a model, in f32 or, where a matrix has integers, on quantized activations. */
export class ProductFactory {
  private readonly multiplier: Multiplier;

  constructor(
    private readonly gpu: Gpu,
    private readonly config: PaddedConfig,
    private readonly qkvShape: QkvShape,
    private readonly buffers: ProductBuffers,
    private readonly activations: ActivationType,
    private readonly tuned: ProductProfile | null = null,
  ) {
    this.multiplier = new Multiplier(gpu, config.rmsNormEps, buffers.xq, activations, tuned);
  }

  /** One that makes the same products by another profile. */
  retuned(profile = this.tuned): ProductFactory {
    return new ProductFactory(this.gpu, this.config, this.qkvShape, this.buffers, this.activations, profile);
  }

  get usesQ8(): boolean {
    return this.multiplier.usesQ8;
  }

  get made(): Multiplier['made'] {
    return this.multiplier.made;
  }

  /** For one token. */
  async decode(layer: LayerWeights, place: LayerPlace): Promise<LayerProducts> {
    const { multiplier } = this;
    const { x, attn, h, xq } = this.buffers;
    const matvec: Multiply = (...product) => multiplier.matvec(...product);
    const quantized: Multiply = (product, epilogue, ...buffers) =>
      multiplier.vector(product, epilogue, 'q8', ...buffers);
    const gateUpQ8 = gateUpQ8Epilogue(this.config.activation);
    // Whoever writes h quantizes it, if that one itself is made of integers.
    const hQ8 =
      isInTurns(layer.gateUp) &&
      multiplier.isQ8(layer.down, 'q8') &&
      multiplier.isQ8(layer.gateUp, 'to_q8', gateUpQ8.finishRows);
    const [qkv, o, gateUp, down] = await Promise.all([
      this.qkv(matvec, layer.qkv, place),
      this.add(matvec, layer.o, attn),
      hQ8 ? matvec(layer.gateUp, gateUpQ8, x, xq) : this.gateUp(matvec, layer.gateUp),
      hQ8 ? this.add(quantized, layer.down, xq) : this.add(matvec, layer.down, h),
    ]);
    return { qkv, o, gateUp, down };
  }

  /** For many tokens. */
  async prefill(layer: LayerWeights, place: LayerPlace): Promise<LayerProducts> {
    const { attn, h } = this.buffers;
    const matmul: Multiply = (...product) => this.multiplier.matmul(...product);
    const [qkv, o, gateUp, down] = await Promise.all([
      this.qkv(matmul, layer.qkv, place),
      this.add(matmul, layer.o, attn),
      this.gateUp(matmul, layer.gateUp),
      this.add(matmul, layer.down, h),
    ]);
    return { qkv, o, gateUp, down };
  }

  /**
   * The output projection of one token that merges the parts of attention on its way; null where it cannot, or should not:
   * each of its workgroups reads all parts, so they must be few.
   */
  async mergingO({ o }: LayerWeights, parts: AttentionParts): Promise<Recordable | null> {
    const { multiplier, qkvShape } = this;
    if (parts.count > MOST_MERGED_PARTS || !this.canMergeIn(o)) return null;
    const merging: Multiply = (product, epilogue, from, to) => {
      const constants = { ...epilogue.constants, HEAD_DIM: qkvShape.headDim };
      return multiplier.vector(product, { ...epilogue, constants }, 'parts_to_q8', from, to, parts.ml, parts.splits);
    };
    return this.add(merging, o, parts.o);
  }

  /** Whether an output projection of one token can merge parts of attention. */
  canMergeIn(o: Product): boolean {
    return this.multiplier.isQ8(o, 'parts_to_q8');
  }

  /** Logits of the last token of a pass, and their maxima. */
  head(head: Product): Promise<Recordable> {
    const { x, logits, maxima } = this.buffers;
    const { logitScale, logitSoftcap } = this.config;
    return this.multiplier.matvec(head, headEpilogue(logitScale, logitSoftcap), x, logits, maxima);
  }

  /** q, k and v of a layer, in two dispatches where q and k are normalized before they are turned. */
  private async qkv(multiply: Multiply, product: Product, { k, v, rope }: LayerPlace): Promise<Recordable> {
    const { gpu, qkvShape } = this;
    const { qkNorm, qkNormEps: normEps } = this.config;
    const { x, y, q, ropes } = this.buffers;
    const rotary = rope !== null;
    const angles = ropes[rope ?? 0]; // bound in any case
    if (!product.outputNorm || qkNorm === 'none') {
      return multiply(product, qkvEpilogue(qkvShape, rotary), x, angles, q, k, v);
    }
    const [stored, kernel] = await Promise.all([
      multiply(product, STORE, x, y),
      createNormRope(gpu, { ...qkvShape, norm: qkNorm, normEps, rotary }),
    ]);
    const group = kernel.bind(y, product.outputNorm, angles, q, k, v);
    return inOrder([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }

  /** h of the MLP, in two dispatches where gate and up are not multiplied in turns. */
  private async gateUp(multiply: Multiply, product: Product): Promise<Recordable> {
    const { activation, intermediateSize: intermediate } = this.config;
    const { x, y, h } = this.buffers;
    if (isInTurns(product)) return multiply(product, gateUpEpilogue(activation), x, h);
    const [stored, kernel] = await Promise.all([
      multiply(product, STORE, x, y),
      createGatedUnit(this.gpu, { intermediate, activation }),
    ]);
    const group = kernel.bind(y, h);
    return inOrder([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }

  /** Adds a product to the residual stream, in two dispatches where it is normalized first. */
  private async add(multiply: Multiply, product: Product, from: GPUBuffer): Promise<Recordable> {
    const { hiddenSize: cols, rmsNormEps: normEps, residualScale: scale } = this.config;
    const { x, y } = this.buffers;
    if (!product.outputNorm) return multiply(product, residualEpilogue(scale), from, x);
    const [stored, kernel] = await Promise.all([
      multiply(product, STORE, from, y),
      createPostNorm(this.gpu, { cols, normEps, scale }),
    ]);
    const group = kernel.bind(y, product.outputNorm, x);
    return inOrder([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }
}
