// The fused step of a model without the model around it: no other kernel is compiled.

import type { KvType } from '../../../src/attention/kv_layout';
import type { CpuWeights } from '../../../src/cpu/llama';
import { ropeTable, withRopeFactors } from '../../../src/cpu/rope';
import { loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { Gpu } from '../../../src/gpu/device';
import { CommandList, recordPass, type Step } from '../../../src/gpu/kernel';
import { type BatchRow, createRows, type Rows, SLOTS } from '../../../src/kernels/row_table';
import type { StepTest } from '../../../src/kernels/step/step';
import type { StepAttention, StepLaunch } from '../../../src/kernels/step/step_plan';
import { createBatchCache } from '../../../src/model/batch/batch_cache';
import { createBuffers, passTokens } from '../../../src/model/buffers';
import type { ModelConfig } from '../../../src/model/config/config';
import { readConfig } from '../../../src/model/config/read';
import { createKvCache } from '../../../src/model/kv/kv_cache';
import { padConfig } from '../../../src/model/padding';
import { refusedLaunch } from '../../../src/model/step/create_fused';
import { fusedModel } from '../../../src/model/step/fused_model';
import { type FusedLayers, FusedStep } from '../../../src/model/step/fused_step';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights, type QuantizedFormat } from '../../../src/model/weights/weights';
import type { ModelFiles } from '../../../src/storage/model_files';

/** Phases of a layer, each a dispatch of a step apart. */
const PHASES = 6;
/** Subgroups of a workgroup. Adapters whose subgroups are larger run a case with more threads. */
const LEAST_SUBGROUPS = 8;
/** More polls than any wait takes. */
const SPINS = 1 << 20;

export interface FusedRunOptions {
  contextLength: number;
  kvType?: KvType;
  /** True: attention by lanes is compiled, too. */
  lanes?: boolean;
  quantize?: QuantizedFormat;
  /** Settings that the file does not have. */
  config?: Partial<ModelConfig>;
  /** True: steps of several conversations, whose keys and values lie in slots. */
  batched?: boolean;
}

/** What a load hands to the fused step, without kernels. */
export async function fusedSources(gpu: Gpu, files: ModelFiles, options: FusedRunOptions) {
  const { contextLength, kvType = 'f32', quantize, batched = false } = options;
  const unpadded = { ...readConfig(files), ...options.config };
  const config = padConfig(unpadded);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, unpadded), unpadded, quantize);
  const { nHeads, nKvHeads, headDim, attentionScale: scale, attentionSoftcap: softcap } = config;
  const shape = { nHeads, nKvHeads, headDim, contextLength, kvType, scale, softcap, windowed: false };
  const kvCache = createKvCache(gpu, config, contextLength, kvType);
  const slots = batched ? createBatchCache(gpu, kvCache, shape, SLOTS, contextLength) : {};
  const rows = batched ? createRows(gpu, SLOTS) : undefined;
  const sources = {
    gpu,
    config,
    attentionShape: { ...shape, maxTokens: passTokens(gpu, config, contextLength), rows },
    buffers: createBuffers(gpu, config, contextLength),
    kvCache: { ...kvCache, ...slots },
    weights,
    activations: { decode: 'q8', prefill: 'q8' },
  } as const;
  return { unpadded, sources, rows, read };
}

/** The fused step of a model, and its weights for the textbook. */
export class FusedRun {
  private constructor(
    readonly fused: FusedStep,
    /** Sizes of the file. */
    readonly config: ModelConfig,
    readonly weights: CpuWeights,
    private readonly gpu: Gpu,
    private readonly x: GPUBuffer,
    private readonly keysAndValues: readonly GPUBuffer[],
    private readonly rows?: Rows,
  ) {}

  static async create(
    gpu: Gpu,
    files: ModelFiles,
    { groups, threads }: StepLaunch,
    options: FusedRunOptions,
    test: StepTest,
  ): Promise<FusedRun> {
    const least = LEAST_SUBGROUPS * gpu.can.subgroupMinSize;
    const launch = { groups, threads: Math.ceil(threads / least) * least };
    const { unpadded, sources, rows, read } = await fusedSources(gpu, files, options);
    const model = fusedModel(sources);
    if (typeof model === 'string') throw new Error(model);
    const why = refusedLaunch(model, launch, gpu);
    if (why !== null) throw new Error(why);
    const fused = await FusedStep.create(sources, model, launch, { ...test, lanes: options.lanes ?? false });
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
    const keysAndValues = sources.kvCache.arenas.flatMap(({ k, v }) => [k, v]);
    return new FusedRun(fused, unpadded, weights, gpu, buffers.x, keysAndValues, rows);
  }

  /** Clears the keys and values: the next step is the first. */
  forget(): void {
    const encoder = this.gpu.device.createCommandEncoder();
    for (const buffer of this.keysAndValues) encoder.clearBuffer(buffer);
    this.gpu.submit(encoder.finish());
  }

  /** x after the last layer, and the number of dispatches. */
  async whole(
    embedding: Float32Array,
    position: number,
    attention: StepAttention,
  ): Promise<{ x: Float32Array; dispatches: number }> {
    const { gpu } = this;
    const list = new CommandList(gpu);
    this.layers(attention).record(list);
    gpu.write(this.x, Float32Array.from(embedding));
    await list.run({ position, nTokens: 1 });
    const x = new Float32Array(await gpu.read(this.x, 4 * embedding.length));
    return { x, dispatches: list.commands.length };
  }

  /** x after each layer of ranges of `nLayers` layers each. */
  step(
    embedding: Float32Array,
    position: number,
    nLayers: readonly number[],
    attention: StepAttention,
  ): Promise<Float32Array[]> {
    return this.afterLayers(embedding, { position, nTokens: 1 }, nLayers, this.layers(attention));
  }

  /** x after each layer, of each conversation, which has its embedding in `rows`. `position` counts the steps. */
  async together(rows: readonly (BatchRow & { embedding: Float32Array })[], position: number) {
    const size = rows[0].embedding.length;
    const embeddings = new Float32Array(rows.length * size);
    for (const [i, { embedding }] of rows.entries()) embeddings.set(embedding, i * size);
    this.rows?.set(position, rows);
    const step = { position, nTokens: rows.length };
    const after = await this.afterLayers(embeddings, step, [this.config.nLayers], this.fused.tiles);
    return rows.map((_, i) => after.map((x) => x.slice(i * size, (i + 1) * size)));
  }

  private layers(attention: StepAttention): FusedLayers {
    const layers = this.fused[attention];
    if (!layers) throw new Error('no lanes here');
    return layers;
  }

  private async afterLayers(embeddings: Float32Array, step: Step, nLayers: readonly number[], layers: FusedLayers) {
    const { gpu, x, rows } = this;
    const all = new CommandList(gpu);
    layers.record(all);
    const commands = [...all.commands];
    gpu.write(x, Float32Array.from(embeddings));
    const after: Float32Array[] = [];
    for (const count of nLayers) {
      let next = commands.splice(0, 1); // x of the embedding
      for (let layer = 1; layer <= count; layer++) {
        next.push(...commands.splice(0, layer < count ? PHASES : PHASES + 1)); // and the end of the epoch
        const encoder = gpu.device.createCommandEncoder();
        recordPass(gpu, encoder, [{ list: { commands: next }, step, rows }]);
        gpu.submit(encoder.finish());
        next = [];
        after.push(new Float32Array(await gpu.read(x, 4 * embeddings.length)));
      }
    }
    if (commands.length > 0) throw new Error(`${commands.length} dispatches are left`);
    return after;
  }
}
