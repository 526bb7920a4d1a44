// Models that no file describes: a shape's configuration, and what it costs in bytes and operations. Pure.

import type { KvType } from '../../../src/attention/kv_layout';
import { GpuMemoryError, InvalidRequestError } from '../../../src/errors';
import { xqBytes } from '../../../src/kernels/elementwise/quantize_activations';
import { BLOCK, planeBytes, planParts } from '../../../src/kernels/linear/weight_format';
import { passTokens } from '../../../src/model/buffers';
import { PLAIN } from '../../../src/model/config/architectures';
import { type ModelConfig, sameLayers } from '../../../src/model/config/config';
import { kvBytesPerToken } from '../../../src/model/kv/kv_cache';
import { matrixBytes } from '../../../src/model/weights/step_bytes';
import type { ModelBytes, Quant, ShapeName } from '../../report';
import { MODELS } from '../../shapes';

export function syntheticConfig(name: ShapeName, contextLength: number): ModelConfig {
  return {
    ...PLAIN,
    ...MODELS[name],
    architecture: name,
    rmsNormEps: 1e-5,
    ropes: [{ theta: 500_000, scaling: null }],
    layers: sameLayers(MODELS[name].nLayers),
    attentionScale: MODELS[name].headDim ** -0.5,
    rotary: 'interleaved',
    contextLength,
    qkvBias: false,
    outputBias: false,
    mlpBias: false,
  };
}

/** A matrix (rows, cols) that a step reads once, `count` times over. */
export interface MatrixShape {
  kind: 'qkv' | 'o' | 'gate_up' | 'down' | 'head';
  rows: number;
  cols: number;
  count: number;
  /** RMSNorm in front, whose weight is read, too. */
  normed: boolean;
}

export function matrixShapes(config: ModelConfig): MatrixShape[] {
  const { nLayers: count, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim, vocabSize } = config;
  const qSize = nHeads * headDim;
  return [
    { kind: 'qkv', rows: qSize + 2 * nKvHeads * headDim, cols: hiddenSize, count, normed: true },
    { kind: 'o', rows: hiddenSize, cols: qSize, count, normed: false },
    { kind: 'gate_up', rows: 2 * intermediateSize, cols: hiddenSize, count, normed: true },
    { kind: 'down', rows: hiddenSize, cols: intermediateSize, count, normed: false },
    { kind: 'head', rows: vocabSize, cols: hiddenSize, count: 1, normed: true },
  ];
}

function matricesBytes(quant: Quant, { count, ...shape }: MatrixShape): number {
  return count * matrixBytes({ ...shape, format: quant, biased: false });
}

/**
 * Bytes that a decode step has to read once, by kind of dispatch; kinds that read neither weights nor cache are absent.
 */
export function stepBytes(config: ModelConfig, quant: Quant, kvType: KvType, kvLen: number): Map<string, number> {
  const row = planeBytes(quant, 1, config.hiddenSize);
  return new Map<string, number>([
    ['embed', row.weights + row.scales],
    ['attention', kvBytesPerToken(config, kvType) * kvLen],
    ...matrixShapes(config).map((shape) => [shape.kind, matricesBytes(quant, shape)] as const),
  ]);
}

/** Floating-point operations of a prefill: two for each weight and token that it multiplies, and causal attention. */
export function prefillOperations(config: ModelConfig, nTokens: number): number {
  const { nLayers, nHeads, headDim } = config;
  const pairs = (nLayers - 1) * ((nTokens * (nTokens + 1)) / 2) + nTokens; // of a query and a key
  const attention = pairs * 4 * headDim * nHeads;
  return [...productOperations(config, nTokens).values()].reduce((sum, operations) => sum + operations, attention);
}

/**
 * The operations of each kind of product over all layers. `last_token`: what a prompt does for its last token alone,
 * which is the last layer behind q, k and v, and the head.
 */
