// The fused step of a model: whether its layers can run as one dispatch, the buffers that the dispatch needs beside the
// model's own, and its recording in place of the layers of one token.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM, type Gpu } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { hasIntegers } from '../../kernels/linear/matmul_q8';
import { formatRuns, type IntegerFormat } from '../../kernels/linear/weight_format';
import { phaseCuts, rangeWords, Step, type StepCut, type StepTest, wholeCut } from '../../kernels/step/step';
import {
  type FormatRows,
  HEADER_WORDS,
  layerParams,
  readsScaleQuads,
  refusal,
  type StepFormats,
  type StepLaunch,
  type StepProduct,
  type StepShape,
} from '../../kernels/step/step_plan';
import { type Reason, why } from '../../shared/why';
import type { LinearSources } from '../linears';
import type { LayerWeights, LinearWeights } from '../weights';

/** Storage buffers of the dispatch, and one more where a format reads its scales in quads. */
const STORAGE_BUFFERS = 8;
/** Words of `words` (shaders/step/hand_over.wgsl). */
const STATUS = 0;
const EPOCH = 1;
const SPINS = 2;

const PRODUCTS: readonly StepProduct[] = ['qkv', 'o', 'gateUp', 'down'];

/** The shape of a model whose layers can run as one dispatch, and the kind of each layer's products. */
export interface FusedModel {
  shape: StepShape;
  kinds: readonly Readonly<Record<StepProduct, number>>[];
}

/** A model that the fused step can run on this GPU, or the reason why it cannot. */
export function fusedModel(sources: Omit<LinearSources, 'tuned'>): FusedModel | Reason {
  const { gpu, config, attentionShape, weights, activations, kvCache } = sources;
  const refused = refusedConfig(sources);
  if (refused !== null) return refused;
  const kinds = weights.layers.map(() => ({ qkv: 0, o: 0, gateUp: 0, down: 0 }));
  const formats: Record<StepProduct, (readonly FormatRows[])[]> = { qkv: [], o: [], gateUp: [], down: [] };
  for (const [i, layer] of weights.layers.entries()) {
    for (const product of PRODUCTS) {
      const runs = runsOf(layer[product], product === 'qkv' ? 2 : 1);
      if (typeof runs === 'string') return why`layer ${i}: ${product} ${runs}`;
      const known = formats[product].findIndex((other) => JSON.stringify(other) === JSON.stringify(runs));
      kinds[i][product] = known >= 0 ? known : formats[product].push(runs) - 1;
    }
  }
  const { nLayers, hiddenSize, intermediateSize, nHeads, nKvHeads, headDim, qkNorm, qkNormEps } = config;
  const shape: StepShape = {
    nLayers,
    hiddenSize,
    intermediateSize,
    nHeads,
    nKvHeads,
    headDim,
    contextLength: attentionShape.contextLength,
    kvType: attentionShape.kvType,
    kvLayerBytes: kvCache.arenas[0].layerBytes,
    attentionScale: attentionShape.scale,
    normEps: config.rmsNormEps,
    qkNormEps: qkNorm === 'heads' ? qkNormEps : null,
    qkvBias: weights.layers[0].qkv.biased,
    activation: config.activation,
    residualScale: config.residualScale,
    formats,
  };
  const storage = STORAGE_BUFFERS + (allFormats(formats).some(readsScaleQuads) ? 1 : 0);
  if (gpu.limits.maxStorageBuffersPerShaderStage < storage) {
    return why`it binds ${storage} storage buffers, of which this GPU allows ${gpu.limits.maxStorageBuffersPerShaderStage}`;
  }
  if (activations.decode !== 'q8') return why`activations are f32, and the fused step multiplies signed bytes`;
  return { shape, kinds };
}

function allFormats(formats: StepFormats): IntegerFormat[] {
  return PRODUCTS.flatMap((product) => formats[product].flatMap((runs) => runs.map(({ format }) => format)));
}

