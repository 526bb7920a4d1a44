// The linears of a layer and of the head: which dispatches each takes, on which input, with which epilogue. The config,
// the formats of the weights and the limits of the GPU decide.

import type { AttentionParts, AttentionShape } from '../../attention/attention';
import { kvRoom } from '../../attention/kv_layout';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { createQuantizeActivations } from '../../kernels/elementwise/quantize_activations';
import { createLinear, type LinearPass, type MadeLinear } from '../../kernels/linear/create_linear';
import { gateUpEpilogue } from '../../kernels/linear/epilogues/gate_up';
import { gateUpQ8Epilogue } from '../../kernels/linear/epilogues/gate_up_q8';
import { gateUpTileQ8Epilogue } from '../../kernels/linear/epilogues/gate_up_tile_q8';
import { headEpilogue } from '../../kernels/linear/epilogues/head';
import { qkvEpilogue } from '../../kernels/linear/epilogues/qkv';
import { residualEpilogue } from '../../kernels/linear/epilogues/residual';
import { STORE } from '../../kernels/linear/epilogues/store';
import type { Epilogue, Linear, LinearShape, QuantizingEpilogue } from '../../kernels/linear/linear';
import { hasIntegers } from '../../kernels/linear/matmul_q8';
import { isF32, type MatvecInput } from '../../kernels/linear/matvec';
import { fitsMatvec } from '../../kernels/linear/matvec_plan';
import type { ProductProfile } from '../../kernels/linear/product_profile';
import { formatRuns, type WeightRun } from '../../kernels/linear/weight_format';
import { arrived } from '../../shared/part';
import type { Buffers } from '../buffers';
import type { KvCache } from '../kv/kv_cache';
import type { PaddedConfig } from '../padding';
import { isInterleaved, type LayerWeights, type LinearWeights, type ModelWeights } from '../weights/weights';
import { type ActivationType, type Arithmetic, arithmeticOf, type MatrixChoice } from './arithmetic';

/** Dispatches with their buffers bound, ready to record. */
export interface Operation {
  record(list: CommandList, nTokens: number): void;
  /** True for passes whose output is in the signed bytes of quantize_activations instead of f32. */
  leavesBytes?(nTokens: number): boolean;
}

/** The linears of a layer. */
export interface Linears {
  qkv: Operation;
  o: Operation;
  gateUp: Operation;
  down: Operation;
}

export interface LinearSources {
  gpu: Gpu;
  config: PaddedConfig;
  attentionShape: AttentionShape;
  buffers: Buffers;
  kvCache: KvCache;
  weights: ModelWeights;
  activations: Arithmetic;
  /** The passes that multiply on subgroup matrices, where they do. */
  matrices?: LongPasses | null;
  /** The parameters that a tuner found. */
  tuned: ProductProfile | null;
  /** Makes the products of many tokens otherwise. Default: createLinear. */
  createLong?: CreateLong;
}

/** Makes a linear of many tokens. */
type CreateLong = (gpu: Gpu, shape: LinearShape, epilogue: Epilogue, input: 'f32' | 'q8') => Promise<Linear>;

/** A linear of many tokens on quantized activations. */
export interface LongLinear {
  weights: LinearWeights;
  runs: readonly { run: WeightRun; shape: LinearShape }[];
  epilogue: Epilogue;
  from: GPUBuffer;
  /** (n_tokens, cols) in 16 bits. */
  xq: GPUBuffer;
  /** The buffers of the epilogue. */
  own: readonly Bindable[];
}

/** Another way for long passes (matrices.ts). */
export interface LongPasses {
  readonly choice: MatrixChoice;
  /** What keeps this GPU from them, or null. */
  readonly fault: string | null;
  /** `plain` for short passes and the same linear the other way for long ones; null where a run does not fit. */
  besides(plain: Operation, linear: LongLinear): Promise<Operation | null>;
}

/** The activations of a linear. */
interface Source {
  from: GPUBuffer;
  /** Their form. Default: in each run of rows of one format integers, where they fit, else f32. */
  as?: MatvecInput;
  /** The splits of attention that the linear merges. */
  parts?: AttentionParts;
}

/** Most splits that the output projection merges, in f32 by more workgroups; a dispatch of its own merges more. */
const MOST_MERGED_PARTS = { parts_to_q8: 16, parts: 8 };

