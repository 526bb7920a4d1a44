// Every kernel of the engine at the sizes of the storyteller: how a model would compile it.

import type { AttentionName, AttentionShape } from '../../src/attention/attention';
import { createAttention } from '../../src/attention/create';
import { type KvType, kvLayerBytes as kvLayerBytesOf } from '../../src/attention/kv_layout';
import { rangeStride } from '../../src/gpu/buffer_range';
import type { Gpu } from '../../src/gpu/device';
import { createAdvance } from '../../src/kernels/constraint/advance';
import { createMask } from '../../src/kernels/constraint/mask';
import { createEmbed } from '../../src/kernels/elementwise/embed';
import { createGatedUnit } from '../../src/kernels/elementwise/gated_unit';
import { createNormRope } from '../../src/kernels/elementwise/norm_rope';
import { createPostNorm } from '../../src/kernels/elementwise/post_norm';
import { createQuantizeActivations } from '../../src/kernels/elementwise/quantize_activations';
import { createLinear } from '../../src/kernels/linear/create_linear';
import { type Activation, gateUpEpilogue } from '../../src/kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_q8';
import { gateUpTileQ8Epilogue } from '../../src/kernels/linear/epilogues/gate_up_tile_q8';
import { headEpilogue } from '../../src/kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../src/kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../src/kernels/linear/epilogues/residual';
import { STORE } from '../../src/kernels/linear/epilogues/store';
import type { Epilogue } from '../../src/kernels/linear/linear';
import { hasIntegers } from '../../src/kernels/linear/matmul_q8';
import type { MatvecInput } from '../../src/kernels/linear/matvec';
import type { WeightFormat } from '../../src/kernels/linear/weight_format';
import { FILE_TYPES, type FileType } from '../../src/kernels/load/file_types';
import { createRepack } from '../../src/kernels/load/repack';
import { createLogitBias } from '../../src/kernels/sampling/logit_bias';
import { createLogprobParts } from '../../src/kernels/sampling/logprob_parts';
import { createLogprobs } from '../../src/kernels/sampling/logprobs';
import { createMaxima } from '../../src/kernels/sampling/maxima';
import { createPenalties } from '../../src/kernels/sampling/penalties';
import { createSample } from '../../src/kernels/sampling/sample';
import { Step } from '../../src/kernels/step/step';
import type { StepAttention } from '../../src/kernels/step/step_plan';
import { PLACES_RING } from '../../src/model/output/constrainer';
import { LOGPROBS_RING, MAX_LOGPROBS } from '../../src/sampling/logprobs';

/** The choices that a model or a load makes; the defaults are the storyteller's. */
export interface KernelOptions {
  format: WeightFormat;
  activations: 'q8' | 'f32';
  /** A pass of many tokens. */
  prefill: boolean;
  kvType: KvType;
  activation: Activation;
  softcap: number | null;
  windowed: boolean;
  /** The type in the file, for `repack`. */
  fileType: FileType;
}

export const DEFAULTS: KernelOptions = {
  format: 'q8',
  activations: 'q8',
  prefill: false,
  kvType: 'f16',
  activation: 'silu',
  softcap: null,
  windowed: false,
  fileType: 'Q8_0',
};

const HIDDEN = 384;
const INTERMEDIATE = 1024;
const VOCABULARY = 4096;
const EPS = 1e-5;
const HEADS = { nHeads: 6, nKvHeads: 2, headDim: 64, contextLength: 1024 };
const PREFILL_TOKENS = 512;

type Create = (gpu: Gpu, options: KernelOptions) => Promise<unknown>;

interface Projection {
  rows: number;
  cols: number;
  /** The input is normalized on its way. */
  normed: boolean;
  /** The form of quantized activations in a pass of one token. */
  input: MatvecInput;
  epilogue: Epilogue;
}

/** A projection with a weight matrix, as the options want it multiplied. */
function createProjection(gpu: Gpu, options: KernelOptions, projection: Projection): Promise<unknown> {
  const { rows, cols, normed, epilogue } = projection;
  const { format, prefill, activations } = options;
  const shape = { rows, cols, format, normEps: normed ? EPS : null, bias: false };
  const quantized = activations === 'q8' && hasIntegers(format);
  if (prefill) return createLinear(gpu, 'prefill', shape, epilogue, quantized ? 'q8' : 'f32', null);
  const inF32 = projection.input === 'parts_to_q8' ? 'parts' : 'f32';
  return createLinear(gpu, 'decode', shape, epilogue, quantized ? projection.input : inF32, null);
}

/** The type of a cache that is written a pair at a time. */
function inPairs(kvType: KvType): 'f16' | 'f32' {
  if (kvType === 'q8') throw new Error(`qkv: keys and values in q8 are written by norm_rope`);
  return kvType;
}

