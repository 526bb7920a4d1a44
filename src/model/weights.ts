import { dequantise } from '../cpu/dequantise';
import { UnsupportedModelError } from '../errors';
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
import type { ModelConfig } from './config';
import type { LayerTensors, ModelTensors } from './tensors';

/** A matrix and the small f32 vector beside it: norm weight of its input where it has one, then bias. */
export interface Product {
  matrix: WeightMatrix;
  params: GPUBuffer;
  biased: boolean;
}

export interface LayerWeights {
  /** Rows of Wq, Wk, Wv stacked, rotary pairs adjacent; params: attention norm, then biases. */
  qkv: Product;
  o: Product;
  /** Rows of gate and up interleaved; params: MLP norm, then biases. */
  gateUp: Product;
  down: Product;
}

export interface ModelWeights {
  embedding: WeightMatrix;
  layers: LayerWeights[];
  /** The same matrix as the embedding when tied; params: final norm. */
  head: Product;
  /** (head_dim / 2) of a GGUF, once read; or null. */
  ropeFactors: Float32Array | null;
  bytes: number;
}

const formatOf = (dtype: TensorDtype): WeightFormat => FILE_TYPES[dtype].format;

export type { QuantisedFormat };

/** Whether quantising would change this matrix: those that are quantised in the file stay as they are. */
export function isPlainMatrix(tensor: TensorInfo): boolean {
  return isPlain(formatOf(tensor.dtype));
}

/** Whether any matrix of the model is stored in full precision. */
export function hasPlainMatrix({ embedding, layers, head }: ModelTensors): boolean {
  const inLayers = layers.flatMap(({ wq, wk, wv, wo, wGate, wUp, wDown }) => [wq, wk, wv, wo, wGate, wUp, wDown]);
  return [embedding, ...inLayers, ...(head ? [head] : [])].some(isPlainMatrix);
}

/** One tensor's way to the GPU. Run in the order of the file, so that it is read once from front to back. */
type Job = () => Promise<void>;

/**
 * Allocates every buffer before the first byte is read. `read` fills them, from front to back of the files. Matrices stored as
 * F32, F16 or BF16 are quantised to `quantise` on their way; nothing but the staging buffer ever holds them in full.
 */
export async function allocateWeights(
  gpu: Gpu,
  tensors: ModelTensors,
  config: ModelConfig,
  quantise?: QuantisedFormat,
): Promise<{ weights: ModelWeights; read: (files: ModelFiles, signal?: AbortSignal) => Promise<void> }> {
  const { builder, bytes, ...matrices } = await gpu.guardMemory('The weights', () => {
    const builder = new WeightBuilder(gpu, config, quantise ?? null);
    const before = gpu.allocatedBytes; // the builder's staging is gone once the weights are there
    const embedding = builder.matrix('embedding', [{ tensor: tensors.embedding }]);
    const layers = tensors.layers.map((layer, i) => builder.layer(`layer.${i}`, layer));
    const headMatrix = tensors.head ? builder.matrix('head', [{ tensor: tensors.head }]) : embedding;
    const head = builder.product('head', headMatrix, tensors.finalNorm);
    return { builder, bytes: gpu.allocatedBytes - before, embedding, layers, head };
  });
  const ropeFactors = tensors.ropeFactors ? new Float32Array(config.headDim / 2) : null;
  if (tensors.ropeFactors) builder.vector(tensors.ropeFactors, (values) => ropeFactors?.set(values));
  const weights = { ...matrices, ropeFactors, bytes };
  return { weights, read: (files, signal) => builder.run(files, signal) };
}

/** A tensor's place among the rows of a stacked matrix. */
interface Part {
  tensor: TensorInfo;
  dstRow0?: number;
  dstStride?: number;
  rotary?: boolean;
}

/** A bias goes where the rows of its matrix go; null where the model has none. */
type BiasPart = Omit<Part, 'tensor'> & { tensor: TensorInfo | null };

class WeightBuilder {
  private readonly jobs = new Map<string, Job[]>();
  private readonly uploads: (() => void)[] = [];
  private readonly repacker: Repacker;

  constructor(
    private readonly gpu: Gpu,
    private readonly config: ModelConfig,
    private readonly quantise: QuantisedFormat | null,
  ) {
    this.repacker = new Repacker(gpu);
  }

