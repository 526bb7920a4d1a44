import type { AttentionParts } from '../attention/attention';
import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { GATE_UP } from '../kernels/gate_up';
import { GATE_UP_Q8 } from '../kernels/gate_up_q8';
import { HEAD } from '../kernels/head';
import type { Epilogue, Linear, LinearShape } from '../kernels/linear';
import { createMatmul } from '../kernels/matmul';
import { hasIntegers, type MatmulQ8Shape } from '../kernels/matmul_q8';
import type { MatvecInput } from '../kernels/matvec';
import { fitsMatvec } from '../kernels/matvec_plan';
import { createTunedMatmulQ8, createTunedMatvec, type ProductProfile } from '../kernels/product_profile';
import { type QkvShape, qkvEpilogue } from '../kernels/qkv';
import { createQuantiseActivations } from '../kernels/quantise_activations';
import { RESIDUAL } from '../kernels/residual';
import { formatRuns, type WeightFormat, type WeightRun } from '../kernels/weight_format';
import type { MadeProduct } from './tune_products';
import type { LayerWeights, Product } from './weights';

export type ActivationType = 'f32' | 'q8';

/** Parts of attention that the output projection merges; more of them are merged by a dispatch of their own. */
const MOST_MERGED_PARTS = 16;

/** Something of a pass with its buffers bound, ready to record. */
export interface Recordable {
  record(list: CommandList, nTokens: number): void;
}

/** The products of a layer, for a pass of one token or for one of many. */
export type LayerProducts = Record<keyof LayerWeights, Recordable>;

/** Activations that products read and write, and what they need of one layer. */
export interface ProductBuffers {
  x: GPUBuffer;
  q: GPUBuffer;
  attn: GPUBuffer;
  h: GPUBuffer;
  /** Quantised activations of the product that is under way. */
  xq: GPUBuffer;
  logits: GPUBuffer;
  maxima: GPUBuffer;
  rope: GPUBuffer;
}

/** Builds the products of a model, in f32 or, where a matrix has integers, on quantised activations. */
export class ProductFactory {
  /** Whether any product runs on quantised activations. */
  usesQ8 = false;
  /** What can be tuned: products of one token, and those of many on quantised activations. */
  readonly made: MadeProduct[] = [];

  constructor(
    private readonly gpu: Gpu,
    private readonly normEps: number,
    private readonly qkvShape: QkvShape,
    private readonly buffers: ProductBuffers,
    private readonly activations: ActivationType,
    /** What a tuner found; where it has nothing that fits, the defaults. */
    private readonly tuned: ProductProfile | null = null,
  ) {}

  /** One that makes the same products by another profile. */
  retuned(profile = this.tuned): ProductFactory {
    return new ProductFactory(this.gpu, this.normEps, this.qkvShape, this.buffers, this.activations, profile);
  }

  /** For one token. */
  async decode(layer: LayerWeights, k: GPUBuffer, v: GPUBuffer): Promise<LayerProducts> {
    const { x, q, attn, h, xq, rope } = this.buffers;
    const downQ8 = this.isQ8(layer.down, false, 'q8');
    const gated = downQ8 ? { epilogue: GATE_UP_Q8, out: xq } : { epilogue: GATE_UP, out: h };
    const [qkv, o, gateUp, down] = await Promise.all([
      this.matvec(layer.qkv, true, qkvEpilogue(this.qkvShape), x, rope, q, k, v),
      this.matvec(layer.o, false, RESIDUAL, attn, x),
      this.matvec(layer.gateUp, true, gated.epilogue, x, gated.out),
      downQ8
        ? this.vector(layer.down, false, RESIDUAL, 'q8', xq, x)
        : this.vector(layer.down, false, RESIDUAL, 'f32', h, x),
    ]);
    return { qkv, o, gateUp, down };
  }

  /**
   * The output projection of one token that merges the parts of attention on its way; null where it cannot, or should not:
   * each of its workgroups reads all parts, so they must be few.
   */
  async mergingO({ o }: LayerWeights, parts: AttentionParts): Promise<Recordable | null> {
    if (parts.count > MOST_MERGED_PARTS || !this.isQ8(o, false, 'parts_to_q8')) return null;
    const epilogue = { ...RESIDUAL, constants: { ...RESIDUAL.constants, HEAD_DIM: this.qkvShape.headDim } };
    return this.vector(o, false, epilogue, 'parts_to_q8', parts.o, this.buffers.x, parts.ml, parts.splits);
  }

  /** For many tokens. */
  async prefill(layer: LayerWeights, k: GPUBuffer, v: GPUBuffer): Promise<LayerProducts> {
    const { x, q, attn, h, rope } = this.buffers;
    const [qkv, o, gateUp, down] = await Promise.all([
      this.matmul(layer.qkv, true, qkvEpilogue(this.qkvShape), x, rope, q, k, v),
      this.matmul(layer.o, false, RESIDUAL, attn, x),
      this.matmul(layer.gateUp, true, GATE_UP, x, h),
      this.matmul(layer.down, false, RESIDUAL, h, x),
    ]);
    return { qkv, o, gateUp, down };
  }

  /** Logits of the last token of a pass, and their maxima. */
  head(head: Product): Promise<Recordable> {
    const { x, logits, maxima } = this.buffers;
    return this.matvec(head, true, HEAD, x, logits, maxima);
  }

