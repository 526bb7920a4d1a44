// Finds the tensors of a model in its files, and checks that they are there and of the right shape.

import { type RopeFactors, rotaryDimOf } from '../../cpu/rope';
import { ModelFileError, UnsupportedModelError } from '../../errors';
import type { TensorInfo } from '../../storage/formats/tensor';
import type { ModelFiles } from '../../storage/model_files';
import type { ModelConfig } from '../config/config';
import { type LayerPart, type Names, tensorNames } from './tensor_names';

/** The tensors of a layer, each of the shape that the config asks for. Matrices are (rows out, columns in). */
export interface LayerTensors {
  /** null without pre-norms. */
  attnNorm: TensorInfo | null;
  wq: TensorInfo;
  wk: TensorInfo;
  wv: TensorInfo;
  wo: TensorInfo;
  bq: TensorInfo | null;
  bk: TensorInfo | null;
  bv: TensorInfo | null;
  bo: TensorInfo | null;
  /** (head_dim), or (n_heads * head_dim); null without norms of q and k. */
  qNorm: TensorInfo | null;
  kNorm: TensorInfo | null;
  /** (hidden); null without post-norms. */
  postAttnNorm: TensorInfo | null;
  postMlpNorm: TensorInfo | null;
  mlpNorm: TensorInfo | null;
  wGate: TensorInfo;
  wUp: TensorInfo;
  wDown: TensorInfo;
  bGate: TensorInfo | null;
  bUp: TensorInfo | null;
  bDown: TensorInfo | null;
}

export interface ModelTensors {
  embedding: TensorInfo;
  layers: LayerTensors[];
  finalNorm: TensorInfo;
  /** null if the head is the embedding. */
  head: TensorInfo | null;
  /** The linear layers behind the pooling, (size out, size in) each. */
  dense: TensorInfo[];
  /** The factors of llama3 (`all`) and longrope scaling in a GGUF, (rotary_dim / 2) each; null without any. */
  ropeFactors: Record<keyof RopeFactors, TensorInfo | null> | null;
}

/**
 * Finds every tensor that the model needs, checks its shape, and refuses files with tensors that the model does not
 * use. The matrices within a fused one (Phi 3) are views of its rows and have its name.
 */
export function resolveTensors(files: ModelFiles, config: ModelConfig): ModelTensors {
  const names = tensorNames(files, config);
  const finder = new TensorFinder(files);
  const { vocabSize, hiddenSize } = config;
  const nPairs = rotaryDimOf(config.headDim, config.ropes[0]) / 2;
  const [all, short, long] = (['all', 'short', 'long'] as const).map((kind) => {
    const name = names.ropeFactors?.[kind];
    return name ? finder.optional(name, nPairs) : null;
  });
  const tensors: ModelTensors = {
    embedding: finder.needed(names.embedding, vocabSize, hiddenSize),
    layers: Array.from({ length: config.nLayers }, (_, i) => layerTensors(finder, names, names.layer(i), config)),
    finalNorm: finder.needed(names.finalNorm, hiddenSize),
    head: config.tiedEmbedding ? null : finder.needed(names.head, vocabSize, hiddenSize),
    dense: names.dense.slice(0, config.embedding.dense.length).map((name, i) => {
      const sizes = [hiddenSize, ...config.embedding.dense];
      return finder.needed(name, sizes[i + 1], sizes[i]);
    }),
    ropeFactors: all || short || long ? { all, short, long } : null,
  };
  // A file with tied embeddings may still carry the head, a copy.
  if (config.tiedEmbedding) finder.used.add(names.head);
  for (const name of files.tensors.keys()) {
    if (finder.used.has(name) || names.ignored.test(name)) continue;
    throw new UnsupportedModelError(
      `${files.name}: tensor ${name} has no place in a ${config.architecture} model; ignoring it would give wrong answers.`,
    );
  }
  return tensors;
}