  layer(label: string, t: LayerTensors): LayerWeights {
    const qRows = t.wq.shape[0];
    const kvRows = t.wk.shape[0];
    const qkv = this.matrix(`${label}.qkv`, [
      { tensor: t.wq, rotary: true },
      { tensor: t.wk, dstRow0: qRows, rotary: true },
      { tensor: t.wv, dstRow0: qRows + kvRows },
    ]);
    const gateUp = this.matrix(`${label}.gate_up`, [
      { tensor: t.wGate, dstStride: 2 },
      { tensor: t.wUp, dstRow0: 1, dstStride: 2 },
    ]);
    const o = this.matrix(`${label}.o`, [{ tensor: t.wo }]);
    const down = this.matrix(`${label}.down`, [{ tensor: t.wDown }]);
    return {
      qkv: this.product(`${label}.qkv`, qkv, t.attnNorm, [
        { tensor: t.bq, rotary: true },
        { tensor: t.bk, dstRow0: qRows, rotary: true },
        { tensor: t.bv, dstRow0: qRows + kvRows },
      ]),
      o: this.product(`${label}.o`, o, null, [{ tensor: t.bo }]),
      gateUp: this.product(`${label}.gate_up`, gateUp, t.mlpNorm, [
        { tensor: t.bGate, dstStride: 2 },
        { tensor: t.bUp, dstRow0: 1, dstStride: 2 },
      ]),
      down: this.product(`${label}.down`, down, null, [{ tensor: t.bDown }]),
    };
  }

  /** Allocates a matrix of the stacked rows of `parts` and queues their reading. */
  matrix(label: string, parts: Part[]): WeightMatrix {
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

  /** The rows of stacked tensors by their format, neighbours of one format together. Interleaved tensors must be alike. */
  private formatRanges(parts: readonly Part[]): FormatRange[] {
    const ranges: FormatRange[] = [];
    const [{ tensor: first }] = parts;
    for (const { tensor, dstRow0 = 0, dstStride = 1 } of parts) {
      const format = this.formatOf(tensor);
      const last = ranges.at(-1);
      if (last?.format === format) {
        last.rows += tensor.shape[0];
      } else if (last && dstStride > 1) {
        throw new UnsupportedModelError(
          `${first.name} is ${first.dtype} but ${tensor.name} is ${tensor.dtype}: their rows are multiplied in turns ` +
            'and must be stored alike. Use a file that has both in one format.',
        );
      } else {
        ranges.push({ format, row0: dstRow0, rows: tensor.shape[0] });
      }
    }
    return ranges;
  }

  private formatOf(tensor: TensorInfo): WeightFormat {
    return this.quantise && isPlainMatrix(tensor) ? this.quantise : formatOf(tensor.dtype);
  }

  /** The vectors of a product, gathered on the CPU and uploaded once all are read. Biases come in the order of the rows. */
  product(label: string, matrix: WeightMatrix, norm: TensorInfo | null, biases: BiasPart[] = []): Product {
    const present = biases.filter((bias) => bias.tensor !== null);
    const normSize = norm ? matrix.cols : 0;
    const size = normSize + (present.length > 0 ? matrix.rows : 0);
    const values = new Float32Array(Math.ceil(size / 4) * 4); // the kernels read quads
    const params = this.gpu.createBuffer(`weights.${label}.params`, values.byteLength, GPU_STORAGE | GPU_COPY_DST);
    if (norm) this.vector(norm, (weight) => values.set(weight));
    for (const { tensor, rotary, dstRow0 = 0, dstStride = 1 } of present) {
      this.vector(tensor as TensorInfo, (bias) => {
        const placed = rotary ? rotaryOrder(bias, this.config) : bias;
        for (let i = 0; i < placed.length; i++) values[normSize + dstRow0 + i * dstStride] = placed[i];
      });
    }
    this.uploads.push(() => this.gpu.write(params, values));
    return { matrix, params, biased: present.length > 0 };
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
    const { tensor, dstRow0 = 0, dstStride = 1 } = part;
    const [rows, cols] = tensor.shape;
    const rotaryDim = part.rotary && this.config.rotary === 'half' ? this.config.headDim : 0;
    const stored = tensor.dtype;
    const rowBytes = fileRowBytes(stored, cols);
    const rowsPerChunk = Math.floor(this.repacker.stagingBytes / rowBytes);
    for (let srcRow0 = 0; srcRow0 < rows; srcRow0 += rowsPerChunk) {
      const n = Math.min(rowsPerChunk, rows - srcRow0);
      const bytes = (await tensor.read(srcRow0 * rowBytes, n * rowBytes)) as Uint8Array<ArrayBuffer>;
      const target: RepackTarget = { matrix, stored, srcRow0, rows: n, dstRow0, dstStride, rotaryDim };
      await this.repacker.repack(bytes, target);
    }
  }
}

/** Biases follow their rows: where halves become adjacent pairs, so do they. */
function rotaryOrder(values: Float32Array<ArrayBuffer>, config: ModelConfig): Float32Array<ArrayBuffer> {
  if (config.rotary === 'interleaved') return values;
  const { headDim } = config;
  return values.map((_, row) => {
    const j = row % headDim;
    return values[row - j + (j % 2) * (headDim / 2) + Math.floor(j / 2)];
  });
}
