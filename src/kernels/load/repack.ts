// Moves rows from the layout of a file to the layout of the kernels, on the GPU.

import chunkRows from '../../../shaders/load/chunk_rows.wgsl?raw';
import wgsl from '../../../shaders/load/repack.wgsl?raw';
import { GpuProgramError } from '../../errors';
import { GPU_COPY_DST, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import { CommandList, createKernel, type Kernel } from '../../gpu/kernel';
import { arrived } from '../../shared/part';
import { BLOCK, type WeightFormat, type WeightMatrix, type WeightPart } from '../linear/weight_format';
import { FILE_TYPES, type FileType, isPlain } from './file_types';

/** The destination of the rows in a chunk of file bytes. */
export interface RepackTarget {
  matrix: WeightMatrix;
  /** The type in the file: that of the matrix part by FILE_TYPES, or full precision where the load quantizes. */
  stored: FileType;
  /** First row of the chunk within its tensor. */
  srcRow0: number;
  rows: number;
  /** Row r of the tensor lands in dstRow0 + r * dstStride. */
  dstRow0: number;
  dstStride: number;
  /** Rows of a head that turn, where rotary pairs are to be made adjacent; else 0. */
  rotaryDim: number;
  /** Rows of a head; `rotaryDim` when left out. */
  headDim?: number;
}

const MAX_GRID_X = 32768;
const MAX_QUEUED_CHUNKS = 8;

/**
 * Moves rows from the layout of a file to the layout of the kernels, on the GPU, through one staging buffer; quantizes
 * them on the way.
 */
export class Repacker {
  private readonly kernels = new Map<string, Promise<Kernel>>();
  private readonly staging: GPUBuffer;
  private readonly chunk: GPUBuffer;
  /** The most bytes that one call takes. */
  readonly stagingBytes: number;
  private queued = 0;

  constructor(
    private readonly gpu: Gpu,
    stagingBytes = 8 * 2 ** 20,
  ) {
    this.stagingBytes = Math.min(stagingBytes, gpu.bindingLimit - 4);
    this.staging = gpu.createBuffer('repack.staging', this.stagingBytes + 4, GPU_STORAGE | GPU_COPY_DST);
    this.chunk = gpu.createBuffer('repack.chunk', 36, GPU_UNIFORM | GPU_COPY_DST);
  }

  /** Queues one chunk; `bytes` may be reused as soon as this returns. */
  async repack(bytes: Uint8Array<ArrayBuffer>, target: RepackTarget): Promise<void> {
    const { matrix, stored, rows } = target;
    const blocks = matrix.cols / BLOCK;
    const parts = partsOf(target);
    const kernels = await Promise.all(parts.map(({ format }) => this.kernel(stored, format, blocks)));
    this.gpu.write(this.staging, bytes);
    const groups = Math.ceil((rows * blocks) / 64);
    const x = Math.min(groups, MAX_GRID_X);
    for (const [i, part] of parts.entries()) {
      const kernel = kernels[i];
      const { srcRow0, dstRow0, dstStride, rotaryDim, headDim = rotaryDim } = target;
      const chunk = [srcRow0, rows, dstRow0, dstStride, headDim, rotaryDim, part.row0, part.rows, 0];
      this.gpu.write(this.chunk, Uint32Array.from(chunk)); // queued behind the part before
      const list = new CommandList(this.gpu);
      list.add(kernel, kernel.bind(this.chunk, this.staging, part.weights, part.scales), x, Math.ceil(groups / x));
      list.run({ position: 0, nTokens: 0 });
    }
    // A file may be read faster than the GPU takes it: what waits in between is bounded.
    if (++this.queued % MAX_QUEUED_CHUNKS === 0) await this.gpu.workDone();
  }

  destroy(): void {
    this.gpu.destroyBuffer(this.staging);
    this.gpu.destroyBuffer(this.chunk);
  }

  private kernel(stored: FileType, format: WeightFormat, blocks: number): Promise<Kernel> {
    const key = `${stored} ${format} ${blocks}`;
    const kernel = this.kernels.get(key) ?? createRepack(this.gpu, stored, format, blocks);
    this.kernels.set(key, kernel);
    return kernel;
  }
}

/**
 * The kernel that turns rows of `blocks` blocks of a file's type into a format: moved as they are, or quantized. Binds
 * the chunk, its bytes, weights and scales.
 */
export async function createRepack(gpu: Gpu, stored: FileType, format: WeightFormat, blocks: number): Promise<Kernel> {
  const { format: kept, blockBytes, wgsl: moveBlock, constants } = FILE_TYPES[stored];
  if (isPlain(kept) && (format === 'q8' || format === 'q4')) {
    const { createQuantizeWeights } = await arrived(import('./quantize_weights'));
    return createQuantizeWeights(gpu, kept, format, blocks);
  }
  if (kept !== format) throw new GpuProgramError('kernels/repack', `cannot turn ${stored} into ${format}`);
  return createKernel(gpu, {
    label: 'kernels/repack',
    wgsl: [chunkRows, ...moveBlock, wgsl],
    constants: { BLOCKS: blocks, BLOCK_BYTES: blockBytes, ...constants },
    bindings: ['uniform', 'read', 'write', 'write'],
  });
}

/** The parts that the rows of a chunk may fall into: rotary order moves a row within its head. */
function partsOf(target: RepackTarget): readonly WeightPart[] {
  const { matrix, srcRow0, rows, dstRow0, dstStride, rotaryDim, headDim = rotaryDim } = target;
  const run = rotaryDim > 0 ? headDim : 1;
  const first = dstRow0 + Math.floor(srcRow0 / run) * run * dstStride;
  const end = dstRow0 + (Math.ceil((srcRow0 + rows) / run) * run - 1) * dstStride + 1;
  return matrix.parts.filter((part) => part.row0 < end && part.row0 + part.rows > first);
}
