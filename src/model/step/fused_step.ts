// The fused step of a model: the buffers that the dispatch needs beside the model's own, and its recording in place of
// the layers of one token.

import { GPU_COPY_DST, GPU_COPY_SRC, GPU_STORAGE, GPU_UNIFORM } from '../../gpu/device';
import type { CommandList } from '../../gpu/kernel';
import { type IntegerFormat, readsScaleQuads } from '../../kernels/linear/weight_format';
import { phaseCuts, rangeWords, Step, type StepCut, type StepTest, wholeCut } from '../../kernels/step/step';
import {
  HEADER_WORDS,
  layerParams,
  mayAttendByLanes,
  type StepAttention,
  type StepLaunch,
  type StepProduct,
  type StepShape,
} from '../../kernels/step/step_plan';
import type { LinearSources } from '../layers/linears';
import type { LayerWeights, LinearWeights } from '../weights/weights';
import type { FusedModel } from './fused_model';

/** Words of `words` (shaders/step/hand_over.wgsl). */
const STATUS = 0;
const EPOCH = 1;
const SPINS = 2;

/** Consecutive layers of one dispatch: their weights, keys and values lie in one buffer each. */
interface Range {
  firstLayer: number;
  nLayers: number;
  params: GPUBuffer;
  uniforms: readonly GPUBuffer[];
  groups: Readonly<Record<StepAttention, readonly GPUBindGroup[]>>;
}

/** All layers of a step: x of the embedding to x of the last layer. */
export interface FusedLayers {
  record(list: CommandList): void;
}

/** Contexts from this many tokens on have keys enough for lanes. Steps are timed at their end, too. */
export const LONG_CONTEXT = 2048;

export class FusedStep {
  /** Attention in tiles, for short caches; and by lanes, for long ones, where the context is long enough. */
  readonly tiles: FusedLayers;
  readonly lanes: FusedLayers | null;

  private constructor(
    private readonly sources: Omit<LinearSources, 'tuned'>,
    private readonly steps: { tiles: Step; lanes: Step | null },
    /** Words that workgroups hand over, behind the status, the epoch and the limit of a wait. */
    readonly words: GPUBuffer,
    private readonly ranges: readonly Range[],
    private readonly shape: StepShape,
  ) {
    const layers = (attention: StepAttention, step: Step): FusedLayers => ({
      record: (list) => {
        for (const { groups } of ranges) for (const group of groups[attention]) step.record(list, group);
      },
    });
    this.tiles = layers('tiles', steps.tiles);
    this.lanes = steps.lanes && layers('lanes', steps.lanes);
  }

  /** Compiles the step and allocates its buffers. `start` follows when the weights are there. */
  static async create(
    sources: Omit<LinearSources, 'tuned'>,
    { shape, kinds }: FusedModel,
    launch: StepLaunch,
    test: StepTest = {},
  ): Promise<FusedStep> {
    const { gpu, weights, kvCache, buffers, attentionShape } = sources;
    const withLanes = test.lanes ?? shape.contextLength >= LONG_CONTEXT;
    const [tiles, lanes] = await Promise.all([
      Step.create(gpu, shape, launch, 'tiles', test, attentionShape.rows),
      withLanes && mayAttendByLanes(shape, launch, gpu.can.subgroupMinSize, gpu.limits)
        ? Step.create(gpu, shape, launch, 'lanes', test)
        : null,
    ]);
    const make = (label: string, bytes: number, usage: GPUBufferUsageFlags) =>
      gpu.createBuffer(`step.${label}`, bytes, usage | GPU_COPY_DST | GPU_COPY_SRC);
    const words = make('words', 4 * tiles.plan.nWords, GPU_STORAGE);
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
        const uniform = (cut: StepCut) => {
          const data = rangeWords(cut, shape.nLayers, entries);
          const range = make(`range.${firstLayer}`, data.byteLength, GPU_UNIFORM);
          gpu.write(range, data);
          return range;
        };
        const uniforms = (test.apart ? phaseCuts(nLayers) : [wholeCut(nLayers)]).map(uniform);
        const bind = (step: Step | null) =>
          step
            ? uniforms.map((range) =>
                step.bind({ weights: planes, scales, params, rope, words, k, v, x: buffers.x, range }),
              )
            : [];
        return [{ firstLayer, nLayers, params, uniforms, groups: { tiles: bind(tiles), lanes: bind(lanes) } }];
      }),
    );
    return new FusedStep(sources, { tiles, lanes }, words, ranges, shape);
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
    return this.ranges.reduce((sum, { groups }) => sum + groups.tiles.length, 0);
  }

  get launch(): StepLaunch {
    return this.steps.tiles.plan.launch;
  }

  /** Adds a dispatch that must give up: of one workgroup, which waits for the others. */
  recordLonely(list: CommandList): void {
    this.steps.tiles.record(list, this.ranges[0].groups.tiles[0], 1);
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

  /** Forgets the words of all steps so far, but not that one gave up: after others, those of a token look new again. */
  renew(spins: number): void {
    const { gpu } = this.sources;
    const encoder = gpu.device.createCommandEncoder({ label: 'step.renew' });
    encoder.clearBuffer(this.words, 4 * EPOCH);
    gpu.submit(encoder.finish());
    gpu.write(this.words, Uint32Array.of(1, spins), 4 * EPOCH);
  }

  /** True if a step has given up since the last reset. */
  async gaveUp(): Promise<boolean> {
    const status = new Uint32Array(await this.sources.gpu.read(this.words, 4));
    return status[STATUS] !== 0;
  }

  destroy(): void {
    const { gpu } = this.sources;
    gpu.destroyBuffer(this.words);
    for (const { params, uniforms } of this.ranges)
      for (const buffer of [params, ...uniforms]) gpu.destroyBuffer(buffer);
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
