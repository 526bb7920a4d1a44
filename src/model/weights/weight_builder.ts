// Moves tensors to the GPU: stacks matrices in the layout of the kernels, and gathers small vectors into buffers.

import { UnsupportedModelError } from '../../errors';
import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, type Gpu } from '../../gpu/device';
import type { FormatRange, WeightFormat, WeightMatrix } from '../../kernels/linear/weight_format';
import { FILE_TYPES, fileRowBytes, isPlain, type QuantizedFormat } from '../../kernels/load/file_types';
import { Repacker, type RepackTarget } from '../../kernels/load/repack';
import { arrived } from '../../shared/part';
import type { TensorDtype, TensorInfo } from '../../storage/formats/tensor';
import type { ModelFiles } from '../../storage/model_files';
import { type Axis, padColumns, paddedIndex } from '../padding';
import { allocateLayers, allocateMatrix, type PlannedMatrix, planMatrix, type WeightArena } from './weight_arenas';

const formatOf = (dtype: TensorDtype): WeightFormat => FILE_TYPES[dtype].format;

/** True for matrices in full precision. Those that are quantized in the file are never quantized again. */
export function isPlainMatrix(tensor: TensorInfo): boolean {
  return isPlain(formatOf(tensor.dtype));
}

/** The transfer of one tensor. Jobs run in the order of the file, so that it is read once from front to back. */
type Job = () => Promise<void>;

/** The place of a tensor among the rows of a stacked matrix. */
export interface Place {
  tensor: TensorInfo;
  dstRow0?: number;
  dstStride?: number;
  /** Number of rows of each head that turn, whose pairs are made adjacent. Default: all rows stay in their order. */
  rotaryDim?: number;
  /** The padding of the rows. Default none. */
  axis?: Axis;
}

/** The place of a vector among others, an addend of its values, and a factor of the sums. */
export interface VectorPlace extends Place {
  plus?: number;
  times?: number;
}

/** The axis of the tensor's rows, with the zeros between and after them. */
export function rowAxis({ tensor, axis }: Place): Axis {
  const [rows] = tensor.shape;
  return axis ?? { stored: rows, padded: rows, size: rows };
}

/** A matrix that has no buffers yet, and the tensors whose rows it stacks. */
export interface StackedMatrix extends PlannedMatrix {
  places: readonly Place[];
  columns: Axis;
}

export class WeightBuilder {
  private readonly jobs = new Map<string, Job[]>();
  private readonly uploads: (() => void)[] = [];
  private readonly repacker: Repacker;
  /** The rows on their way to the GPU. New memory for each chunk would cost as much as the copy. */
  private rows: Uint8Array<ArrayBuffer> | null = null;

  constructor(
    private readonly gpu: Gpu,
    /** Padded rows of a head. Rotary pairs lie within a head. */
    private readonly headDim: number,
    private readonly quantize: QuantizedFormat | null,
  ) {
    this.repacker = new Repacker(gpu);
  }

  /**
   * Plans a matrix of the stacked rows of `places`.
   * @throws UnsupportedModelError if columns need padding within the blocks of a quantized tensor
   */
  plan(label: string, places: readonly Place[], columns: Axis): StackedMatrix {
    for (const { tensor } of places) refuseSplitBlocks(tensor, columns);
    const planned = planMatrix(this.gpu, `weights.${label}`, this.formatRanges(places), columns.size);
    return { ...planned, places, columns };
  }

  /** Allocates a matrix with buffers of its own and queues the reading of its rows. */
  matrix(label: string, places: readonly Place[], columns: Axis): WeightMatrix {
    const planned = this.plan(label, places, columns);
    const matrix = allocateMatrix(this.gpu, planned);
    this.queueRows(planned, matrix);
    return matrix;
  }

  /** Allocates the matrices of all layers, in arenas where they fit, and queues the reading of their rows. */
  layers(planned: readonly (readonly StackedMatrix[])[]): { arenas: WeightArena[]; matrices: WeightMatrix[][] } {
    const allocated = allocateLayers(this.gpu, planned);
    const matrices = allocated.matrices.flat();
    for (const [i, matrix] of planned.flat().entries()) this.queueRows(matrix, matrices[i]);
    return allocated;
  }

  /** True if both lie in one format, so that one kernel can multiply their rows interleaved. */
  areAlike(a: TensorInfo, b: TensorInfo): boolean {
    return this.formatOf(a) === this.formatOf(b);
  }

  /**
   * The row ranges of stacked tensors by format, neighbors of one format merged. Interleaved tensors share a format.
   */
  private formatRanges(places: readonly Place[]): FormatRange[] {
    const ranges: FormatRange[] = [];
    for (const place of places) {
      const format = this.formatOf(place.tensor);
      const rows = rowAxis(place).size;
      const last = ranges.at(-1);
      if (last?.format === format) last.rows += rows;
      else ranges.push({ format, row0: place.dstRow0 ?? 0, rows });
    }
    return ranges;
  }

  private formatOf(tensor: TensorInfo): WeightFormat {
    return this.quantize && isPlainMatrix(tensor) ? this.quantize : formatOf(tensor.dtype);
  }