  /** Each run of rows of one format in integers, where it has them. */
  private async matvec(
    product: Product,
    normed: boolean,
    epilogue: Epilogue,
    ...buffers: GPUBuffer[]
  ): Promise<Recordable> {
    const runs = formatRuns(product.matrix).map((run) => {
      const input = this.isQ8Run(product, run, normed, 'to_q8', epilogue.finishRows) ? 'to_q8' : 'f32';
      return this.vectorRun(product, run, normed, epilogue, input, ...buffers);
    });
    return inOrder(await Promise.all(runs));
  }

  private async vector(
    product: Product,
    normed: boolean,
    epilogue: Epilogue,
    input: MatvecInput,
    ...buffers: GPUBuffer[]
  ): Promise<Recordable> {
    const runs = formatRuns(product.matrix).map((run) =>
      this.vectorRun(product, run, normed, epilogue, input, ...buffers),
    );
    return inOrder(await Promise.all(runs));
  }

  private async vectorRun(
    product: Product,
    run: WeightRun,
    normed: boolean,
    epilogue: Epilogue,
    input: MatvecInput,
    ...buffers: GPUBuffer[]
  ): Promise<Recordable> {
    const shape = this.shape(product, run, normed);
    const kernel = await createTunedMatvec(this.gpu, shape, epilogue, input, this.tuned);
    this.keep(product, run, { pass: 'decode', shape, epilogue, input, buffers });
    return bound(kernel, run, product, buffers);
  }

  /** For the tuner, which asks for all rows of an output: those of mixed matrices are run as they are. */
  private keep({ matrix, params }: Product, { parts }: WeightRun, made: Omit<MadeProduct, 'matrix' | 'params'>): void {
    if (parts.length === matrix.parts.length) this.made.push({ ...made, matrix, params });
  }

  private async matmul(
    product: Product,
    normed: boolean,
    epilogue: Epilogue,
    ...buffers: GPUBuffer[]
  ): Promise<Recordable> {
    const runs = formatRuns(product.matrix);
    const made = runs.map((run) => this.matmulRun(product, run, normed, epilogue, ...buffers));
    if (!runs.some(({ format }) => this.inIntegers(format))) return inOrder(await Promise.all(made));
    this.usesQ8 = true;
    return inOrder(await Promise.all([this.quantise(product, normed, buffers[0]), ...made]));
  }

  private async matmulRun(
    product: Product,
    run: WeightRun,
    normed: boolean,
    epilogue: Epilogue,
    ...[from, ...own]: GPUBuffer[]
  ): Promise<Recordable> {
    const { gpu } = this;
    const { xq } = this.buffers;
    const shape = this.shape(product, run, normed);
    const { format } = shape;
    if (!this.inIntegers(format)) return bound(await createMatmul(gpu, shape, epilogue), run, product, [from, ...own]);
    const kernel = await createTunedMatmulQ8(gpu, { ...shape, format }, epilogue, this.tuned);
    this.keep(product, run, { pass: 'prefill', shape, epilogue, input: 'q8', buffers: [xq, ...own] });
    return bound(kernel, run, product, [xq, ...own]);
  }

  /** The activations of a product of many tokens in signed bytes. */
  private async quantise({ matrix, params }: Product, normed: boolean, from: GPUBuffer): Promise<Recordable> {
    const shape = { cols: matrix.cols, normEps: normed ? this.normEps : null };
    const kernel = await createQuantiseActivations(this.gpu, shape);
    const group = kernel.bind(from, params, this.buffers.xq);
    return { record: (list, nTokens) => kernel.record(list, group, nTokens) };
  }

  private inIntegers(format: WeightFormat): format is MatmulQ8Shape['format'] {
    return this.activations === 'q8' && hasIntegers(format);
  }

  /** Integers where they were asked for, the matrix has them, and quantised activations fit this GPU. */
  private isQ8(product: Product, normed: boolean, input: Exclude<MatvecInput, 'f32'>, finishRows = 2): boolean {
    return formatRuns(product.matrix).every((run) => this.isQ8Run(product, run, normed, input, finishRows));
  }

  private isQ8Run(
    product: Product,
    run: WeightRun,
    normed: boolean,
    input: Exclude<MatvecInput, 'f32'>,
    finishRows = 2,
  ): boolean {
    const shape = this.shape(product, run, normed);
    if (!this.inIntegers(shape.format)) return false;
    const fits = fitsMatvec({ ...shape, input, finishRows }, this.gpu.limits, this.gpu.can.subgroupMinSize);
    this.usesQ8 ||= fits;
    return fits;
  }

  private shape({ matrix, biased }: Product, { format, parts }: WeightRun, normed: boolean): LinearShape {
    const { rows, cols } = matrix;
    return { rows, cols, format, parts, bias: biased, normEps: normed ? this.normEps : null };
  }
}

/** `buffers`: the activations first, then the epilogue's own. */
function bound(kernel: Linear, run: WeightRun, { params }: Product, [from, ...own]: readonly GPUBuffer[]): Recordable {
  const groups = kernel.bind(run, from, params, ...own);
  return { record: (list, nTokens) => kernel.record(list, groups, nTokens) };
}

function inOrder(all: readonly Recordable[]): Recordable {
  if (all.length === 1) return all[0];
  return {
    record(list, nTokens) {
      for (const each of all) each.record(list, nTokens);
    },
  };
}
