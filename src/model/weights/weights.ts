// The weights of a model on the GPU: allocates their buffers, and describes how tensors of the files are stacked in
// them.

import { type RopeFactors, rotaryDimOf } from '../../cpu/rope';
import type { Gpu } from '../../gpu/device';
import { formatRuns, type WeightMatrix } from '../../kernels/linear/weight_format';
import type { QuantizedFormat } from '../../kernels/load/file_types';
import type { TensorInfo } from '../../storage/formats/tensor';
import type { ModelFiles } from '../../storage/model_files';
import type { ModelConfig } from '../config/config';
import { type PaddedConfig, type Padding, padConfig, paddingOf } from '../padding';
import type { LayerTensors, ModelTensors } from './tensors';
import type { WeightArena } from './weight_arenas';
import {
  isPlainMatrix,
  type Place,
  rowAxis,
  type StackedMatrix,
  type VectorPlace,
  WeightBuilder,
} from './weight_builder';

export type { QuantizedFormat };
export { isPlainMatrix };

/** A matrix and its small f32 vectors. */
export interface LinearWeights {
  matrix: WeightMatrix;
  /** The norm weight of the input if `normed`, then the bias if `biased`. */
  params: GPUBuffer;
  normed: boolean;
  biased: boolean;
  /** Weights of an RMSNorm of the output: for qkv those of q, then of k; for o and down those of the whole output. */
  outputNorm: GPUBuffer | null;
}

export interface LayerWeights {
  /** Stacked rows of Wq, Wk and Wv, rotary pairs adjacent. params: the attention norm, then biases. */
  qkv: LinearWeights;
  o: LinearWeights;
  /**
   * Rows of gate and up, interleaved (gate, up, gate, up ...) if both have one format, else stacked. params: the MLP
   * norm, then biases.
   */
  gateUp: LinearWeights;
  down: LinearWeights;
}

export interface ModelWeights {
  embedding: WeightMatrix;
  layers: LayerWeights[];
  /** The buffers of the layers' matrices, in the order of the layers. A layer that fits no arena is in none. */
  arenas: readonly WeightArena[];
  /** The same matrix as the embedding if tied. params: the final norm. */
  head: LinearWeights;
  /** The linear layers behind the pooling, in f32 on the CPU, filled by `read`. */
  dense: readonly Float32Array[];
  /** The RoPE factors of a GGUF, filled by `read`, or null. */
  ropeFactors: RopeFactors | null;
  bytes: number;
}

/** True if rows of gate and up are neighbors, so that one epilogue gets both. */
export function isInterleaved(gateUp: LinearWeights): boolean {
  return formatRuns(gateUp.matrix).length === 1;
}

/** True if any matrix of the model is stored in full precision. */
export function hasPlainMatrix({ embedding, layers, head }: ModelTensors): boolean {
  const inLayers = layers.flatMap(({ wq, wk, wv, wo, wGate, wUp, wDown }) => [wq, wk, wv, wo, wGate, wUp, wDown]);
  return [embedding, ...inLayers, ...(head ? [head] : [])].some(isPlainMatrix);
}

type WeightSources = [tensors: ModelTensors, config: ModelConfig, quantize?: QuantizedFormat];

/**
 * Allocates every buffer before the first byte is read. `read` fills the buffers, in the order of the files. Matrices
 * stored as F32, F16 or BF16 are quantized to `quantize` on the way. Only the staging buffer ever holds them in full
 * precision.
 */
export async function allocateWeights(
  gpu: Gpu,
  ...[tensors, config, quantize]: WeightSources
): Promise<{ weights: ModelWeights; read: (files: ModelFiles, signal?: AbortSignal) => Promise<void> }> {
  const { builder, ...matrices } = await gpu.guardMemory('The weights', () =>
    createWeights(gpu, tensors, config, quantize),
  );
  const dense = readDense(builder, tensors.dense);
  const weights = {
    ...matrices,
    dense,
    ropeFactors: tensors.ropeFactors && readFactors(builder, tensors.ropeFactors),
  };
  return { weights, read: (files, signal) => builder.run(files, signal) };
}