  /**
   * Allocates a buffer of `size` f32 for small vectors, gathers them on the CPU, and uploads them once all are read.
   */
  vectors(label: string, size: number, places: readonly VectorPlace[]): GPUBuffer {
    const values = new Float32Array(Math.ceil(size / 4) * 4); // the kernels read quads
    const usage = GPU_STORAGE | GPU_COPY_DST | GPU_COPY_SRC;
    const buffer = this.gpu.createBuffer(`weights.${label}`, values.byteLength, usage);
    for (const place of places) {
      const { tensor, dstRow0 = 0, dstStride = 1, rotaryDim = 0, plus = 0, times = 1 } = place;
      const axis = rowAxis(place);
      this.vector(tensor, (stored) => {
        const padded = new Float32Array(axis.size);
        for (let i = 0; i < stored.length; i++) padded[paddedIndex(i, axis)] = (stored[i] + plus) * times;
        const placed = rotaryDim > 0 ? rotaryOrder(padded, this.headDim, rotaryDim) : padded;
        for (let i = 0; i < placed.length; i++) values[dstRow0 + i * dstStride] = placed[i];
      });
    }
    this.uploads.push(() => this.gpu.write(buffer, values));
    return buffer;
  }

  /** Queues the reading of a small tensor as f32. */
  vector(tensor: TensorInfo, use: (values: Float32Array<ArrayBuffer>) => void): void {
    this.queue(tensor, async () => {
      const bytes = await tensor.read(0, tensor.byteLength);
      use(await inF32(tensor.dtype, bytes));
    });
  }

  async run(files: ModelFiles, signal?: AbortSignal): Promise<void> {
    for (const name of files.tensors.keys()) {
      for (const job of this.jobs.get(name) ?? []) {
        signal?.throwIfAborted();
        await job();
        if (this.gpu.failure) throw this.gpu.failure;
      }
    }
    this.rows = null;
    for (const upload of this.uploads) upload();
    this.repacker.destroy();
  }

  private queueRows({ places, columns }: StackedMatrix, matrix: WeightMatrix): void {
    for (const place of places) this.queue(place.tensor, () => this.readRows(place, matrix, columns));
  }

  private queue(tensor: TensorInfo, job: Job): void {
    this.jobs.set(tensor.name, [...(this.jobs.get(tensor.name) ?? []), job]);
  }

  private async readRows(place: Place, matrix: WeightMatrix, columns: Axis): Promise<void> {
    const { headDim } = this;
    const { tensor, dstRow0 = 0, dstStride = 1, rotaryDim = 0 } = place;
    const [rows, cols] = tensor.shape;
    const axis = rowAxis(place);
    const stored = tensor.dtype;
    const rowBytes = tensor.byteLength / rows;
    const rowsPerChunk = Math.floor(this.repacker.stagingBytes / fileRowBytes(stored, matrix.cols));
    this.rows ??= new Uint8Array(this.repacker.stagingBytes);
    // All rows are one run, unless each head is padded.
    for (let row0 = 0; row0 < rows; row0 += axis.stored) {
      for (let first = 0; first < axis.stored; first += rowsPerChunk) {
        const n = Math.min(rowsPerChunk, axis.stored - first);
        const bytes = await tensor.read((row0 + first) * rowBytes, n * rowBytes, this.rows);
        const srcRow0 = paddedIndex(row0, axis) + first;
        const target: RepackTarget = { matrix, stored, srcRow0, rows: n, dstRow0, dstStride, rotaryDim, headDim };
        await this.repacker.repack(padColumns(bytes as Uint8Array<ArrayBuffer>, n, cols, columns), target);
      }
    }
  }
}

/** The values of a small tensor: in most files they are f32 already. */
async function inF32(dtype: TensorDtype, bytes: Uint8Array): Promise<Float32Array<ArrayBuffer>> {
  if (dtype === 'F32') return new Float32Array(bytes.slice().buffer);
  const { dequantize } = await arrived(import('../../cpu/dequantize'));
  return dequantize(dtype, bytes) as Float32Array<ArrayBuffer>;
}

/** The rows of quantized tensors are whole blocks, and padding cannot go inside a block. */
function refuseSplitBlocks({ name, dtype, shape }: TensorInfo, { stored, padded, size }: Axis): void {
  if (shape[1] === size || isPlain(formatOf(dtype))) return;
  throw new UnsupportedModelError(
    `${name}: each ${stored} of its columns must be padded to ${padded}, which is not possible in ${dtype}. ` +
      'Use a file of the model in F32, F16 or BF16, and quantize it while it loads.',
  );
}

/** Reorders a vector like the rows of its matrix, whose halves become adjacent pairs (shaders/load/chunk_rows.wgsl). */
function rotaryOrder(values: Float32Array<ArrayBuffer>, headDim: number, rotaryDim: number): Float32Array<ArrayBuffer> {
  return values.map((value, row) => {
    const j = row % headDim;
    return j < rotaryDim ? values[row - j + (j % 2) * (rotaryDim / 2) + Math.floor(j / 2)] : value;
  });
}
