// The fused step of a model without the model around it: no other kernel is compiled.

import type { KvType } from '../../../src/attention/kv_layout';
import type { CpuWeights } from '../../../src/cpu/llama';
import { ropeTable, withRopeFactors } from '../../../src/cpu/rope';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList } from '../../../src/gpu/kernel';
import type { StepTest } from '../../../src/kernels/step/step';
import type { StepAttention, StepLaunch } from '../../../src/kernels/step/step_plan';
import { createBuffers, PREFILL_CHUNK } from '../../../src/model/buffers';
import type { ModelConfig } from '../../../src/model/config/config';
import { readConfig } from '../../../src/model/config/read';
import { createKvCache } from '../../../src/model/kv_cache';
import { padConfig } from '../../../src/model/padding';
import { refusedLaunch } from '../../../src/model/step/create_fused';
import { fusedModel } from '../../../src/model/step/fused_model';
import { type FusedLayers, FusedStep } from '../../../src/model/step/fused_step';
import { resolveTensors } from '../../../src/model/tensors';
import { allocateWeights, type QuantizedFormat } from '../../../src/model/weights';
import type { ModelFiles } from '../../../src/storage/model_files';

/** Phases of a layer, each a dispatch of a step apart. */
const PHASES = 6;
/** More polls than any wait takes. */
const SPINS = 1 << 20;

export interface FusedRunOptions {
  contextLength: number;
  kvType?: KvType;
  /** Default: `tiles`. */
  attention?: StepAttention;
  quantize?: QuantizedFormat;
  /** Settings that the file does not have. */
  config?: Partial<ModelConfig>;
}

/** What a load hands to the fused step, without kernels. */
export async function fusedSources(gpu: Gpu, files: ModelFiles, options: FusedRunOptions) {
  const { contextLength, kvType = 'f32', quantize } = options;
  const unpadded = { ...readConfig(files), ...options.config };
  const config = padConfig(unpadded);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, unpadded), unpadded, quantize);
  const { nHeads, nKvHeads, headDim, attentionScale: scale, attentionSoftcap: softcap } = config;
  const shape = { nHeads, nKvHeads, headDim, contextLength, kvType, scale, softcap, windowed: false };
  const sources = {
    gpu,
    config,
    attentionShape: { ...shape, maxTokens: PREFILL_CHUNK },
    buffers: createBuffers(gpu, config, contextLength),
    kvCache: createKvCache(gpu, config, contextLength, kvType),
    weights,
    activations: { decode: 'q8', prefill: 'q8' },
  } as const;
  return { unpadded, sources, read };
}

/** The fused step of a model, and its weights for the textbook. */
export class FusedRun {
  private constructor(
    readonly fused: FusedStep,
    private readonly layers: FusedLayers,
    /** Sizes of the file. */
    readonly config: ModelConfig,
    readonly weights: CpuWeights,
    private readonly gpu: Gpu,
    private readonly x: GPUBuffer,
  ) {}

  static async create(
    gpu: Gpu,
    files: ModelFiles,
    launch: StepLaunch,
    options: FusedRunOptions,
    test: StepTest,
  ): Promise<FusedRun> {
    const { unpadded, sources, read } = await fusedSources(gpu, files, options);
    const model = fusedModel(sources);
    if (typeof model === 'string') throw new Error(model);
    const why = refusedLaunch(model, launch, gpu);
    if (why !== null) throw new Error(why);
    const fused = await FusedStep.create(sources, model, launch, { ...test, lanes: options.attention === 'lanes' });
    const layers = fused[options.attention ?? 'tiles'];
    if (!layers) throw new Error('no lanes here');
    await read(files);
    fused.start();
    fused.reset(SPINS);
    const weights = await loadCpuWeights(resolveTensors(files, unpadded), undefined, options.quantize);
    const { config, buffers } = sources;
    for (const [i, rope] of config.ropes.entries()) {
      const parameters = weights.ropeFactors ? withRopeFactors(rope, weights.ropeFactors) : rope;
      const table = ropeTable(config.headDim, parameters, options.contextLength, 0, options.contextLength);
      gpu.write(buffers.ropes[i], table as Float32Array<ArrayBuffer>);
    }
    return new FusedRun(fused, layers, unpadded, weights, gpu, buffers.x);
  }

  /** x after the last layer, and the number of dispatches. */
  async whole(embedding: Float32Array, position: number): Promise<{ x: Float32Array; dispatches: number }> {
    const { gpu, layers } = this;
    const list = new CommandList(gpu);
    layers.record(list);
    gpu.write(this.x, Float32Array.from(embedding));
    await list.run({ position, nTokens: 1 });
    const x = new Float32Array(await gpu.read(this.x, 4 * embedding.length));
    return { x, dispatches: list.commands.length };
  }

  /** x after each layer of ranges of `nLayers` layers each. */
  async step(embedding: Float32Array, position: number, nLayers: readonly number[]): Promise<Float32Array[]> {
    const { layers, gpu, x } = this;
    const all = new CommandList(gpu);
    layers.record(all);
    const commands = [...all.commands];
    const list = new CommandList(gpu);
    const take = (count: number) => list.commands.push(...commands.splice(0, count));
    gpu.write(x, Float32Array.from(embedding));
    const after: Float32Array[] = [];
    for (const count of nLayers) {
      take(1); // x of the embedding
      for (let layer = 1; layer <= count; layer++) {
        take(layer < count ? PHASES : PHASES + 1); // and the end of the epoch
        await list.run({ position, nTokens: 1 });
        list.commands.length = 0;
        after.push(new Float32Array(await gpu.read(x, 4 * embedding.length)));
      }
    }
    if (commands.length > 0) throw new Error(`${commands.length} dispatches are left`);
    return after;
  }
}
