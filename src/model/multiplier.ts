// Products with the matrices of a model, each run of rows of one format by the core that suits it: in f32, or where the format
// has integers, on quantized activations. What becomes of the rows is the epilogue's business.

import type { Gpu } from '../gpu/device';
import type { CommandList } from '../gpu/kernel';
import { createQuantizeActivations } from '../kernels/elementwise/quantize_activations';
import type { Epilogue, Linear, LinearShape } from '../kernels/linear/linear';
import { createMatmul } from '../kernels/linear/matmul';
import { hasIntegers, type MatmulQ8Shape } from '../kernels/linear/matmul_q8';
import type { MatvecInput } from '../kernels/linear/matvec';
import { fitsMatvec } from '../kernels/linear/matvec_plan';
import { createTunedMatmulQ8, createTunedMatvec, type ProductProfile } from '../kernels/linear/product_profile';
import { formatRuns, type WeightFormat, type WeightRun } from '../kernels/linear/weight_format';
import type { MadeProduct } from '../tune/products';
import type { Product } from './weights';

export type ActivationType = 'f32' | 'q8';

/** Something of a pass with its buffers bound, ready to record. */
export interface Recordable {
  record(list: CommandList, nTokens: number): void;
}

/** Makes a product ready to record. `buffers`: the activations first, then the epilogue's own. */
export type Multiply = (product: Product, epilogue: Epilogue, ...buffers: GPUBuffer[]) => Promise<Recordable>;

export class Multiplier {
  /** Whether any product runs on quantized activations. */
  usesQ8 = false;
  /** What can be tuned: products of one token, and those of many on quantized activations. */
  readonly made: MadeProduct[] = [];

  constructor(
    private readonly gpu: Gpu,
    private readonly normEps: number,
    /** Holds quantized activations of the product of many tokens that is under way. */
    private readonly xq: GPUBuffer,
    private readonly activations: ActivationType,
    /** What a tuner found; where it has nothing that fits, the defaults. */
    private readonly tuned: ProductProfile | null,
  ) {}

  /** Of one token, each run in integers where it has them. */
  async matvec(product: Product, epilogue: Epilogue, ...buffers: GPUBuffer[]): Promise<Recordable> {
    const runs = formatRuns(product.matrix).map((run) => {
      const input = this.isQ8Run(product, run, 'to_q8', epilogue.finishRows) ? 'to_q8' : 'f32';
      return this.vectorRun(product, run, epilogue, input, ...buffers);
    });
    return inOrder(await Promise.all(runs));
  }

  /** Of one token, whose activations come as `input` says. */
  async vector(product: Product, epilogue: Epilogue, input: MatvecInput, ...buffers: GPUBuffer[]): Promise<Recordable> {
    const runs = formatRuns(product.matrix).map((run) => this.vectorRun(product, run, epilogue, input, ...buffers));
    return inOrder(await Promise.all(runs));
  }

  private async vectorRun(
    product: Product,
    run: WeightRun,
    epilogue: Epilogue,
    input: MatvecInput,
    ...buffers: GPUBuffer[]
  ): Promise<Recordable> {
    const shape = this.shape(product, run);
    const kernel = await createTunedMatvec(this.gpu, shape, epilogue, input, this.tuned);
    this.keep(product, run, { pass: 'decode', shape, epilogue, input, buffers });
    return bound(kernel, run, product, buffers);
  }

  /** For the tuner, which asks for all rows of an output: those of mixed matrices are run as they are. */
  private keep({ matrix, params }: Product, { parts }: WeightRun, made: Omit<MadeProduct, 'matrix' | 'params'>): void {
    if (parts.length === matrix.parts.length) this.made.push({ ...made, matrix, params });
  }

  /** Of many tokens. */
  async matmul(product: Product, epilogue: Epilogue, ...buffers: GPUBuffer[]): Promise<Recordable> {
    const runs = formatRuns(product.matrix);
    const made = runs.map((run) => this.matmulRun(product, run, epilogue, ...buffers));
    if (!runs.some(({ format }) => this.inIntegers(format))) return inOrder(await Promise.all(made));
    this.usesQ8 = true;
    return inOrder(await Promise.all([this.quantize(product, buffers[0]), ...made]));
  }

  private async matmulRun(
    product: Product,
    run: WeightRun,
    epilogue: Epilogue,
    ...[from, ...own]: GPUBuffer[]
  ): Promise<Recordable> {
    const { gpu } = this;
    const shape = this.shape(product, run);
    const { format } = shape;
    if (!this.inIntegers(format)) return bound(await createMatmul(gpu, shape, epilogue), run, product, [from, ...own]);
    const kernel = await createTunedMatmulQ8(gpu, { ...shape, format }, epilogue, this.tuned);
    this.keep(product, run, { pass: 'prefill', shape, epilogue, input: 'q8', buffers: [this.xq, ...own] });
    return bound(kernel, run, product, [this.xq, ...own]);
  }

  /** The activations of a product of many tokens in signed bytes. */
  private async quantize({ matrix, params, normed }: Product, from: GPUBuffer): Promise<Recordable> {
    const shape = { cols: matrix.cols, normEps: normed ? this.normEps : null };
    const kernel = await createQuantizeActivations(this.gpu, shape);
    const group = kernel.bind(from, params, this.xq);
    return { record: (list, nTokens) => kernel.record(list, group, nTokens) };
  }

  private inIntegers(format: WeightFormat): format is MatmulQ8Shape['format'] {
    return this.activations === 'q8' && hasIntegers(format);
  }

  /** Integers where they were asked for, the matrix has them, and quantized activations fit this GPU. */
  isQ8(product: Product, input: Exclude<MatvecInput, 'f32'>, finishRows = 2): boolean {
    return formatRuns(product.matrix).every((run) => this.isQ8Run(product, run, input, finishRows));
  }

  private isQ8Run(product: Product, run: WeightRun, input: Exclude<MatvecInput, 'f32'>, finishRows = 2): boolean {
    const shape = this.shape(product, run);
    if (!this.inIntegers(shape.format)) return false;
    const fits = fitsMatvec({ ...shape, input, finishRows }, this.gpu.limits, this.gpu.can.subgroupMinSize);
    this.usesQ8 ||= fits;
    return fits;
  }

  private shape({ matrix, normed, biased }: Product, { format, parts }: WeightRun): LinearShape {
    const { rows, cols } = matrix;
    return { rows, cols, format, parts, bias: biased, normEps: normed ? this.normEps : null };
  }
}

/** `buffers`: the activations first, then the epilogue's own. */
function bound(kernel: Linear, run: WeightRun, { params }: Product, [from, ...own]: readonly GPUBuffer[]): Recordable {
  const groups = kernel.bind(run, from, params, ...own);
  return { record: (list, nTokens) => kernel.record(list, groups, nTokens) };
}

/** One after another. */
export function inOrder(all: readonly Recordable[]): Recordable {
  if (all.length === 1) return all[0];
  return {
    record(list, nTokens) {
      for (const each of all) each.record(list, nTokens);
    },
  };
}
