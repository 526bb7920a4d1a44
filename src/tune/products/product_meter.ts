// The meter of a matrix product: compiles its candidates, compares each with the default, and times all in turn.

import { quantizeActivations } from '../../cpu/quantize_activations';
import type { Gpu } from '../../gpu/device';
import type { MadeLinear } from '../../kernels/linear/create_linear';
import type { Linear } from '../../kernels/linear/linear';
import type { MatvecInput } from '../../kernels/linear/matvec';
import { type Reason, why } from '../../shared/why';
import { randomFloats } from '../random_floats';
import { type LayeredRun, listOf, type TurnTiming, timeInTurn } from '../timing';
import type { Meter } from '../tuner';
import { faultOf, readOutputs, resetOutputs, type Values } from './product_outputs';

/** A product to measure. Tuning overwrites its buffers. No product reads its own output, so no value can grow. */
export interface MeasuredProduct<Parameters> {
  nTokens: number;
  /** Tokens of the outputs that are compared. Default: all. */
  comparedTokens?: number;
  /** The same product of every layer: no cache of the GPU holds all their weights. */
  layers: readonly MadeLinear[];
  /** The default, which the outputs of others are compared with. */
  usual: Parameters;
  create(parameters: Parameters): Promise<Linear>;
}

const TIMING: TurnTiming = { passMs: 3, mostMs: 20, warmMs: 400 };

export class ProductMeter<Parameters> implements Meter<Parameters, Linear> {
  readonly inTurn = true;
  /** Outputs of the default. */
  private expected: Values[] | null = null;

  constructor(
    protected readonly gpu: Gpu,
    protected readonly product: MeasuredProduct<Parameters>,
    private readonly throwIfStopped: () => void,
    private readonly timing: TurnTiming = TIMING,
  ) {}

  compile(parameters: Parameters): Promise<Linear> {
    return this.product.create(parameters);
  }

  /** Runs every candidate on the same activations. The default comes first. */
  async verify(kernel: Linear, parameters: Parameters): Promise<Reason | null> {
    const { gpu, product } = this;
    const { nTokens, comparedTokens = nTokens } = product;
    const compared = { ...product, nTokens: comparedTokens };
    const [first] = product.layers;
    if (parameters === product.usual) writeActivations(gpu, compared);
    else if (!this.expected) return why`the default, which it would be compared with, does not run`;
    resetOutputs(gpu, first, comparedTokens, randomFloats(comparedTokens * first.shape.rows, 2));
    await this.runOnce(kernel, comparedTokens);
    const got = await readOutputs(gpu, first, comparedTokens);
    if (this.expected) return faultOf(this.expected, got);
    this.expected = got;
    return null;
  }

  time(kernels: readonly Linear[]): Promise<number[]> {
    const { nTokens } = this.product;
    const runs = kernels.map((kernel) => this.bind(kernel, nTokens));
    return timeInTurn(this.gpu, { position: 0, nTokens }, runs, this.timing, this.throwIfStopped);
  }

  /** Runs a kernel on the first layer. */
  protected runOnce(kernel: Linear, nTokens: number): Promise<void> {
    return listOf(this.gpu, this.bind(kernel, nTokens, 1), 1).run({ position: 0, nTokens });
  }

  private bind(kernel: Linear, nTokens: number, most?: number): LayeredRun {
    const { layers } = this.product;
    const groups = layers
      .slice(0, most)
      .map(({ matrix, params, buffers: [x, ...own] }) => kernel.bind(matrix, x, params, ...own));
    const record: LayeredRun['record'] = (list, repeat) => kernel.record(list, groups[repeat % groups.length], nTokens);
    return { layers: groups.length, record };
  }
}

/** Random activations in every buffer that the layers read. */
function writeActivations<P>(gpu: Gpu, { nTokens, layers }: MeasuredProduct<P>): void {
  const [{ input, shape }] = layers;
  const inputs = new Set(layers.map(({ buffers }) => buffers[0]));
  if (input.startsWith('parts')) {
    for (const o of inputs) gpu.write(o, randomFloats(o.size / 4, 1));
    for (const ml of new Set(layers.map(({ buffers }) => buffers[2]))) gpu.write(ml, randomMaximaAndSums(ml.size / 4));
    return;
  }
  const x = randomFloats(nTokens * shape.cols, 1);
  const { q, d } = quantized(x, input);
  for (const buffer of inputs) {
    gpu.write(buffer, q as ArrayBufferView<ArrayBuffer>);
    if (d) gpu.write(buffer, d as Float32Array<ArrayBuffer>, nTokens * shape.cols);
  }
}

const quantized = (x: Float32Array, input: MatvecInput) =>
  input === 'q8' ? quantizeActivations(x) : { q: x, d: null };

/** m and l of attention splits, alternating. l is above 0. */
function randomMaximaAndSums(count: number): Float32Array<ArrayBuffer> {
  return randomFloats(count, 3).map((value, i) => (i % 2 === 0 ? value : value + 2));
}
