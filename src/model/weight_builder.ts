// The way of tensors to the GPU: stacked matrices in the layout of the kernels, and small vectors gathered into one buffer.

import { dequantise } from '../cpu/dequantise';
import { GPU_COPY_DST, GPU_STORAGE, type Gpu } from '../gpu/device';
import { FILE_TYPES, fileRowBytes } from '../kernels/file_types';
import { isPlain, type QuantisedFormat } from '../kernels/quantise_weights';
import { Repacker, type RepackTarget } from '../kernels/repack';
import {
  type FormatRange,
  planeBytes,
  planParts,
  type WeightFormat,
  type WeightMatrix,
} from '../kernels/weight_format';
import type { ModelFiles, TensorDtype, TensorInfo } from '../storage/model_file';

const formatOf = (dtype: TensorDtype): WeightFormat => FILE_TYPES[dtype].format;

/** Whether quantising would change this matrix: those that are quantised in the file stay as they are. */
export function isPlainMatrix(tensor: TensorInfo): boolean {
  return isPlain(formatOf(tensor.dtype));
}

/** One tensor's way to the GPU. Run in the order of the file, so that it is read once from front to back. */
type Job = () => Promise<void>;

/** A tensor's place among the rows of a stacked matrix. */
export interface Part {
  tensor: TensorInfo;
  dstRow0?: number;
  dstStride?: number;
  /** Rows of each head that turn, where their pairs are to be made adjacent; left out: rows stay in their order. */
  rotaryDim?: number;
}

/** A vector's place among others; `plus` is added to its values. */
export interface VectorPart extends Part {
  plus?: number;
}

export class WeightBuilder {
  private readonly jobs = new Map<string, Job[]>();
  private readonly uploads: (() => void)[] = [];
  private readonly repacker: Repacker;

  constructor(
    private readonly gpu: Gpu,
    /** Rows of a head: what rotary pairs lie within. */
    private readonly headDim: number,
    private readonly quantise: QuantisedFormat | null,
  ) {
    this.repacker = new Repacker(gpu);
  }

  /** Allocates a matrix of the stacked rows of `parts` and queues their reading. */
  matrix(label: string, parts: readonly Part[]): WeightMatrix {
    const { gpu } = this;
    const cols = parts[0].tensor.shape[1];
    const rows = parts.reduce((sum, part) => sum + part.tensor.shape[0], 0);
    const usage = GPU_STORAGE | GPU_COPY_DST;
    const plan = this.formatRanges(parts).flatMap(({ format, row0, rows }) =>
      planParts(`weights.${label}`, format, rows, cols, gpu.bindingLimit).map(
        (range): FormatRange => ({ format, row0: row0 + range.row0, rows: range.rows }),
      ),
    );
    const chunks = plan.map((range) => {
      const bytes = planeBytes(range.format, range.rows, cols);
      const name = plan.length === 1 ? `weights.${label}` : `weights.${label}.rows_${range.row0}`;
      const weights = gpu.createBuffer(name, bytes.weights, usage);
      return { ...range, weights, scales: gpu.createBuffer(`${name}.scales`, bytes.scales, usage) };
    });
    const matrix = { rows, cols, parts: chunks };
    for (const part of parts) this.queue(part.tensor, () => this.readRows(part, matrix));
    return matrix;
  }

  /** Whether rows of both can be multiplied in turns: they lie in one format. */
  areAlike(a: TensorInfo, b: TensorInfo): boolean {
    return this.formatOf(a) === this.formatOf(b);
  }

  /** The rows of stacked tensors by their format, neighbours of one format together. Tensors in turns are alike. */
  private formatRanges(parts: readonly Part[]): FormatRange[] {
    const ranges: FormatRange[] = [];
    for (const { tensor, dstRow0 = 0 } of parts) {
      const format = this.formatOf(tensor);
      const last = ranges.at(-1);
      if (last?.format === format) last.rows += tensor.shape[0];
      else ranges.push({ format, row0: dstRow0, rows: tensor.shape[0] });
    }
    return ranges;
  }

  private formatOf(tensor: TensorInfo): WeightFormat {
    return this.quantise && isPlainMatrix(tensor) ? this.quantise : formatOf(tensor.dtype);
  }

  /** Allocates a buffer of `size` f32 for small vectors, which are gathered on the CPU and uploaded once all are read. */
  vectors(label: string, size: number, parts: readonly VectorPart[]): GPUBuffer {
    const values = new Float32Array(Math.ceil(size / 4) * 4); // the kernels read quads
    const buffer = this.gpu.createBuffer(`weights.${label}`, values.byteLength, GPU_STORAGE | GPU_COPY_DST);
    for (const { tensor, dstRow0 = 0, dstStride = 1, rotaryDim = 0, plus = 0 } of parts) {
      this.vector(tensor, (stored) => {
        const placed = rotaryDim > 0 ? rotaryOrder(stored, this.headDim, rotaryDim) : stored;
        for (let i = 0; i < placed.length; i++) values[dstRow0 + i * dstStride] = placed[i] + plus;
      });
    }
    this.uploads.push(() => this.gpu.write(buffer, values));
    return buffer;
  }

  /** Queues the reading of a small tensor as f32. */
  vector(tensor: TensorInfo, use: (values: Float32Array<ArrayBuffer>) => void): void {
    this.queue(tensor, async () => {
      const bytes = await tensor.read(0, tensor.byteLength);
      use(dequantise(tensor.dtype, bytes) as Float32Array<ArrayBuffer>);
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
    for (const upload of this.uploads) upload();
    this.repacker.destroy();
  }

  private queue(tensor: TensorInfo, job: Job): void {
    this.jobs.set(tensor.name, [...(this.jobs.get(tensor.name) ?? []), job]);
  }

  private async readRows(part: Part, matrix: WeightMatrix): Promise<void> {
    const { headDim } = this;
    const { tensor, dstRow0 = 0, dstStride = 1, rotaryDim = 0 } = part;
    const [rows, cols] = tensor.shape;
    const stored = tensor.dtype;
    const rowBytes = fileRowBytes(stored, cols);
    const rowsPerChunk = Math.floor(this.repacker.stagingBytes / rowBytes);
    for (let srcRow0 = 0; srcRow0 < rows; srcRow0 += rowsPerChunk) {
      const n = Math.min(rowsPerChunk, rows - srcRow0);
      const bytes = (await tensor.read(srcRow0 * rowBytes, n * rowBytes)) as Uint8Array<ArrayBuffer>;
      const target: RepackTarget = { matrix, stored, srcRow0, rows: n, dstRow0, dstStride, rotaryDim, headDim };
      await this.repacker.repack(bytes, target);
    }
  }
}

/** Vectors follow the rows of their matrix: where halves become adjacent pairs (shaders/lib/chunk_rows.wgsl), so do they. */
function rotaryOrder(values: Float32Array<ArrayBuffer>, headDim: number, rotaryDim: number): Float32Array<ArrayBuffer> {
  return values.map((value, row) => {
    const j = row % headDim;
    return j < rotaryDim ? values[row - j + (j % 2) * (rotaryDim / 2) + Math.floor(j / 2)] : value;
  });
}
