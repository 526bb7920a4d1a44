// The GPU's part of a race: synthetic weights, the four products, and the clock.

import { type BufferRange, rangeStride } from '../../gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import { CommandList } from '../../gpu/kernel';
import { StepTimes } from '../../gpu/timestamps';
import { createQuantizeActivations, xqBytes } from '../../kernels/elementwise/quantize_activations';
import { createLinear, type LinearPass } from '../../kernels/linear/create_linear';
import { STORE } from '../../kernels/linear/epilogues/store';
import { planeBytes } from '../../kernels/linear/weight_format';
import type { ActivationType } from '../../model/layers/arithmetic';
import { relativeDistance } from '../distance';
import { randomFloats } from '../random_floats';
import type { RaceShape } from './race_shape';

/** Runs of one candidate, one after another. */
export interface Lap {
  type: ActivationType;
  repeats: number;
}

/** The means of a race. Tests bring a track of their own. */
export interface Track {
  readonly clock: 'gpu' | 'cpu';
  /** |q8 - f32| / |f32| of the products. */
  distance(pass: LinearPass): Promise<number>;
  /** Milliseconds of laps that follow one another without a pause. */
  time(pass: LinearPass, laps: readonly Lap[]): Promise<number[]>;
}

/** The tokens of a run of a prompt's product, and of the chunks that longer laps are made of. */
const TOKENS = 64;
const CHUNK_RUNS = 4;
/** Rows of a prompt's product: enough for the largest tiles. */
const PREFILL_ROWS = 4096;
/** Laps of one call: of a race's rounds, and of those before them that warm up. */
const MOST_LAPS = 64;
const EPS = 1e-5;
const BLOCK_BYTES = 2 ** 20;
/** Two f16 of 1/16, which is sound for the scales of any format. */
const SCALES = 0x2c002c00;
/** Values of a product that are compared. */
const COMPARED = 4096;

/** Adds a run of a candidate to a list. */
type Run = (list: CommandList, repeat: number, nTokens: number) => void;

export class RaceTrack implements Track {
  private constructor(
    private readonly gpu: Gpu,
    private readonly buffers: RaceBuffers,
    private readonly runs: Record<LinearPass, Record<ActivationType, Run>>,
    private readonly rows: Record<LinearPass, number>,
  ) {}

  /** @throws GpuMemoryError or GpuProgramError where the GPU refuses the race */
  static async lay(gpu: Gpu, shape: RaceShape): Promise<RaceTrack> {
    const { peakBytes } = gpu;
    const buffers = await gpu.guardMemory('The race of arithmetics', () => allocate(gpu, shape));
    gpu.peakBytes = Math.max(peakBytes, gpu.allocatedBytes);
    const rows = { decode: shape.rows, prefill: Math.min(shape.rows, PREFILL_ROWS) };
    try {
      fill(gpu, buffers, shape);
      return new RaceTrack(gpu, buffers, await compile(gpu, shape, rows, buffers), rows);
    } catch (error) {
      free(gpu, buffers);
      throw error;
    }
  }

  get clock(): Track['clock'] {
    return this.buffers.times ? 'gpu' : 'cpu';
  }

  async distance(pass: LinearPass): Promise<number> {
    const { gpu, buffers, runs, rows } = this;
    const nTokens = pass === 'decode' ? 1 : TOKENS;
    const read = async (type: ActivationType) => {
      const list = new CommandList(gpu);
      runs[pass][type](list, 0, nTokens);
      await list.run({ position: 0, nTokens });
      return new Float32Array(await gpu.read(buffers.out, 4 * Math.min(COMPARED, rows[pass])));
    };
    const q8 = await read('q8');
    return relativeDistance(q8, await read('f32'));
  }

  async time(pass: LinearPass, laps: readonly Lap[]): Promise<number[]> {
    const { gpu, buffers } = this;
    const { times } = buffers;
    const taken: number[] = [];
    times?.restart();
    for (const { type, repeats } of laps) {
      const chunks = pass === 'prefill' && repeats >= CHUNK_RUNS ? CHUNK_RUNS : 1;
      const nTokens = pass === 'decode' ? 1 : TOKENS * chunks;
      const list = new CommandList(gpu);
      const runs = Math.ceil(repeats / chunks);
      for (let i = 0; i < runs; i++) this.runs[pass][type](list, i, nTokens);
      const encoder = gpu.device.createCommandEncoder({ label: 'race' });
      list.record(encoder, { position: 0, nTokens }, times?.next());
      const commands = encoder.finish();
      const start = performance.now();
      gpu.submit(commands);
      if (!times) await gpu.workDone();
      taken.push((repeats / (runs * chunks)) * (times ? 1 : performance.now() - start));
    }
    const stamps = await times?.read();
    await gpu.settled();
    return taken.map((factor, i) => factor * (stamps?.[i] ?? 1));
  }