export function productOperations(config: ModelConfig, nTokens: number): Map<string, number> {
  const shapes = matrixShapes(config);
  const isPrompt = nTokens > 1;
  const ofLast = isPrompt ? shapes.filter(({ kind }) => kind !== 'qkv') : [];
  const operations = shapes.map(({ kind, rows, cols, count }) => {
    const matrices = isPrompt && kind !== 'qkv' ? count - 1 : count;
    return [kind, 2 * rows * cols * matrices * nTokens] as const;
  });
  return new Map([...operations, ['last_token', ofLast.reduce((sum, { rows, cols }) => sum + 2 * rows * cols, 0)]]);
}

/** The memory that loading will ask for; the activations are exact up to the scratch memory of kernels. */
export function modelBytes(
  config: ModelConfig,
  quant: Quant,
  kvType: KvType,
  contextLength: number,
  bindingLimit: number,
): ModelBytes {
  const { tiedEmbedding, vocabSize, hiddenSize } = config;
  const table = planeBytes(quant, vocabSize, hiddenSize);
  const read = matrixShapes(config).reduce((sum, shape) => sum + matricesBytes(quant, shape), 0);
  return {
    weights: read + (tiedEmbedding ? 0 : table.weights + table.scales),
    kvCache: kvBytesPerToken(config, kvType) * contextLength,
    activations: largestBuffers(config, contextLength, bindingLimit).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function largestBuffers(config: ModelConfig, contextLength: number, bindingLimit: number) {
  const { hiddenSize, intermediateSize, nHeads, headDim, vocabSize } = config;
  const qSize = nHeads * headDim;
  const floats = hiddenSize + 2 * qSize + intermediateSize;
  const rows = passTokens({ bindingLimit }, config, contextLength);
  return [
    { what: 'A chunk of activations', bytes: 4 * rows * floats },
    { what: 'A chunk in signed bytes', bytes: xqBytes(rows, Math.max(hiddenSize, qSize, intermediateSize)) },
    { what: 'The logits', bytes: 4 * vocabSize },
    { what: 'The table of rotary angles', bytes: 4 * headDim * contextLength },
  ];
}

/** Values of a block of a K-quant. */
const K_BLOCK = 256;

const REMEDY = 'Choose a smaller shape, --quant or --context.';

/**
 * Refuses what no allocation could give: a buffer that passes what one binding holds. Matrices may come in parts.
 * @throws GpuMemoryError with the bytes, before anything is allocated; InvalidRequestError for rows that are no whole
 * blocks
 */
export function checkFits(
  config: ModelConfig,
  quant: Quant,
  kvType: KvType,
  contextLength: number,
  limit: number,
): void {
  const narrow = matrixShapes(config).find(({ cols }) => quant.endsWith('_k') && cols % K_BLOCK !== 0);
  if (narrow) {
    const why = `${quant} comes in blocks of ${K_BLOCK}, and rows of ${narrow.kind} have ${narrow.cols}`;
    throw new InvalidRequestError(`${why}. Choose another --quant or --shape.`);
  }
  for (const { kind, rows, cols } of matrixShapes(config)) planParts(`the ${kind} matrix`, quant, rows, cols, limit);
  const cache = (kvBytesPerToken(config, kvType) * contextLength) / (2 * config.nLayers);
  const buffers = [{ what: 'The key cache of a layer', bytes: cache }, ...largestBuffers(config, contextLength, limit)];
  const tooLarge = buffers.find(({ bytes }) => bytes > limit);
  if (tooLarge) throw new GpuMemoryError(tooLarge.what, tooLarge.bytes, limit, REMEDY);
}

/** Standard deviation of a product with activations of RMS 1, about: neither explodes nor vanishes over the layers. */
const GAIN = 0.5;
/**
 * The standard deviation of integers drawn evenly from 0 .. 15 less 8 (q4) or from -128 .. 127 (q8), and of those that
 * random_scales multiplies with small ones.
 */
const DEVIATION = { q4: 4.6, q8: 74, q4_k: 4.6 * 36.5, q5_k: 9.2 * 36.5, q6_k: 18.5 * 9.2 };

/** The scale of a block, or for f16 the largest weight. */
export function weightScale(quant: Quant, cols: number): number {
  const deviation = quant === 'f16' ? 1 / Math.sqrt(3) : DEVIATION[quant];
  return GAIN / (deviation * Math.sqrt(Math.max(cols, BLOCK)));
}