/** The reason why layers of this kind cannot run as one dispatch, or null. */
function refusedConfig({ gpu, config, weights, kvCache }: Omit<LinearSources, 'tuned'>): Reason | null {
  const { layers, postNorms, preNorms, qkNorm, attentionSoftcap } = config;
  if (gpu.can.subgroupMinSize < 2) return why`the adapter has no subgroups`;
  if (gpu.isApple) return why`GPUs by Apple do not promise that waiting workgroups go on`;
  if (postNorms || !preNorms) return why`layers normalize their outputs`;
  if (qkNorm === 'vector') return why`q and k are normalized over all heads at once`;
  if (attentionSoftcap !== null) return why`attention scores are capped`;
  if (layers.some(({ window }) => window !== null)) return why`some layer has a window`;
  if (layers.some(({ rope }) => rope !== 0)) return why`layers differ in RoPE`;
  if (config.outputBias || config.mlpBias) return why`o, gate, up or down has a bias`;
  if (weights.layers.some(({ qkv }) => qkv.biased !== weights.layers[0].qkv.biased))
    return why`layers differ in biases`;
  const covered = (arenas: readonly { nLayers: number }[]) => arenas.reduce((sum, { nLayers }) => sum + nLayers, 0);
  if (covered(weights.arenas) < layers.length || covered(kvCache.arenas) < layers.length) {
    return why`a layer is larger than one binding of this GPU`;
  }
  return null;
}

/** The rows of a matrix by format, or the reason why the fused step cannot multiply them. */
function runsOf({ matrix }: LinearWeights, most: number): FormatRows[] | Reason {
  const runs: FormatRows[] = [];
  for (const { format, parts } of formatRuns(matrix)) {
    if (!hasIntegers(format)) return why`is stored as ${format}, which has no integers`;
    if (parts.length > 1) return why`takes more than one binding`;
    runs.push({ format, rows: parts[0].rows });
  }
  if (runs.length > most) return why`has ${runs.length} formats, more than ${most}`;
  return runs;
}

/** Consecutive layers of one dispatch: their weights, keys and values lie in one buffer each. */
interface Range {
  firstLayer: number;
  nLayers: number;
  params: GPUBuffer;
  groups: readonly GPUBindGroup[];
}

export class FusedStep {
  private constructor(
    private readonly sources: Omit<LinearSources, 'tuned'>,
    private readonly step: Step,
    /** Words that workgroups hand over, behind the status, the epoch and the limit of a wait. */
    readonly words: GPUBuffer,
    private readonly ranges: readonly Range[],
    private readonly shape: StepShape,
  ) {}

  /** Why this launch cannot run here, or null. */
  static refusal({ shape }: FusedModel, launch: StepLaunch, gpu: Gpu): Reason | null {
    return refusal(shape, launch, gpu.can.subgroupMinSize, gpu.limits);
  }

  /** Compiles the step and allocates its buffers. `start` follows when the weights are there. */
  static async create(
    sources: Omit<LinearSources, 'tuned'>,
    { shape, kinds }: FusedModel,
    launch: StepLaunch,
    test: StepTest = {},
  ): Promise<FusedStep> {
    const { gpu, weights, kvCache, buffers } = sources;
    const step = await Step.create(gpu, shape, launch, test);
    const make = (label: string, bytes: number, usage: GPUBufferUsageFlags) =>
      gpu.createBuffer(`step.${label}`, bytes, usage | GPU_COPY_DST | GPU_COPY_SRC);
    const words = make('words', 4 * step.plan.nWords, GPU_STORAGE);
    const entry = (layer: number) => layerEntry(weights.layers[layer], kinds[layer]);
    const ranges = weights.arenas.flatMap((weightArena) =>
      kvCache.arenas.flatMap((kv): Range[] => {
        const firstLayer = Math.max(weightArena.firstLayer, kv.firstLayer);
        const nLayers = endOf(weightArena, kv) - firstLayer;
        if (nLayers <= 0) return [];
        const entries = Array.from({ length: nLayers }, (_, i) => entry(firstLayer + i));
        const params = make(`params.${firstLayer}`, 4 * nLayers * layerParams(shape), GPU_STORAGE);
        const offset = (firstLayer - kv.firstLayer) * kv.layerBytes;
        const size = Math.min(nLayers * kv.layerBytes, kv.k.size - offset); // no padding behind the last layer
        const [k, v] = [kv.k, kv.v].map((buffer) => ({ buffer, offset, size }));
        const { weights: planes, scales } = weightArena;
        const rope = buffers.ropes[0];
        const bind = (cut: StepCut) => {
          const data = rangeWords(cut, shape.nLayers, entries);
          const range = make(`range.${firstLayer}`, data.byteLength, GPU_UNIFORM);
          gpu.write(range, data);
          return step.bind({ weights: planes, scales, params, rope, words, k, v, x: buffers.x, range });
        };
        const cuts = test.apart ? phaseCuts(nLayers) : [wholeCut(nLayers)];
        return [{ firstLayer, nLayers, params, groups: cuts.map(bind) }];
      }),
    );
    return new FusedStep(sources, step, words, ranges, shape);
  }