  destroy(): void {
    free(this.gpu, this.buffers);
  }
}

interface RaceBuffers {
  weights: GPUBuffer;
  scales: GPUBuffer;
  x: GPUBuffer;
  xq: GPUBuffer;
  params: GPUBuffer;
  out: GPUBuffer;
  block: GPUBuffer;
  /** Null without a GPU clock. */
  times: StepTimes | null;
}

function allocate(gpu: Gpu, { format, rows, cols, copies }: RaceShape): RaceBuffers {
  const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
  const tokens = TOKENS * CHUNK_RUNS;
  const bytes = planeBytes(format, rows, cols);
  const sizes = {
    weights: copies * rangeStride(bytes.weights),
    scales: copies * rangeStride(bytes.scales),
    x: 4 * tokens * cols,
    xq: xqBytes(tokens, cols),
    params: 4 * cols,
    out: 4 * Math.max(rows, tokens * Math.min(rows, PREFILL_ROWS)),
    block: BLOCK_BYTES,
  };
  const made = Object.entries(sizes).map(([name, size]) => [name, gpu.createBuffer(`race.${name}`, size, usage)]);
  return { ...Object.fromEntries(made), times: gpu.can.timestamps ? new StepTimes(gpu, MOST_LAPS) : null };
}

function free(gpu: Gpu, { times, ...buffers }: RaceBuffers): void {
  times?.destroy();
  for (const buffer of Object.values(buffers)) gpu.destroyBuffer(buffer);
}

/** Random integers and x, equal scales, and a norm of ones. */
function fill(gpu: Gpu, { weights, scales, x, params, block }: RaceBuffers, { cols }: RaceShape): void {
  const random = randomFloats(BLOCK_BYTES / 4, 1);
  const integers = new Uint32Array(random.length).map((_, i) => random[i] * 2 ** 31);
  gpu.write(params, new Float32Array(cols).fill(1));
  for (const [target, words] of [
    [x, random],
    [weights, integers],
    [scales, new Uint32Array(random.length).fill(SCALES)],
  ] as const) {
    gpu.write(block, words);
    const encoder = gpu.device.createCommandEncoder({ label: 'race' });
    for (let at = 0; at < target.size; at += BLOCK_BYTES) {
      encoder.copyBufferToBuffer(block, 0, target, at, Math.min(BLOCK_BYTES, target.size - at));
    }
    gpu.submit(encoder.finish());
  }
}

async function compile(
  gpu: Gpu,
  { format, rows: allRows, cols, copies }: RaceShape,
  rows: Record<LinearPass, number>,
  { weights, scales, x, xq, params, out }: RaceBuffers,
): Promise<Record<LinearPass, Record<ActivationType, Run>>> {
  const bytes = planeBytes(format, allRows, cols);
  const range = (buffer: GPUBuffer, size: number, copy: number): BufferRange => ({
    buffer,
    offset: copy * rangeStride(size),
    size: rangeStride(size),
  });
  const product = async (pass: LinearPass, input: 'f32' | 'to_q8' | 'q8', from: GPUBuffer): Promise<Run> => {
    const shape = { rows: rows[pass], cols, format, normEps: EPS, bias: false };
    const kernel = await createLinear(gpu, pass, shape, STORE, input, null);
    const part = { format, row0: 0, rows: rows[pass] };
    const groups = Array.from({ length: copies }, (_, i) => {
      const planes = { weights: range(weights, bytes.weights, i), scales: range(scales, bytes.scales, i) };
      return kernel.bind({ parts: [{ ...part, ...planes }] }, from, params, out);
    });
    return (list, repeat, nTokens) => kernel.record(list, groups[repeat % copies], nTokens);
  };
  const [quantize, toQ8, f32, q8, exact] = await Promise.all([
    createQuantizeActivations(gpu, { cols, normEps: EPS, blocksFirst: true }),
    product('decode', 'to_q8', x),
    product('decode', 'f32', x),
    product('prefill', 'q8', xq),
    product('prefill', 'f32', x),
  ]);
  const group = quantize.bind(x, params, xq);
  const quantized: Run = (list, repeat, nTokens) => {
    quantize.record(list, group, nTokens);
    q8(list, repeat, nTokens);
  };
  return { decode: { q8: toQ8, f32 }, prefill: { q8: quantized, f32: exact } };
}
