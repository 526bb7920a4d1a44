// The weights of a model of any shape, made on the GPU: random blocks are uploaded once and copied all over every
// matrix.

import { toHalf } from '../../../src/cpu/half';
import type { BufferRange } from '../../../src/gpu/buffer_range';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../../src/gpu/device';
import type { WeightMatrix } from '../../../src/kernels/linear/weight_format';
import type { ModelConfig } from '../../../src/model/config/config';
import {
  allocateLayers,
  allocateMatrix,
  type PlannedMatrix,
  planMatrix,
} from '../../../src/model/weights/weight_arenas';
import type { LayerWeights, LinearWeights, ModelWeights } from '../../../src/model/weights/weights';
import { randomSource } from '../../../test/random';
import type { Quant } from '../../report';
import { randomScales } from './random_scales';
import { type MatrixShape, matrixShapes, weightScale } from './synthetic_config';

const USAGE = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
/** 32-bit words of a random block: a prime, so that neighboring rows do not repeat at the same place. */
const BLOCK_WORDS = 1_048_573;
/** Matrices begin in different places of the block. */
const STRIDE_WORDS = 7919;

/** A range that is to be filled from a random block: of values, or of scales around `scale`. */
interface Filling {
  range: BufferRange;
  scale?: number;
}

/** Norms are 1. @throws GpuMemoryError where the GPU refuses the memory; what was granted goes with the device */
export async function syntheticWeights(gpu: Gpu, config: ModelConfig, quant: Quant): Promise<ModelWeights> {
  const before = gpu.allocatedBytes;
  const builder = new Builder(gpu, quant);
  const made = await gpu.guardMemory('The weights', () => {
    const [qkv, o, gateUp, down, head] = matrixShapes(config);
    const plan = (shape: MatrixShape, i: number) => builder.plan(`layer.${i}.${shape.kind}`, shape);
    const planned = Array.from({ length: config.nLayers }, (_, i) => [qkv, o, gateUp, down].map((s) => plan(s, i)));
    const { arenas, matrices } = allocateLayers(gpu, planned);
    const layers = matrices.map((own, i): LayerWeights => {
      const product = (shape: MatrixShape, j: number) => builder.product(`layer.${i}.${shape.kind}`, shape, own[j]);
      return { qkv: product(qkv, 0), o: product(o, 1), gateUp: product(gateUp, 2), down: product(down, 3) };
    });
    const matrix = (label: string) => allocateMatrix(gpu, builder.plan(label, head));
    const headProduct = builder.product('head', head, matrix('head'));
    const embedding = config.tiedEmbedding ? headProduct.matrix : builder.filled(matrix('embedding'));
    return { embedding, layers, arenas, head: headProduct };
  });
  const bytes = gpu.allocatedBytes - before;
  await builder.fill();
  return { ...made, dense: [], ropeFactors: null, bytes };
}

class Builder {
  private readonly fillings: Filling[] = [];
  private readonly norms: { buffer: GPUBuffer; size: number }[] = [];

  constructor(
    private readonly gpu: Gpu,
    private readonly quant: Quant,
  ) {}

  plan(label: string, { rows, cols }: Pick<MatrixShape, 'rows' | 'cols'>): PlannedMatrix {
    return planMatrix(this.gpu, `weights.${label}`, [{ format: this.quant, row0: 0, rows }], cols);
  }

  product(label: string, { cols, normed }: MatrixShape, matrix: WeightMatrix): LinearWeights {
    const params = this.gpu.createBuffer(`weights.${label}.params`, normed ? 4 * cols : 0, USAGE);
    if (normed) this.norms.push({ buffer: params, size: cols });
    return { matrix: this.filled(matrix), params, normed, biased: false, outputNorm: null };
  }

  /** The same matrix, to be filled. */
  filled(matrix: WeightMatrix): WeightMatrix {
    const { quant } = this;
    const scale = weightScale(quant, matrix.cols);
    for (const { weights, scales } of matrix.parts) {
      if (quant === 'f16') this.fillings.push({ range: weights, scale });
      else this.fillings.push({ range: weights }, { range: scales, scale });
    }
    return matrix;
  }

  async fill(): Promise<void> {
    const { gpu } = this;
    for (const { buffer, size } of this.norms) gpu.write(buffer, new Float32Array(size).fill(1));
    const blocks = new Map<number | undefined, { random: GPUBuffer; period: number }>();
    for (const [i, { range, scale }] of this.fillings.entries()) {
      const block = blocks.get(scale) ?? this.randomBlock(scale);
      blocks.set(scale, block);
      const { random, period } = block;
      const start = (i * STRIDE_WORDS) % (random.size / 4);
      copyAllOver(gpu, random, range, 4 * (start - (start % period)));
    }
    await gpu.workDone();
    for (const { random } of blocks.values()) gpu.destroyBuffer(random);
    if (gpu.failure) throw gpu.failure;
  }

  private randomBlock(scale: number | undefined): { random: GPUBuffer; period: number } {
    const { gpu, quant } = this;
    const { words, period } =
      scale === undefined || quant === 'f16'
        ? { words: randomWords(quant, scale), period: 1 }
        : randomScales(quant, scale, BLOCK_WORDS);
    return { random: gpu.upload('bench.random', words), period };
  }
}

/** `block` from byte `from` to its end, then from its beginning, again and again. */
function copyAllOver(gpu: Gpu, block: GPUBuffer, target: BufferRange, from: number): void {
  const encoder = gpu.device.createCommandEncoder({ label: 'bench.random' });
  let at = 0;
  for (let start = from; at < target.size; start = 0) {
    const bytes = Math.min(block.size - start, target.size - at);
    encoder.copyBufferToBuffer(block, start, target.buffer, target.offset + at, bytes);
    at += bytes;
  }
  gpu.submit(encoder.finish());
}

/**
 * Two f16 up to `most`, or integers; in q4 a nibble of 0 becomes one of 8, so that values are 0 on average and sums do
 * not drift.
 */
function randomWords(quant: Quant, most = 0): Uint32Array<ArrayBuffer> {
  const next = randomSource(4);
  const half = () => toHalf(most * (2 * next() - 1));
  if (quant === 'f16') return Uint32Array.from({ length: BLOCK_WORDS }, () => half() | (half() << 16));
  const words = Uint32Array.from({ length: BLOCK_WORDS }, () => next() * 2 ** 32);
  if (quant !== 'q4') return words;
  return words.map((word) => word | ((~(word | (word >>> 1) | (word >>> 2) | (word >>> 3)) & 0x11111111) << 3));
}