/** Makes linears in f32 or, where a matrix has integers, on quantized activations. */
export class LinearBuilder {
  /** `q8` once any linear of the pass runs on quantized activations. */
  readonly arithmetic: Record<LinearPass, ActivationType> = { ...arithmeticOf('f32') };
  /** Linears that a tuner may try: those of one token, and those of many on quantized activations. */
  readonly made: MadeLinear[] = [];

  constructor(private readonly sources: LinearSources) {}

  /** The linears of a layer for one token. */
  async decode(index: number): Promise<Linears> {
    const { config, weights, buffers } = this.sources;
    const { x, h, xq, attn } = buffers;
    const layer = weights.layers[index];
    const epilogue = gateUpQ8Epilogue(config.activation);
    // A gate_up in integers also quantizes h, if down takes it so.
    const quantizesH =
      isInterleaved(layer.gateUp) &&
      this.allFit(layer.down, 'q8') &&
      this.allFit(layer.gateUp, 'to_q8', epilogue.finishRows);
    const [qkv, o, gateUp, down] = await Promise.all([
      this.qkv('decode', layer.qkv, index),
      this.add('decode', layer.o, { from: attn }),
      quantizesH ? this.linear('decode', layer.gateUp, epilogue, { from: x }, xq) : this.gateUp('decode', layer.gateUp),
      this.add('decode', layer.down, quantizesH ? { from: xq, as: 'q8' } : { from: h }),
    ]);
    return { qkv, o, gateUp, down };
  }

  /** The linears of a layer for many tokens. */
  async prefill(index: number): Promise<Linears> {
    const { weights, buffers } = this.sources;
    const layer = weights.layers[index];
    const [qkv, o, mlp] = await Promise.all([
      this.qkv('prefill', layer.qkv, index),
      this.add('prefill', layer.o, { from: buffers.attn }),
      this.mlp(layer),
    ]);
    return { qkv, o, ...mlp };
  }

  /** Gate and up of many tokens, and down, which takes h in signed bytes where gate and up leave it so. */
  private async mlp(layer: LayerWeights): Promise<Pick<Linears, 'gateUp' | 'down'>> {
    const { h } = this.sources.buffers;
    const quantizing = this.quantizingGateUp(layer);
    const [gateUp, down, downOfBytes] = await Promise.all([
      this.gateUp('prefill', layer.gateUp, quantizing),
      this.add('prefill', layer.down, { from: h }),
      quantizing ? this.add('prefill', layer.down, { from: h, as: 'q8' }) : null,
    ]);
    const downOf = (nTokens: number) => (gateUp.leavesBytes?.(nTokens) && downOfBytes) || down;
    return { gateUp, down: { record: (list, nTokens) => downOf(nTokens).record(list, nTokens) } };
  }

  /** The epilogue that leaves h of many tokens in signed bytes, where down takes them and tiles may fit it. */
  private quantizingGateUp({ gateUp, down }: LayerWeights): QuantizingEpilogue | undefined {
    const { gpu, config, matrices } = this.sources;
    const mayLeaveBytes =
      !gpu.isSoftware && // whose tiles have 32 rows
      matrices?.fault !== null &&
      isInterleaved(gateUp) &&
      formatRuns(gateUp.matrix).length === 1 &&
      this.takesIntegers(down);
    return mayLeaveBytes ? gateUpTileQ8Epilogue(config.activation) : undefined;
  }

  /**
   * The output projection of one token that merges the splits of attention, or null where it cannot or should not. Each
   * of its workgroups reads all splits, so they must be few.
   */
  async mergingO(o: LinearWeights, parts: AttentionParts): Promise<Operation | null> {
    const as = this.mergingInput(o);
    return as && parts.count <= MOST_MERGED_PARTS[as] ? this.add('decode', o, { from: parts.o, as, parts }) : null;
  }

  /** The form in which an output projection merges the splits of attention, if they fit this GPU. */
  mergingInput(o: LinearWeights): keyof typeof MOST_MERGED_PARTS | undefined {
    return (['parts_to_q8', 'parts'] as const).find((input) => this.allFit(o, input));
  }

  /** The logits of the last token of a pass, and their maxima. */
  head(head: LinearWeights): Promise<Operation> {
    const { buffers, config } = this.sources;
    const { x, logits, maxima } = buffers;
    const epilogue = headEpilogue(config.logitScale, config.logitSoftcap);
    return this.linear('decode', head, epilogue, { from: x }, logits, maxima);
  }

