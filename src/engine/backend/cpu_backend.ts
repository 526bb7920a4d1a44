// The backend without WebGPU: the reference forward pass of src/cpu.

import { dequantize } from '../../cpu/dequantize';
import { pool, project } from '../../cpu/embedding';
import { maskTokens, type Place, walkToken } from '../../cpu/grammar';
import { CpuLlama, type CpuWeights } from '../../cpu/llama';
import { logprobs } from '../../cpu/logprobs';
import { type BlockType, quantizedValues } from '../../cpu/quantize';
import { sample } from '../../cpu/sample';
import { InvalidRequestError } from '../../errors';
import { type ModelConfig, vectorsOf } from '../../model/config/config';
import { kvBytesPerToken } from '../../model/kv/kv_cache';
import type { ModelTensors } from '../../model/weights/tensors';
import { isPlainMatrix, type QuantizedFormat } from '../../model/weights/weights';
import type { SamplingParams } from '../../sampling/sampling';
import { unpackTokens } from '../../sampling/token_bytes';
import { nextTask } from '../../shared/next_task';
import { why } from '../../shared/why';
import type { TensorInfo } from '../../storage/formats/tensor';
import type { AttentionChoice, StepChoice } from '../protocol';
import type { Arrival, Backend, Constraint, KvBytes, ParkedKv, Parking, Stopped } from './backend';

const BLOCK_TYPE: Record<QuantizedFormat, BlockType> = { q8: 'Q8_0', q4: 'Q4_0' };

export const CPU_STEP: StepChoice = {
  name: 'plain',
  reason: why`the CPU has no fused step`,
  gain: null,
  giveUps: 0,
};

/**
 * Dequantizes all tensors to f32, one at a time and in file order (`order`), so that the file's hash can be checked
 * while it streams. With `quantize`, matrices get their values after quantizing, as on the GPU.
 */
export async function loadCpuWeights(
  tensors: ModelTensors,
  signal?: AbortSignal,
  quantize?: QuantizedFormat,
  order: Iterable<string> = [],
): Promise<CpuWeights> {
  const values = new Map<TensorInfo, Float32Array>();
  for (const tensor of inFileOrder(tensors, order)) {
    signal?.throwIfAborted();
    values.set(tensor, dequantize(tensor.dtype, await tensor.read(0, tensor.byteLength)));
  }
  const read = (tensor: TensorInfo) => values.get(tensor) as Float32Array;
  const matrix = (tensor: TensorInfo): Float32Array => {
    if (!quantize || !isPlainMatrix(tensor)) return read(tensor);
    return quantizedValues(BLOCK_TYPE[quantize], read(tensor), tensor.shape[1]);
  };
  const optional = (tensor: TensorInfo | null) => (tensor ? read(tensor) : null);
  const embedding = matrix(tensors.embedding);
  const layers: CpuWeights['layers'] = [];
  for (const t of tensors.layers) {
    layers.push({
      attnNorm: optional(t.attnNorm),
      wq: matrix(t.wq),
      wk: matrix(t.wk),
      wv: matrix(t.wv),
      wo: matrix(t.wo),
      bq: optional(t.bq),
      bk: optional(t.bk),
      bv: optional(t.bv),
      bo: optional(t.bo),
      qNorm: optional(t.qNorm),
      kNorm: optional(t.kNorm),
      postAttnNorm: optional(t.postAttnNorm),
      postMlpNorm: optional(t.postMlpNorm),
      mlpNorm: optional(t.mlpNorm),
      wGate: matrix(t.wGate),
      wUp: matrix(t.wUp),
      wDown: matrix(t.wDown),
      bGate: optional(t.bGate),
      bUp: optional(t.bUp),
      bDown: optional(t.bDown),
    });
  }
  const finalNorm = read(tensors.finalNorm);
  const head = tensors.head ? matrix(tensors.head) : embedding;
  const { all = null, short = null, long = null } = tensors.ropeFactors ?? {};
  const ropeFactors = tensors.ropeFactors && { all: optional(all), short: optional(short), long: optional(long) };
  return { embedding, layers, finalNorm, head, ropeFactors, dense: tensors.dense.map(read) };
}

/** The tensors of the model, sorted by the place of their names in `order`. */
function inFileOrder(
  { embedding, layers, finalNorm, head, dense, ropeFactors }: ModelTensors,
  order: Iterable<string>,
) {
  const places = new Map([...order].map((name, i) => [name, i]));
  const place = ({ name }: TensorInfo) => places.get(name) ?? places.size;
  return [
    embedding,
    ...layers.flatMap((layer) => Object.values(layer)),
    finalNorm,
    head,
    ...dense,
    ...Object.values(ropeFactors ?? {}),
  ]
    .filter((tensor) => tensor !== null)
    .sort((a, b) => place(a) - place(b));
}

/** The reference pass, for machines without WebGPU. Between tokens the worker can handle messages, such as a stop. */
export class CpuBackend implements Backend {
  readonly name = 'cpu';
  readonly maxRunAhead = 1;
  readonly counters = null;
  readonly peakGpuBytes = null;
  readonly attention: AttentionChoice = {
    prefill: 'textbook',
    decode: 'textbook',
    reason: why`the cpu backend runs plain loops`,
  };
  readonly step = CPU_STEP;
  private readonly llama: CpuLlama;
  /** tokens[position], as on the GPU. */
  private readonly tokens: Uint32Array;
  private sampling: SamplingParams | null = null;
  private constraint: (Pick<Constraint, 'automaton'> & ReturnType<typeof unpackTokens>) | null = null;
  /** The place in the document of a constrained answer before the next token. */
  private place: Place | null = null;