  /** Gathers the small vectors of the layers, when the weights are there. */
  start(): void {
    const { gpu, weights } = this.sources;
    const { hiddenSize, headDim, qkNormEps, qkvBias } = this.shape;
    const encoder = gpu.device.createCommandEncoder({ label: 'step.params' });
    for (const { firstLayer, nLayers, params } of this.ranges) {
      for (let i = 0; i < nLayers; i++) {
        const { qkv, gateUp } = weights.layers[firstLayer + i];
        let to = 4 * i * layerParams(this.shape);
        const copy = (source: GPUBuffer, first: number, count: number) => {
          encoder.copyBufferToBuffer(source, 4 * first, params, to, 4 * count);
          to += 4 * count;
        };
        copy(qkv.params, 0, hiddenSize);
        copy(gateUp.params, 0, hiddenSize);
        if (qkNormEps !== null && qkv.outputNorm) copy(qkv.outputNorm, 0, 2 * headDim);
        if (qkvBias) copy(qkv.params, hiddenSize, qkv.matrix.rows);
      }
    }
    gpu.submit(encoder.finish());
  }

  /** The number of dispatches of a step. */
  get dispatches(): number {
    return this.ranges.reduce((sum, { groups }) => sum + groups.length, 0);
  }

  get launch(): StepLaunch {
    return this.step.plan.launch;
  }

  /** Adds all layers of one token to a list: x of the embedding to x of the last layer. */
  record(list: CommandList): void {
    for (const { groups } of this.ranges) for (const group of groups) this.step.record(list, group);
  }

  /** Adds a dispatch that must give up: of one workgroup, which waits for the others. */
  recordLonely(list: CommandList): void {
    this.step.record(list, this.ranges[0].groups[0], 1);
  }

  /** Clears the words, the status and the epoch after a step that gave up, and sets the polls of a wait. */
  reset(spins: number): void {
    const { gpu } = this.sources;
    const encoder = gpu.device.createCommandEncoder({ label: 'step.reset' });
    encoder.clearBuffer(this.words);
    gpu.submit(encoder.finish());
    const header = new Uint32Array(HEADER_WORDS);
    header[EPOCH] = 1; // cleared words have epoch 0
    header[SPINS] = spins;
    gpu.write(this.words, header);
  }

  /** True if a step has given up since the last reset. */
  async gaveUp(): Promise<boolean> {
    const status = new Uint32Array(await this.sources.gpu.read(this.words, 4));
    return status[STATUS] !== 0;
  }

  destroy(): void {
    const { gpu } = this.sources;
    gpu.destroyBuffer(this.words);
    for (const { params } of this.ranges) gpu.destroyBuffer(params);
  }
}

function endOf(...arenas: readonly { firstLayer: number; nLayers: number }[]): number {
  return Math.min(...arenas.map(({ firstLayer, nLayers }) => firstLayer + nLayers));
}

/** The places of a layer's weights, and the kinds of its products, as shaders/step/step.wgsl reads them. */
function layerEntry(layer: LayerWeights, kinds: Readonly<Record<StepProduct, number>>): number[] {
  const places = ({ matrix }: LinearWeights) =>
    matrix.parts.flatMap(({ format, weights, scales }) => [
      weights.offset / 16,
      scales.offset / (readsScaleQuads(format as IntegerFormat) ? 16 : 4),
    ]);
  const qkv = [...places(layer.qkv), 0, 0].slice(0, 4);
  const [o, gateUp, down] = [layer.o, layer.gateUp, layer.down].map(places);
  return [...qkv, ...o, ...gateUp, ...down, 0, 0, kinds.qkv, kinds.o, kinds.gateUp, kinds.down];
}