/** The weights that `allocateWeights` would allocate, with buffers that are sizes alone, and all bytes of the load. */
export function planWeights(gpu: Gpu, ...of: WeightSources) {
  const { bytes, result } = gpu.measure(() => createWeights(gpu, ...of));
  return { ...result, allBytes: bytes };
}

/** Creates the buffers, and queues the reading of what they hold. */
function createWeights(gpu: Gpu, ...[tensors, config, quantize]: WeightSources) {
  const padded = padConfig(config);
  const padding = paddingOf(config, padded);
  const builder = new WeightBuilder(gpu, padded.headDim, quantize ?? null);
  const before = gpu.allocatedBytes; // the builder's staging is gone once the weights are there
  const embedding = builder.matrix('embedding', [{ tensor: tensors.embedding }], padding.hidden);
  const planned = tensors.layers.map((_, i) => planLayer(builder, tensors, padded, padding, i));
  const { arenas, matrices } = builder.layers(planned.map(({ matrices }) => matrices));
  const layers = planned.map(({ complete }, i) => complete(matrices[i]));
  const headMatrix = tensors.head ? builder.matrix('head', [{ tensor: tensors.head }], padding.hidden) : embedding;
  const norm = hiddenNorm(padded, padding);
  const head = product(builder, 'head', headMatrix, { norm: norm(tensors.finalNorm) });
  return { builder, bytes: gpu.allocatedBytes - before, embedding, layers, arenas, head };
}

/** The factors, filled when the builder runs. */
function readFactors(builder: WeightBuilder, tensors: NonNullable<ModelTensors['ropeFactors']>): RopeFactors {
  const factors: RopeFactors = { all: null, short: null, long: null };
  for (const kind of ['all', 'short', 'long'] as const) {
    const tensor = tensors[kind];
    if (!tensor) continue;
    builder.vector(tensor, (values) => {
      factors[kind] = values;
    });
  }
  return factors;
}

/** The matrices behind the pooling, filled when the builder runs. */
function readDense(builder: WeightBuilder, tensors: readonly TensorInfo[]): Float32Array[] {
  const dense = tensors.map(() => new Float32Array(0));
  for (const [i, tensor] of tensors.entries()) {
    builder.vector(tensor, (values) => {
      dense[i] = values;
    });
  }
  return dense;
}

/** The four matrices of a layer, without buffers, and what makes its weights of them once they have some. */
interface PlannedLayer {
  /** qkv, o, gateUp, down. */
  matrices: readonly StackedMatrix[];
  complete(matrices: readonly WeightMatrix[]): LayerWeights;
}

