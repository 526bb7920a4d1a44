import { type RopeFactors, rotaryDimOf } from '../cpu/rope';
import type { Gpu } from '../gpu/device';
import type { QuantisedFormat } from '../kernels/quantise_weights';
import { formatRuns, type WeightMatrix } from '../kernels/weight_format';
import type { ModelFiles, TensorInfo } from '../storage/model_file';
import type { ModelConfig } from './config';
import type { LayerTensors, ModelTensors } from './tensors';
import { isPlainMatrix, type Part, type VectorPart, WeightBuilder } from './weight_builder';

export type { QuantisedFormat };
export { isPlainMatrix };

/** A matrix and the small f32 vectors beside it. */
export interface Product {
  matrix: WeightMatrix;
  /** Norm weight of its input where it is normed, then bias. */
  params: GPUBuffer;
  normed: boolean;
  biased: boolean;
  /** Weights of an RMSNorm of what comes out: of q, then of k (qkv), or of what is added to the residual stream (o, down). */
  outputNorm: GPUBuffer | null;
}

export interface LayerWeights {
  /** Rows of Wq, Wk, Wv stacked, rotary pairs adjacent; params: attention norm, then biases. */
  qkv: Product;
  o: Product;
  /** Rows of gate and up in turns, or where their formats differ (`isInTurns`) one behind the other; params: MLP norm, then biases. */
  gateUp: Product;
  down: Product;
}

export interface ModelWeights {
  embedding: WeightMatrix;
  layers: LayerWeights[];
  /** The same matrix as the embedding when tied; params: final norm. */
  head: Product;
  /** Of a GGUF, once read; or null. */
  ropeFactors: RopeFactors | null;
  bytes: number;
}

/** Whether the rows of gate and up are neighbours, so that who multiplies them has both. */
export function isInTurns(gateUp: Product): boolean {
  return formatRuns(gateUp.matrix).length === 1;
}

/** Whether any matrix of the model is stored in full precision. */
export function hasPlainMatrix({ embedding, layers, head }: ModelTensors): boolean {
  const inLayers = layers.flatMap(({ wq, wk, wv, wo, wGate, wUp, wDown }) => [wq, wk, wv, wo, wGate, wUp, wDown]);
  return [embedding, ...inLayers, ...(head ? [head] : [])].some(isPlainMatrix);
}

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
    const builder = new WeightBuilder(gpu, config.headDim, quantise ?? null);
    const before = gpu.allocatedBytes; // the builder's staging is gone once the weights are there
    const embedding = builder.matrix('embedding', [{ tensor: tensors.embedding }]);
    const layers = tensors.layers.map((_, i) => layerWeights(builder, tensors, config, i));
    const headMatrix = tensors.head ? builder.matrix('head', [{ tensor: tensors.head }]) : embedding;
    const head = product(builder, 'head', headMatrix, { norm: plus(tensors.finalNorm, config.normOffset) });
    return { builder, bytes: gpu.allocatedBytes - before, embedding, layers, head };
  });
  const weights = { ...matrices, ropeFactors: tensors.ropeFactors && readFactors(builder, tensors.ropeFactors), bytes };
  return { weights, read: (files, signal) => builder.run(files, signal) };
}

/** Filled when the builder runs. */
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

function layerWeights(
  builder: WeightBuilder,
  { layers }: ModelTensors,
  config: ModelConfig,
  index: number,
): LayerWeights {
  const t = layers[index];
  const label = `layer.${index}`;
  const { normOffset } = config;
  const rotaryDim = reorderedDim(config, index);
  const [qRows, kvRows] = [t.wq.shape[0], t.wk.shape[0]];
  const heads = (q: TensorInfo | null, k: TensorInfo | null, v: TensorInfo | null) => [
    ...place(q, { rotaryDim }),
    ...place(k, { dstRow0: qRows, rotaryDim }),
    ...place(v, { dstRow0: qRows + kvRows }),
  ];
  const [dstRow0, dstStride] = builder.areAlike(t.wGate, t.wUp) ? [1, 2] : [t.wGate.shape[0], 1];
  const mlp = (gate: TensorInfo | null, up: TensorInfo | null) => [
    ...place(gate, { dstStride }),
    ...place(up, { dstRow0, dstStride }),
  ];
  const qkv = builder.matrix(`${label}.qkv`, heads(t.wq, t.wk, t.wv));
  const gateUp = builder.matrix(`${label}.gate_up`, mlp(t.wGate, t.wUp));
  const o = builder.matrix(`${label}.o`, place(t.wo));
  const down = builder.matrix(`${label}.down`, place(t.wDown));
  return {
    qkv: product(builder, `${label}.qkv`, qkv, {
      norm: plus(t.attnNorm, normOffset),
      biases: heads(t.bq, t.bk, t.bv),
      outputNorm: qkNorm(t, rotaryDim, normOffset),
    }),
    o: product(builder, `${label}.o`, o, { biases: place(t.bo), outputNorm: plus(t.postAttnNorm, normOffset) }),
    gateUp: product(builder, `${label}.gate_up`, gateUp, {
      norm: plus(t.mlpNorm, normOffset),
      biases: mlp(t.bGate, t.bUp),
    }),
    down: product(builder, `${label}.down`, down, {
      biases: place(t.bDown),
      outputNorm: plus(t.postMlpNorm, normOffset),
    }),
  };
}

/** Rows of a head whose pairs a layer's RoPE turns and the file keeps apart: in the half convention. */
function reorderedDim({ rotary, layers, ropes, headDim }: ModelConfig, index: number): number {
  const { rope } = layers[index];
  return rotary === 'half' && rope !== null ? rotaryDimOf(headDim, ropes[rope]) : 0;
}

/** A tensor's place, or none where the model has no such tensor. */
function place(tensor: TensorInfo | null, at: Omit<Part, 'tensor'> = {}): Part[] {
  return tensor ? [{ tensor, ...at }] : [];
}

function plus(norm: TensorInfo | null, offset: number): VectorPart[] {
  return norm ? [{ tensor: norm, plus: offset }] : [];
}

function qkNorm({ qNorm, kNorm }: LayerTensors, rotaryDim: number, offset: number): VectorPart[] {
  if (!qNorm || !kNorm) return [];
  const at = { rotaryDim, plus: offset };
  return [
    { tensor: qNorm, ...at },
    { tensor: kNorm, dstRow0: qNorm.shape[0], ...at },
  ];
}

/** The vectors beside a matrix. Biases come in the order of its rows. */
function product(
  builder: WeightBuilder,
  label: string,
  matrix: WeightMatrix,
  { norm = [], biases = [], outputNorm = [] }: Partial<Record<'norm' | 'biases' | 'outputNorm', readonly VectorPart[]>>,
): Product {
  const [normed, biased] = [norm.length > 0, biases.length > 0];
  const normSize = normed ? matrix.cols : 0;
  const params = builder.vectors(`${label}.params`, normSize + (biased ? matrix.rows : 0), [
    ...norm,
    ...biases.map(({ dstRow0 = 0, ...bias }) => ({ ...bias, dstRow0: normSize + dstRow0 })),
  ]);
  const outputSize = outputNorm.reduce((sum, { tensor }) => sum + tensor.shape[0], 0);
  const output = outputSize > 0 ? builder.vectors(`${label}.output_norm`, outputSize, outputNorm) : null;
  return { matrix, params, normed, biased, outputNorm: output };
}