function layerTensors(finder: TensorFinder, names: Names, prefix: string, config: ModelConfig): LayerTensors {
  const { hiddenSize, intermediateSize, headDim, qkvBias, outputBias, mlpBias } = config;
  const qSize = config.nHeads * headDim;
  const kvSize = config.nKvHeads * headDim;
  const perHead = config.qkNorm === 'heads';
  const stem = (part: LayerPart) => prefix + names.part[part];
  const weight = (part: LayerPart, ...shape: number[]) => finder.needed(`${stem(part)}.weight`, ...shape);
  const norm = (part: LayerPart, isThere: boolean, size = hiddenSize) => (isThere ? weight(part, size) : null);
  /** Matrices or biases, each in its own tensor, or if the first is missing stacked in the fused one. */
  const stacked = (fused: LayerPart, kind: string, parts: [LayerPart, rows: number][], ...cols: number[]) =>
    finder.has(`${stem(fused)}.${kind}`) && !finder.has(`${stem(parts[0][0])}.${kind}`)
      ? finder.rows(
          `${stem(fused)}.${kind}`,
          parts.map(([, rows]) => rows),
          cols,
        )
      : parts.map(([part, rows]) => finder.needed(`${stem(part)}.${kind}`, rows, ...cols));
  const biases = (promised: boolean, fused: LayerPart, parts: [LayerPart, rows: number][]) =>
    promised ? stacked(fused, 'bias', parts) : parts.map(() => null);

  const qkv: [LayerPart, number][] = [
    ['q', qSize],
    ['k', kvSize],
    ['v', kvSize],
  ];
  const gateUp: [LayerPart, number][] = [
    ['gate', intermediateSize],
    ['up', intermediateSize],
  ];
  const [wq, wk, wv] = stacked('qkv', 'weight', qkv, hiddenSize);
  const [bq, bk, bv] = biases(qkvBias, 'qkv', qkv);
  const [wGate, wUp] = stacked('gateUp', 'weight', gateUp, hiddenSize);
  const [bGate, bUp] = biases(mlpBias, 'gateUp', gateUp);
  return {
    attnNorm: norm('attnNorm', config.preNorms),
    wq,
    wk,
    wv,
    wo: weight('o', hiddenSize, qSize),
    bq,
    bk,
    bv,
    bo: outputBias ? finder.needed(`${stem('o')}.bias`, hiddenSize) : null,
    qNorm: norm('qNorm', config.qkNorm !== 'none', perHead ? headDim : qSize),
    kNorm: norm('kNorm', config.qkNorm !== 'none', perHead ? headDim : kvSize),
    postAttnNorm: norm('postAttnNorm', config.postNorms),
    postMlpNorm: norm('postMlpNorm', config.postNorms),
    mlpNorm: norm('mlpNorm', config.preNorms),
    wGate,
    wUp,
    wDown: weight('down', hiddenSize, intermediateSize),
    bGate,
    bUp,
    bDown: mlpBias ? finder.needed(`${stem('down')}.bias`, hiddenSize) : null,
  };
}

/** Looks tensors up by name and shape, and remembers those that were asked for. */
class TensorFinder {
  readonly used = new Set<string>();

  constructor(private readonly files: ModelFiles) {}

  has(name: string): boolean {
    return this.files.tensors.has(name);
  }

  optional(name: string, ...shape: number[]): TensorInfo | null {
    const tensor = this.files.tensors.get(name);
    if (!tensor) return null;
    this.used.add(name);
    if (tensor.shape.length !== shape.length || tensor.shape.some((size, i) => size !== shape[i])) {
      throw new ModelFileError(
        this.files.name,
        `tensor ${name} has shape (${tensor.shape.join(', ')}); the config asks for (${shape.join(', ')}).`,
      );
    }
    return tensor;
  }

  needed(name: string, ...shape: number[]): TensorInfo {
    const tensor = this.optional(name, ...shape);
    if (!tensor) throw new ModelFileError(this.files.name, `tensor ${name} (${shape.join(', ')}) is missing.`);
    return tensor;
  }

  /** Views of runs of rows, the first `counts[0]`, then `counts[1]` ... Together they are the tensor. */
  rows(name: string, counts: readonly number[], cols: readonly number[]): TensorInfo[] {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const whole = this.needed(name, total, ...cols);
    const rowBytes = whole.byteLength / total; // a row is whole blocks
    let first = 0;
    return counts.map((count) => {
      const start = first * rowBytes;
      first += count;
      return rowsOf(whole, start, count, count * rowBytes);
    });
  }
}

/** A view of `count` rows of a tensor, from byte `start`. */
function rowsOf(whole: TensorInfo, start: number, count: number, byteLength: number): TensorInfo {
  return {
    name: whole.name,
    dtype: whole.dtype,
    shape: [count, ...whole.shape.slice(1)],
    byteLength,
    async read(offset, length, into) {
      if (offset + length > byteLength) {
        throw new RangeError(`${whole.name}: bytes ${offset} to ${offset + length} of a view of ${byteLength}.`);
      }
      return whole.read(start + offset, length, into);
    },
  };
}
