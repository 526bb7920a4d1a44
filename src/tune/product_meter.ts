// The candidates of one product: compiled together, each verified against the default, and only then timed, all in turn.

import { quantizeActivations } from '../cpu/quantize_activations';
import { GpuMemoryError, GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';
import { CommandList } from '../gpu/kernel';
import { type PassTimeOptions, timePass } from '../gpu/time_pass';
import { StepTimes } from '../gpu/timestamps';
import type { Linear } from '../kernels/linear/linear';
import type { MatvecInput } from '../kernels/linear/matvec';
import type { WeightMatrix } from '../kernels/linear/weight_format';
import { faultOf, type Output, readOutputs, resetOutputs, type Values } from './product_outputs';

/** A product of one layer, as the model binds it: the activations first, then the epilogue's own. */
export interface BoundProduct {
  matrix: WeightMatrix;
  params: GPUBuffer;
  buffers: readonly GPUBuffer[];
}

/** A product as it is to be measured. What its buffers hold is lost; none reads what it writes, so no value can run away. */
export interface MeasuredProduct<Parameters> {
  rows: number;
  cols: number;
  nTokens: number;
  input: MatvecInput;
  /** The same of every layer, so that no cache of the GPU holds all weights. */
  layers: readonly BoundProduct[];
  /** Of the first layer. */
  outputs: readonly Output[];
  /** The default first. */
  candidates: readonly Parameters[];
  create(parameters: Parameters): Promise<Linear>;
}

/** Milliseconds of one product, or the reason why it cannot run here. */
export type ProductMeasurement = { ms: number; refused: null } | { ms: null; refused: string };

export interface ProductTiming {
  /** GPU work of one pass: browsers round the GPU's clock to 65 microseconds. */
  passMs: number;
  /** The longest pass, even where that is not all layers. */
  mostMs: number;
  /** An idle GPU drops its clocks within milliseconds: it runs the default for so long, and then all candidates without a pause. */
  warmMs: number;
}

const TIMING: ProductTiming = { passMs: 3, mostMs: 20, warmMs: 400 };
/** The first warms up; the median of the others counts. */
const ROUNDS = 4;
/** Where the GPU has no clock: completions reach the CPU on a grid of about 3 ms. */
const CPU_TIMING: PassTimeOptions = { minMs: 50, rounds: 3, budgetMs: 250 };

type Made = { kernel: Linear } | { refused: string };

export class ProductMeter {
  constructor(
    private readonly gpu: Gpu,
    /** Asked before each candidate; throws to end the tuning. */
    private readonly throwIfStopped: () => void,
    private readonly timing: ProductTiming = TIMING,
  ) {}

  /** One for each candidate, in their order. @throws the failure of the device, which is no candidate's own */
  async measure<P>(product: MeasuredProduct<P>): Promise<ProductMeasurement[]> {
    this.throwIfStopped();
    // All at once: browsers compile pipelines on several threads.
    const made = await Promise.all(product.candidates.map((candidate) => this.compile(product, candidate)));
    const checked = await this.check(product, made);
    const kernels = checked.flatMap((each) => ('kernel' in each ? [each.kernel] : []));
    const times = kernels.length > 0 ? await this.time(product, kernels) : [];
    if (this.gpu.failure) throw this.gpu.failure;
    return checked.map((each) =>
      'kernel' in each ? { ms: times[kernels.indexOf(each.kernel)], refused: null } : { ms: null, ...each },
    );
  }

  private async compile<P>(product: MeasuredProduct<P>, candidate: P): Promise<Made> {
    try {
      return { kernel: await product.create(candidate) };
    } catch (error) {
      if (this.gpu.failure) throw this.gpu.failure;
      if (!(error instanceof GpuProgramError) && !(error instanceof GpuMemoryError)) throw error;
      return { refused: error.message.replace(/\s+/g, ' ') };
    }
  }

  /** Every candidate on the same activations, against the default, without which there is nothing to compare with. */
  private async check<P>(product: MeasuredProduct<P>, made: readonly Made[]): Promise<Made[]> {
    const { gpu } = this;
    const { rows, nTokens } = product;
    writeActivations(gpu, product);
    const before = randomFloats(nTokens * rows, 2);
    let expected: Values[] | null = null;
    const checked: Made[] = [];
    for (const each of made) {
      this.throwIfStopped();
      if (checked.length > 0 && !expected) {
        checked.push({ refused: 'the default, which it would be compared with, does not run' });
        continue;
      }
      if (!('kernel' in each)) {
        checked.push(each);
        continue;
      }
      resetOutputs(gpu, product.outputs, before);
      await this.list(product, each.kernel, 1).run(stepOf(product));
      const got = await readOutputs(gpu, product.outputs);
      if (gpu.failure) throw gpu.failure;
      const fault: string | null = expected ? faultOf(expected, got) : null;
      expected ??= got;
      checked.push(fault === null ? each : { refused: fault });
    }
    return checked;
  }

  private async time<P>(product: MeasuredProduct<P>, kernels: readonly Linear[]): Promise<number[]> {
    const { gpu, timing } = this;
    const step = stepOf(product);
    const layers = product.layers.length;
    const addTo = (kernel: Linear) => {
      const groups = this.bind(product, kernel);
      return (list: CommandList, repeat: number) => kernel.record(list, groups[repeat % layers], product.nTokens);
    };
    if (!gpu.can.timestamps) {
      const times: number[] = [];
      for (const kernel of kernels) {
        this.throwIfStopped();
        const { ms } = await timePass(gpu, step, addTo(kernel), { ...CPU_TIMING, minRepeats: layers });
        times.push(ms);
      }
      return times;
    }
    const estimate = { minMs: timing.passMs, rounds: 1, minRepeats: layers, budgetMs: timing.mostMs };
    const { repeats } = await timePass(gpu, step, addTo(kernels[0]), estimate);
    const lists = kernels.map((kernel) => this.list(product, kernel, repeats));
    return (await this.inTurn(lists, step)).map((ms) => ms / repeats);
  }

  /** Milliseconds of each list: a pass of each, round after round, with no wait until the last is queued. */
  private async inTurn(lists: readonly CommandList[], step: { position: number; nTokens: number }): Promise<number[]> {
    const { gpu } = this;
    const times = new StepTimes(gpu, ROUNDS * lists.length);
    const submit = (list: CommandList, stamps?: GPUComputePassTimestampWrites) => {
      const encoder = gpu.device.createCommandEncoder({ label: 'tune_products' });
      list.record(encoder, step, stamps);
      gpu.submit(encoder.finish());
    };
    try {
      const until = performance.now() + this.timing.warmMs;
      let running: Promise<undefined> = Promise.resolve(undefined);
      while (performance.now() < until) {
        submit(lists[0]);
        const before = running;
        running = gpu.device.queue.onSubmittedWorkDone();
        running.catch(() => {}); // a lost device is this call's failure, not the page's
        await before; // one more is queued meanwhile
        this.throwIfStopped();
      }
      for (let round = 0; round < ROUNDS; round++) for (const list of lists) submit(list, times.next());
      const all = await times.read();
      return lists.map((_, i) => median(all.filter((__, j) => j >= lists.length && j % lists.length === i)));
    } finally {
      times.destroy();
    }
  }

  /** A pass of so many products, each of another layer. */
  private list<P>(product: MeasuredProduct<P>, kernel: Linear, repeats: number): CommandList {
    const list = new CommandList(this.gpu);
    const groups = this.bind(product, kernel, repeats);
    for (let i = 0; i < repeats; i++) kernel.record(list, groups[i % groups.length], product.nTokens);
    return list;
  }

  private bind<P>({ layers }: MeasuredProduct<P>, kernel: Linear, most = layers.length) {
    return layers
      .slice(0, most)
      .map(({ matrix, params, buffers: [x, ...own] }) => kernel.bind(matrix, x, params, ...own));
  }
}

const stepOf = ({ nTokens }: { nTokens: number }) => ({ position: 0, nTokens });

/** Random activations in every buffer that the layers read them from. */
function writeActivations<P>(gpu: Gpu, { cols, nTokens, input, layers }: MeasuredProduct<P>): void {
  const inputs = new Set(layers.map(({ buffers }) => buffers[0]));
  if (input === 'parts_to_q8') {
    for (const o of inputs) gpu.write(o, randomFloats(o.size / 4, 1));
    for (const ml of new Set(layers.map(({ buffers }) => buffers[2]))) {
      gpu.write(
        ml,
        randomFloats(ml.size / 4, 3).map((value, i) => (i % 2 === 0 ? value : value + 2)),
      ); // l is above 0
    }
    return;
  }
  const x = randomFloats(nTokens * cols, 1);
  const { q, d } = input === 'q8' ? quantizeActivations(x) : { q: x, d: null };
  for (const buffer of inputs) {
    gpu.write(buffer, q as ArrayBufferView<ArrayBuffer>);
    if (d) gpu.write(buffer, d as Float32Array<ArrayBuffer>, nTokens * cols);
  }
}

/** From -1 to 1, the same at each call (Marsaglia 2003, xorshift). */
function randomFloats(count: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed;
  return new Float32Array(count).map(() => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
