import { dequantise } from '../cpu/dequantise';
import { CpuLlama, type CpuWeights } from '../cpu/llama';
import { type BlockType, quantise as quantiseBlocks } from '../cpu/quantise';
import type { RopeFactors } from '../cpu/rope';
import { sample } from '../cpu/sample';
import { InvalidRequestError } from '../errors';
import type { ModelConfig } from '../model/config';
import type { ModelTensors } from '../model/tensors';
import { isPlainMatrix, type QuantisedFormat } from '../model/weights';
import type { SamplingParams } from '../sampling/sampling';
import type { TensorInfo } from '../storage/model_file';
import type { Backend } from './backend';
import { nextTask } from './next_task';
import type { AttentionChoice } from './protocol';

const BLOCK_TYPE: Record<QuantisedFormat, BlockType> = { q8: 'Q8_0', q4: 'Q4_0' };

/**
 * Every tensor as f32 in memory. Read in the order of the model, one at a time. With `quantise`, matrices have the values that
 * quantising leaves them with, as on the GPU.
 */
export async function loadCpuWeights(
  tensors: ModelTensors,
  signal?: AbortSignal,
  quantise?: QuantisedFormat,
): Promise<CpuWeights> {
  const read = async (tensor: TensorInfo): Promise<Float32Array> => {
    signal?.throwIfAborted();
    return dequantise(tensor.dtype, await tensor.read(0, tensor.byteLength));
  };
  const matrix = async (tensor: TensorInfo): Promise<Float32Array> => {
    const values = await read(tensor);
    if (!quantise || !isPlainMatrix(tensor)) return values;
    const type = BLOCK_TYPE[quantise];
    return dequantise(type, quantiseBlocks(type, values));
  };
  const optional = async (tensor: TensorInfo | null) => (tensor ? read(tensor) : null);
  const embedding = await matrix(tensors.embedding);
  const layers: CpuWeights['layers'] = [];
  for (const t of tensors.layers) {
    layers.push({
      attnNorm: await optional(t.attnNorm),
      wq: await matrix(t.wq),
      wk: await matrix(t.wk),
      wv: await matrix(t.wv),
      wo: await matrix(t.wo),
      bq: await optional(t.bq),
      bk: await optional(t.bk),
      bv: await optional(t.bv),
      bo: await optional(t.bo),
      qNorm: await optional(t.qNorm),
      kNorm: await optional(t.kNorm),
      postAttnNorm: await optional(t.postAttnNorm),
      postMlpNorm: await optional(t.postMlpNorm),
      mlpNorm: await optional(t.mlpNorm),
      wGate: await matrix(t.wGate),
      wUp: await matrix(t.wUp),
      wDown: await matrix(t.wDown),
      bGate: await optional(t.bGate),
      bUp: await optional(t.bUp),
      bDown: await optional(t.bDown),
    });
  }
  const finalNorm = await read(tensors.finalNorm);
  const head = tensors.head ? await matrix(tensors.head) : embedding;
  return { embedding, layers, finalNorm, head, ropeFactors: await readRopeFactors(tensors) };
}

/** The factors that a GGUF has as tensors, for `withRopeFactors`. */
async function readRopeFactors({ ropeFactors }: ModelTensors): Promise<RopeFactors | null> {
  if (!ropeFactors) return null;
  const read = async (tensor: TensorInfo | null) =>
    tensor && dequantise(tensor.dtype, await tensor.read(0, tensor.byteLength));
  return { all: await read(ropeFactors.all), short: await read(ropeFactors.short), long: await read(ropeFactors.long) };
}

/** The textbook pass, for machines without WebGPU. Between tokens it gives the worker a turn, so that a stop is heard. */
export class CpuBackend implements Backend {
  readonly name = 'cpu';
  readonly maxRunAhead = 1;
  readonly counters = null;
  readonly peakGpuBytes = null;
  readonly attention: AttentionChoice = {
    prefill: 'textbook',
    decode: 'textbook',
    reason: 'the cpu backend runs plain loops',
  };
  private readonly llama: CpuLlama;
  /** tokens[position], as on the GPU. */
  private readonly tokens: Uint32Array;
  private sampling: SamplingParams | null = null;

  constructor(
    config: ModelConfig,
    weights: CpuWeights,
    readonly contextLength: number,
  ) {
    this.llama = new CpuLlama(config, weights, contextLength);
    this.tokens = new Uint32Array(contextLength + 1);
  }

  begin(sampling: SamplingParams): void {
    this.sampling = sampling;
  }

  async prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: () => boolean,
  ): Promise<{ token: Promise<number> | null }> {
    this.tokens.set(ids, position);
    for (let t = 0; t < ids.length - 1; t++) {
      this.llama.forwardHidden(ids[t], position + t);
      onProgress(t + 1);
      await nextTask();
      if (stopped()) return { token: null };
    }
    return { token: this.decode(position + ids.length - 1) };
  }

  async decode(position: number): Promise<number> {
    if (!this.sampling) throw new Error('decode before begin');
    await nextTask();
    const logits = this.llama.forward(this.tokens[position], position);
    const context = this.tokens.subarray(0, position + 1);
    const id = sample(logits, this.sampling, context, position + 1);
    this.tokens[position + 1] = id;
    return id;
  }

  async stepTimes(): Promise<null> {
    return null;
  }

  async tune(): Promise<never> {
    throw new InvalidRequestError('The cpu backend has no attention kernels to tune. Use a browser with WebGPU.');
  }

  async roofline(): Promise<never> {
    throw new InvalidRequestError('The cpu backend has no GPU memory to measure. Use a browser with WebGPU.');
  }

  destroy(): void {}
}