const PROJECTIONS: Record<string, (options: KernelOptions) => Projection> = {
  qkv: ({ kvType }) => ({
    rows: (HEADS.nHeads + 2 * HEADS.nKvHeads) * HEADS.headDim,
    cols: HIDDEN,
    normed: true,
    input: 'to_q8',
    epilogue: qkvEpilogue({ ...HEADS, kvType: inPairs(kvType) }),
  }),
  o: () => ({ rows: HIDDEN, cols: HIDDEN, normed: false, input: 'to_q8', epilogue: residualEpilogue(1) }),
  o_merging: () => {
    const residual = residualEpilogue(1);
    const epilogue = { ...residual, constants: { ...residual.constants, HEAD_DIM: HEADS.headDim } };
    return { rows: HIDDEN, cols: HIDDEN, normed: false, input: 'parts_to_q8', epilogue };
  },
  gate_up: ({ activation, activations, prefill, format }) => ({
    rows: 2 * INTERMEDIATE,
    cols: HIDDEN,
    normed: true,
    input: 'to_q8',
    epilogue:
      prefill || activations === 'f32' || !hasIntegers(format)
        ? { ...gateUpEpilogue(activation), quantizing: gateUpTileQ8Epilogue(activation) }
        : gateUpQ8Epilogue(activation),
  }),
  down: () => ({ rows: HIDDEN, cols: INTERMEDIATE, normed: false, input: 'q8', epilogue: residualEpilogue(1) }),
  head: ({ softcap }) => ({
    rows: VOCABULARY,
    cols: HIDDEN,
    normed: true,
    input: 'to_q8',
    epilogue: headEpilogue(1, softcap),
  }),
  store: () => ({ rows: HIDDEN, cols: HIDDEN, normed: false, input: 'to_q8', epilogue: STORE }),
};

const ATTENTION = ['eager', 'chunked', 'flash_prefill', 'fused_decode', 'split_kv_decode'] as const;

function attentionShape({ kvType, softcap, windowed }: KernelOptions): AttentionShape {
  const scale = HEADS.headDim ** -0.5;
  return { ...HEADS, maxTokens: PREFILL_TOKENS, kvType, scale, softcap, windowed, partsMergeInO: true };
}

const attention =
  (name: AttentionName): Create =>
  (gpu, options) =>
    createAttention(gpu, name, attentionShape(options));

/** The fused step of eight layers. */
function step(attention: StepAttention): Create {
  return (gpu, { format, kvType, activation }) => {
    if (!hasIntegers(format)) throw new Error(`step: ${format} has no integers`);
    const one = (rows: number) => [[{ format, rows }]];
    const { nHeads, nKvHeads, headDim } = HEADS;
    const kvLayerBytes = rangeStride(kvLayerBytesOf({ nKvHeads, headDim, kvType }, HEADS.contextLength));
    const shape = {
      ...HEADS,
      rows: 1,
      nLayers: 8,
      hiddenSize: HIDDEN,
      intermediateSize: INTERMEDIATE,
      kvType,
      kvLayerBytes,
      attentionScale: headDim ** -0.5,
      normEps: EPS,
      qkNormEps: null,
      qkvBias: false,
      activation,
      residualScale: 1,
      formats: {
        qkv: one((nHeads + 2 * nKvHeads) * headDim),
        o: one(HIDDEN),
        gateUp: one(2 * INTERMEDIATE),
        down: one(HIDDEN),
      },
    };
    return Step.create(gpu, shape, { groups: HIDDEN / 16, threads: 512 }, attention);
  };
}

/** Compiles a kernel, by name. */
export const KERNELS: Readonly<Record<string, Create>> = {
  embed: (gpu, { format }) =>
    createEmbed(gpu, {
      vocabSize: VOCABULARY,
      hiddenSize: HIDDEN,
      parts: [{ row0: 0, rows: VOCABULARY, format }],
    }),
  ...Object.fromEntries(
    Object.entries(PROJECTIONS).map(([name, projection]): [string, Create] => [
      name,
      (gpu, options) => createProjection(gpu, options, projection(options)),
    ]),
  ),
  ...Object.fromEntries(ATTENTION.map((name) => [name, attention(name)])),
  norm_rope: (gpu, { kvType }) => createNormRope(gpu, { ...HEADS, kvType, norm: 'heads', normEps: EPS, rotary: true }),
  post_norm: (gpu) => createPostNorm(gpu, { cols: HIDDEN, normEps: EPS, scale: 1 }),
  gated_unit: (gpu, { activation }) => createGatedUnit(gpu, { intermediate: INTERMEDIATE, activation }),
  quantize_activations: (gpu) => createQuantizeActivations(gpu, { cols: HIDDEN, normEps: EPS }),
  logit_bias: (gpu) => createLogitBias(gpu, { vocabSize: VOCABULARY }),
  penalties: (gpu) => createPenalties(gpu, { vocabSize: VOCABULARY }),
  logprob_parts: (gpu) => createLogprobParts(gpu, { vocabSize: VOCABULARY }),
  logprobs: (gpu) => createLogprobs(gpu, { vocabSize: VOCABULARY, ring: LOGPROBS_RING, most: MAX_LOGPROBS }),
  mask: (gpu) => createMask(gpu, { vocabSize: VOCABULARY, ring: PLACES_RING }),
  advance: (gpu) => createAdvance(gpu, { vocabSize: VOCABULARY, ring: PLACES_RING }),
  maxima: (gpu) => createMaxima(gpu, { vocabSize: VOCABULARY }),
  step: step('tiles'),
  step_lanes: step('lanes'),
  sample: (gpu) => createSample(gpu, { vocabSize: VOCABULARY }),
  repack: (gpu, { fileType }) => createRepack(gpu, fileType, FILE_TYPES[fileType].format, HIDDEN / 32),
  quantize_weights: (gpu, { format }) => createRepack(gpu, 'F32', format === 'q4' ? 'q4' : 'q8', HIDDEN / 32),
};

/** Kernels that a pass of many tokens compiles in another way. */
export const PREFILL_KERNELS: readonly string[] = ['qkv', 'o', 'gate_up', 'down'];
