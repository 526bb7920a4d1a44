// Whether the layers of a model can run as one dispatch on this GPU, and in which shape. The step itself is a part of
// its own (create_fused.ts), since many GPUs run none.

import { hasIntegers } from '../../kernels/linear/matmul_q8';
import { formatRuns, type IntegerFormat, readsScaleQuads } from '../../kernels/linear/weight_format';
import type { FormatRows, StepFormats, StepProduct, StepShape } from '../../kernels/step/step_plan';
import { type Reason, why } from '../../shared/why';
import type { KvArena } from '../kv/kv_cache';
import type { LinearSources } from '../layers/linears';
import type { LinearWeights } from '../weights/weights';

/** Storage buffers of the dispatch, and one more where a format reads its scales in quads. */
const STORAGE_BUFFERS = 8;

const PRODUCTS: readonly StepProduct[] = ['qkv', 'o', 'gateUp', 'down'];

/** The shape of a model whose layers can run as one dispatch, and the kind of each layer's products. */
export interface FusedModel {
  shape: StepShape;
  kinds: readonly Readonly<Record<StepProduct, number>>[];
}

/** What decides whether the step can run. */
export interface StepSources
  extends Pick<LinearSources, 'gpu' | 'config' | 'attentionShape' | 'weights' | 'activations'> {
  kvCache: { arenas: readonly Pick<KvArena, 'nLayers' | 'layerBytes'>[] };
}

/** A model that the fused step can run on this GPU, or the reason why it cannot. */
export function fusedModel(sources: StepSources): FusedModel | Reason {
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
    rows: attentionShape.rows?.most ?? 1,
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
function refusedConfig({ gpu, config, weights, kvCache }: StepSources): Reason | null {
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