  /** True if all rows run on activations of this form for one token. */
  private allFit(weights: LinearWeights, input: MatvecInput, finishRows?: number): boolean {
    return formatRuns(weights.matrix).every((run) => this.fits(this.shapeOf(weights, run), input, finishRows));
  }

  /** q, k and v of a layer; norms of q and k, or scales of k and v, take a second dispatch, which then turns them. */
  async qkv(pass: LinearPass, weights: LinearWeights, index: number): Promise<Operation> {
    const { gpu, config, attentionShape, buffers, kvCache } = this.sources;
    const { qkNorm, qkNormEps: normEps, layers } = config;
    const { rope, window } = layers[index];
    const { x, y, q, ropes } = buffers;
    const angles = ropes[rope ?? 0]; // bound in any case
    const [rotary, k, v] = [rope !== null, kvCache.k[index], kvCache.v[index]];
    const { kvType } = attentionShape;
    const shape = { ...attentionShape, room: kvRoom(attentionShape, window) };
    const norm = weights.outputNorm ? qkNorm : 'none';
    if (norm === 'none' && kvType !== 'q8') {
      const epilogue = qkvEpilogue({ ...shape, kvType }, rotary);
      return this.linear(pass, weights, epilogue, { from: x }, angles, q, k, v);
    }
    const { createNormRope } = await arrived(import('../../kernels/elementwise/norm_rope'));
    const [stored, kernel] = await Promise.all([
      this.linear(pass, weights, STORE, { from: x }, y),
      createNormRope(gpu, { ...shape, norm, normEps, rotary }),
    ]);
    const group = kernel.bind(y, weights.outputNorm ?? angles, angles, q, k, v);
    return sequence([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }

  /** True if all rows of a linear of many tokens run in integers, in groups of `together` rows. */
  takesIntegers({ matrix }: LinearWeights, together = 1): boolean {
    return formatRuns(matrix).every(
      (run) => this.inIntegers('prefill', run) && run.parts.every(({ row0 }) => row0 % together === 0),
    );
  }

  /** h of the MLP; rows of gate and up that are not interleaved take a second dispatch, and leave h in f32. */
  async gateUp(pass: LinearPass, weights: LinearWeights, quantizing?: QuantizingEpilogue): Promise<Operation> {
    const { activation, intermediateSize: intermediate } = this.sources.config;
    const { x, y, h } = this.sources.buffers;
    if (isInterleaved(weights)) {
      return this.linear(pass, weights, { ...gateUpEpilogue(activation), quantizing }, { from: x }, h);
    }
    const { createGatedUnit } = await arrived(import('../../kernels/elementwise/gated_unit'));
    const [stored, kernel] = await Promise.all([
      this.linear(pass, weights, STORE, { from: x }, y),
      createGatedUnit(this.sources.gpu, { intermediate, activation }),
    ]);
    const group = kernel.bind(y, h);
    return sequence([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }

  /** A linear that is added to the residual stream; a norm of its output takes a second dispatch. */
  async add(pass: LinearPass, weights: LinearWeights, source: Source): Promise<Operation> {
    const { hiddenSize: cols, rmsNormEps: normEps, residualScale: scale } = this.sources.config;
    const { x, y } = this.sources.buffers;
    if (!weights.outputNorm) return this.linear(pass, weights, residualEpilogue(scale), source, x);
    const { createPostNorm } = await arrived(import('../../kernels/elementwise/post_norm'));
    const [stored, kernel] = await Promise.all([
      this.linear(pass, weights, STORE, source, y),
      createPostNorm(this.sources.gpu, { cols, normEps, scale }),
    ]);
    const group = kernel.bind(y, weights.outputNorm, x);
    return sequence([stored, { record: (list, nTokens) => kernel.record(list, group, nTokens) }]);
  }

  /**
   * A dispatch for each run of rows of one format. In prefill one more in front quantizes the activations, if any run
   * takes integers. `to`: the buffers of the epilogue.
   */
  async linear(
    pass: LinearPass,
    weights: LinearWeights,
    given: Epilogue,
    { from, as, parts }: Source,
    ...to: readonly Bindable[]
  ): Promise<Operation> {
    const { gpu, tuned, buffers, attentionShape, matrices, createLong } = this.sources;
    const epilogue = parts ? withConstants(given, { HEAD_DIM: attentionShape.headDim }) : given;
    const own = parts ? [...to, parts.ml, parts.splits] : to;
    const runs = formatRuns(weights.matrix).map((run) => {
      const shape = this.shapeOf(weights, run);
      return { run, shape, input: as ?? this.inputOf(pass, shape, epilogue.finishRows) };
    });
    if (runs.some(({ input }) => !isF32(input))) this.arithmetic[pass] = 'q8';
    const quantizes = pass === 'prefill' && !as && runs.some(({ input }) => input === 'q8');
    const linears = runs.map(async ({ run, shape, input }): Promise<Operation> => {
      const x = quantizes && input === 'q8' ? buffers.xq : from;
      // The tuner varies the linear that quantizes its input. The one that is given bytes takes the same tiles.
      if (!(as && pass === 'prefill')) this.keep(weights, run, { pass, shape, epilogue, input, buffers: [x, ...own] });
      const isLong = pass === 'prefill' && createLong;
      const kernel = await (isLong
        ? createLong(gpu, shape, epilogue, input === 'q8' ? 'q8' : 'f32')
        : createLinear(gpu, pass, shape, epilogue, input, tuned));
      const groups = kernel.bind(run, x, weights.params, ...own);
      return {
        record: (list, nTokens) => kernel.record(list, groups, nTokens),
        leavesBytes: (nTokens) => kernel.leavesBytes?.(nTokens) ?? false,
      };
    });
    const quantize = quantizes ? [this.quantize(weights, from)] : [];
    const plain = sequence(await Promise.all([...quantize, ...linears]));
    const linear = { weights, runs, epilogue, from, xq: buffers.xq, own };
    return (quantizes && (await matrices?.besides(plain, linear))) || plain;
  }

  /** Writes the activations of a linear of many tokens to xq. */
  private async quantize({ matrix, params, normed }: LinearWeights, from: GPUBuffer): Promise<Operation> {
    const { gpu, config, buffers, createLong } = this.sources;
    const shape = { cols: matrix.cols, normEps: normed ? config.rmsNormEps : null, blocksFirst: !createLong };
    const kernel = await createQuantizeActivations(gpu, shape);
    const group = kernel.bind(from, params, buffers.xq);
    return { record: (list, nTokens) => kernel.record(list, group, nTokens) };
  }

  /**
   * Keeps what a tuner can vary. A tuner varies all rows of an output together, so runs of mixed matrices are left out.
   */
  private keep(
    { matrix, params }: LinearWeights,
    { parts }: WeightRun,
    made: Omit<MadeLinear, 'matrix' | 'params'>,
  ): void {
    const varies = made.pass === 'decode' || made.input === 'q8';
    if (varies && parts.length === matrix.parts.length) this.made.push({ ...made, matrix, params });
  }

  private inputOf(pass: LinearPass, shape: LinearShape, finishRows?: number): MatvecInput {
    if (pass === 'prefill') return this.inIntegers(pass, shape) ? 'q8' : 'f32';
    return this.fits(shape, 'to_q8', finishRows) ? 'to_q8' : 'f32';
  }

  /** True if the load allows integers in a pass, and the format has them. */
  inIntegers(pass: LinearPass, { format }: Pick<LinearShape, 'format'>): boolean {
    return this.sources.activations[pass] === 'q8' && hasIntegers(format);
  }

  /** True if the rows of one token run on activations of this form: integers where the rows run in integers. */
  private fits(shape: LinearShape, input: MatvecInput, finishRows = 2): boolean {
    const { limits, can } = this.sources.gpu;
    return (
      this.inIntegers('decode', shape) !== isF32(input) &&
      fitsMatvec({ ...shape, input, finishRows }, limits, can.subgroupMinSize)
    );
  }

  private shapeOf({ matrix, normed, biased }: LinearWeights, { format, parts }: WeightRun): LinearShape {
    const { rows, cols } = matrix;
    return { rows, cols, format, parts, bias: biased, normEps: normed ? this.sources.config.rmsNormEps : null };
  }
}

function withConstants(epilogue: Epilogue, constants: Epilogue['constants']): Epilogue {
  return { ...epilogue, constants: { ...epilogue.constants, ...constants } };
}

function sequence(operations: readonly Operation[]): Operation {
  if (operations.length === 1) return operations[0];
  return {
    record(list, nTokens) {
      for (const operation of operations) operation.record(list, nTokens);
    },
    leavesBytes: operations.at(-1)?.leavesBytes,
  };
}