function planLayer(
  builder: WeightBuilder,
  { layers }: ModelTensors,
  config: PaddedConfig,
  padding: Padding,
  index: number,
): PlannedLayer {
  const t = layers[index];
  const label = `layer.${index}`;
  const norm = hiddenNorm(config, padding);
  const rotaryDim = reorderedDim(config, index);
  const { hidden, intermediate, q: qAxis, kv: kvAxis } = padding;
  const heads = (q: TensorInfo | null, k: TensorInfo | null, v: TensorInfo | null) => [
    ...place(q, { rotaryDim, axis: qAxis }),
    ...place(k, { dstRow0: qAxis.size, rotaryDim, axis: kvAxis }),
    ...place(v, { dstRow0: qAxis.size + kvAxis.size, axis: kvAxis }),
  ];
  const [dstRow0, dstStride] = builder.areAlike(t.wGate, t.wUp) ? [1, 2] : [intermediate.size, 1];
  const mlp = (gate: TensorInfo | null, up: TensorInfo | null) => [
    ...place(gate, { dstStride, axis: intermediate }),
    ...place(up, { dstRow0, dstStride, axis: intermediate }),
  ];
  const added = (tensor: TensorInfo | null) => place(tensor, { axis: hidden });
  const matrices = [
    builder.plan(`${label}.qkv`, heads(t.wq, t.wk, t.wv), hidden),
    builder.plan(`${label}.o`, added(t.wo), qAxis),
    builder.plan(`${label}.gate_up`, mlp(t.wGate, t.wUp), hidden),
    builder.plan(`${label}.down`, added(t.wDown), intermediate),
  ];
  const complete = ([qkv, o, gateUp, down]: readonly WeightMatrix[]): LayerWeights => ({
    qkv: product(builder, `${label}.qkv`, qkv, {
      norm: norm(t.attnNorm),
      biases: heads(t.bq, t.bk, t.bv),
      outputNorm: qkNorm(t, rotaryDim, config, padding),
    }),
    o: product(builder, `${label}.o`, o, { biases: added(t.bo), outputNorm: norm(t.postAttnNorm) }),
    gateUp: product(builder, `${label}.gate_up`, gateUp, { norm: norm(t.mlpNorm), biases: mlp(t.bGate, t.bUp) }),
    down: product(builder, `${label}.down`, down, { biases: added(t.bDown), outputNorm: norm(t.postMlpNorm) }),
  });
  return { matrices, complete };
}

/** Number of rows of a head to reorder: those that turn, if the file keeps their pairs apart (half convention). */
function reorderedDim({ rotary, layers, ropes, headDim }: ModelConfig, index: number): number {
  const { rope } = layers[index];
  return rotary === 'half' && rope !== null ? rotaryDimOf(headDim, ropes[rope]) : 0;
}

/** The place of a tensor, or an empty list if the model has no such tensor. */
function place(tensor: TensorInfo | null, at: Omit<Place, 'tensor'> = {}): Place[] {
  return tensor ? [{ tensor, ...at }] : [];
}

/** Makes the weights of norms over the hidden size. */
function hiddenNorm({ normOffset: plus }: ModelConfig, { hidden: axis, hiddenTimes: times }: Padding) {
  return (tensor: TensorInfo | null): VectorPlace[] => (tensor ? [{ tensor, axis, plus, times }] : []);
}

function qkNorm(
  { qNorm, kNorm }: LayerTensors,
  rotaryDim: number,
  { qkNorm: kind, normOffset: plus }: ModelConfig,
  { q, kv, head, qkTimes: times }: Padding,
): VectorPlace[] {
  if (!qNorm || !kNorm) return [];
  const [qAxis, kAxis] = kind === 'vector' ? [q, kv] : [head, head];
  const at = { rotaryDim, plus, times };
  return [
    { tensor: qNorm, axis: qAxis, ...at },
    { tensor: kNorm, axis: kAxis, dstRow0: qAxis.size, ...at },
  ];
}

/** Adds the vectors of a matrix. Biases come in the order of its rows. */
function product(
  builder: WeightBuilder,
  label: string,
  matrix: WeightMatrix,
  {
    norm = [],
    biases = [],
    outputNorm = [],
  }: Partial<Record<'norm' | 'biases' | 'outputNorm', readonly VectorPlace[]>>,
): LinearWeights {
  const [normed, biased] = [norm.length > 0, biases.length > 0];
  const normSize = normed ? matrix.cols : 0;
  const params = builder.vectors(`${label}.params`, normSize + (biased ? matrix.rows : 0), [
    ...norm,
    ...biases.map(({ dstRow0 = 0, ...bias }) => ({ ...bias, dstRow0: normSize + dstRow0 })),
  ]);
  const outputSize = outputNorm.reduce((sum, vector) => sum + rowAxis(vector).size, 0);
  const output = outputSize > 0 ? builder.vectors(`${label}.output_norm`, outputSize, outputNorm) : null;
  return { matrix, params, normed, biased, outputNorm: output };
}