  constructor(
    private readonly config: ModelConfig,
    private readonly weights: CpuWeights,
    readonly contextLength: number,
  ) {
    this.llama = new CpuLlama(config, weights, contextLength);
    this.tokens = new Uint32Array(contextLength + 1);
  }

  get vectors() {
    return vectorsOf(this.config);
  }

  get parking(): Parking {
    const bytesPerToken = kvBytesPerToken(this.config, 'f32');
    const bytesOf = (tokens: number) => tokens * bytesPerToken;
    return { bytesPerToken, bytesOf, least: 0, park: async (tokens) => this.park(tokens) };
  }

  kvBytes(): KvBytes {
    const { llama, tokens } = this;
    return {
      read: async (first, count) => new Uint8Array(llama.readRows(first, count).buffer),
      async write(ids, first, bytes) {
        llama.writeRows(first, ids.length - first, new Float32Array(bytes.slice().buffer));
        tokens.set(ids);
        return true;
      },
    };
  }

  private park(tokens: number, from?: ReturnType<CpuLlama['park']>): ParkedKv | null {
    const tryPark = (count: number, source?: typeof from) => {
      try {
        return this.llama.park(count, source);
      } catch (error) {
        if (error instanceof RangeError) return null; // no memory for another array
        throw error;
      }
    };
    const first = tryPark(tokens, from);
    if (!first) return null;
    let parked: ReturnType<CpuLlama['park']> = first;
    return {
      restore: (ids) => {
        this.llama.restore(parked, ids.length);
        this.tokens.set(ids);
      },
      shrink: async (least) => this.park(least, parked),
      extend: (_first, more) => {
        const longer = tryPark(more);
        if (longer) parked = longer;
        return longer !== null;
      },
      destroy() {
        parked = [];
      },
    };
  }

  begin(sampling: SamplingParams, _timed = false, constraint: Constraint | null = null): void {
    this.sampling = sampling;
    this.constraint = constraint && { automaton: constraint.automaton, ...unpackTokens(constraint.tokens) };
  }

  async prefill(
    ids: Uint32Array<ArrayBuffer>,
    position: number,
    onProgress: (done: number) => void,
    stopped: Stopped,
    place: Place | null = null,
  ): Promise<{ token: Promise<Arrival> } | { token: null; ran: number }> {
    this.place = place;
    this.tokens.set(ids, position);
    for (let t = 0; t < ids.length - 1; t++) {
      this.llama.forwardHidden(ids[t], position + t);
      onProgress(t + 1);
      await nextTask();
      if (await stopped()) return { token: null, ran: t + 1 };
    }
    return { token: this.decode(position + ids.length - 1) };
  }

  goOn(ids: Uint32Array<ArrayBuffer>, place: Place | null = null): void {
    this.place = place;
    this.tokens.set(ids);
  }

  async decode(position: number): Promise<Arrival> {
    const { sampling } = this;
    if (!sampling) throw new Error('decode before begin');
    await nextTask();
    const logits = this.masked(this.llama.forward(this.tokens[position], position));
    const context = this.tokens.subarray(0, position + 1);
    const id = sample(logits, sampling, context, position + 1);
    this.tokens[position + 1] = id;
    this.advance(id);
    if (sampling.logprobs === null) return id;
    return { ids: Uint32Array.of(id), logprobs: [logprobs(logits, id, sampling.logprobs)] };
  }

  /** The logits without the tokens that the constraint refuses. Those that are not finite stay. */
  private masked(logits: Float32Array): Float32Array {
    const { constraint, place } = this;
    if (!constraint || !place) return logits;
    const mask = maskTokens(constraint.automaton, place, constraint.tokens, constraint.ends);
    return logits.map((logit, id) => (mask[id] === 0 && Number.isFinite(logit) ? Number.NEGATIVE_INFINITY : logit));
  }

  private advance(id: number): void {
    const { constraint, place } = this;
    if (!constraint || !place || id >= constraint.tokens.length || constraint.ends.includes(id)) return;
    this.place = walkToken(constraint.automaton, place, constraint.tokens[id]) ?? place;
  }

  async embed(ids: Uint32Array, stopped: Stopped): Promise<{ vector: Promise<Float32Array> | null }> {
    const { causal, embedding } = this.config;
    const rows: Float32Array[] = [];
    const each = causal ? 1 : ids.length; // without a mask the tokens of a text run together
    for (let t = 0; t < ids.length; t += each) {
      rows.push(...this.llama.vectors(ids.subarray(t, t + each), t));
      await nextTask();
      if (await stopped()) return { vector: null };
    }
    return { vector: Promise.resolve(project(pool(rows, embedding.pooling), this.weights.dense)) };
  }

  async findNotFinite(ids: Uint32Array): Promise<string | null> {
    return this.llama.firstNotFinite(ids);
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
