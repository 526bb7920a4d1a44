// The fused step: compiles shaders/step/step.wgsl for a model, binds a range of its layers, and records the dispatch.

import columns from '../../../shaders/attention/decode/columns.wgsl?raw';
import kvF16 from '../../../shaders/attention/kv/kv_f16.wgsl?raw';
import kvF32 from '../../../shaders/attention/kv/kv_f32.wgsl?raw';
import kvQ8 from '../../../shaders/attention/kv/kv_q8.wgsl?raw';
import cellScales from '../../../shaders/attention/kv/kv_scales_cells.wgsl?raw';
import noScales from '../../../shaders/attention/kv/kv_scales_none.wgsl?raw';
import octScales from '../../../shaders/attention/kv/kv_scales_octs.wgsl?raw';
import laneKeysPairs from '../../../shaders/attention/lanes/lane_keys_pairs.wgsl?raw';
import laneKeysQ8 from '../../../shaders/attention/lanes/lane_keys_q8.wgsl?raw';
import lanesWgsl from '../../../shaders/attention/lanes/lanes.wgsl?raw';
import onlineSoftmax from '../../../shaders/attention/online_softmax.wgsl?raw';
import activationWgsl from '../../../shaders/linear/epilogues/activation.wgsl?raw';
import attentionLanes from '../../../shaders/step/attention_lanes.wgsl?raw';
import attentionTiles from '../../../shaders/step/attention_tiles.wgsl?raw';
import freshPairs from '../../../shaders/step/fresh_pairs.wgsl?raw';
import freshQ8 from '../../../shaders/step/fresh_q8.wgsl?raw';
import handOver from '../../../shaders/step/hand_over.wgsl?raw';
import heads from '../../../shaders/step/heads.wgsl?raw';
import laneQ8 from '../../../shaders/step/lane_q8.wgsl?raw';
import merge from '../../../shaders/step/merge.wgsl?raw';
import publishWgsl from '../../../shaders/step/publish.wgsl?raw';
import wgsl from '../../../shaders/step/step.wgsl?raw';
import tilePairs from '../../../shaders/step/tile_pairs.wgsl?raw';
import tileQ8 from '../../../shaders/step/tile_q8.wgsl?raw';
import xBlocks from '../../../shaders/step/x_blocks.wgsl?raw';
import type { BufferRange } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import { type CommandList, type Constant, createKernel, type Kernel, type RowTable } from '../../gpu/kernel';
import { planLanes, unrolledLanes } from '../../shared/lanes';
import { START } from '../linear/started';
import { type IntegerFormat, readsScaleQuads, ZERO_BELOW } from '../linear/weight_format';
import {
  mostRowParts,
  planStep,
  qkvRows,
  type StepAttention,
  type StepFormats,
  type StepLaunch,
  type StepPlan,
  type StepProduct,
  type StepShape,
  squaresOf,
  wordsOf,
  X_BLOCK,
  xStride,
  xWords,
} from './step_plan';
import { tileWgsl } from './tile_state';
import { formatWgsl, type Product, productWgsl, type Take, takeWgsl } from './unrolled';

/** Words of a layer in the uniform of a range: four vec4<u32>. */
const LAYER_ENTRY_WORDS = 16;
/** Words in front of the layers. */
const RANGE_HEADER_WORDS = 4;

/** The buffers of a range of layers, in the order of their bindings. */
export interface StepBuffers {
  weights: GPUBuffer;
  scales: GPUBuffer;
  /** f32 (layers, layerParams). */
  params: GPUBuffer;
  rope: GPUBuffer;
  words: GPUBuffer;
  k: BufferRange;
  v: BufferRange;
  /** f32 (hidden_size), in and out. */
  x: GPUBuffer;
  /** The uniform of the range. */
  range: GPUBuffer;
}

/** Tests cut the step, and damage its words. */
export interface StepTest {
  /** The function that leaves a word. */
  publish?: string;
  /** A dispatch for each phase, so that no workgroup waits. */
  apart?: boolean;
  /** Attention by lanes, too, however short the context. */
  lanes?: boolean;
}

export class Step {
  private constructor(
    private readonly kernel: Kernel,
    readonly plan: StepPlan,
    private readonly readsQuads: boolean,
  ) {}

  /**
   * Compiles the step, with attention that is fast over few keys or over many. Tests run it apart, in a dispatch for
   * each phase, where no load outlives a phase; `publish` replaces the function that leaves a word.
   * @throws GpuProgramError where the browser refuses the shader
   */
  static async create(
    gpu: Gpu,
    shape: StepShape,
    launch: StepLaunch,
    attention: StepAttention,
    test: StepTest = {},
    table?: RowTable,
  ): Promise<Step> {
    const subgroup = gpu.can.subgroupMinSize;
    const plan = planStep(shape, launch, subgroup, gpu.limits.maxComputeWorkgroupStorageSize);
    const readsQuads = formatsOf(shape.formats).some(readsScaleQuads);
    const bindings = ['read', 'read', 'read', 'read', 'write', 'write', 'write', 'write', 'uniform'] as const;
    const kernel = await createKernel(gpu, {
      label: 'kernels/step',
      wgsl: sources(shape, plan, subgroup, attention, test.publish ?? publishWgsl, readsQuads),
      constants: {
        ...constantsOf(shape, plan, subgroup),
        ...ATTENTION[attention].constants(shape, plan, subgroup),
        APART: test.apart ?? false,
      },
      bindings: readsQuads ? [...bindings, 'read'] : bindings,
      subgroups: true,
      rows: table,
    });
    return new Step(kernel, plan, readsQuads);
  }

  bind({ weights, scales, params, rope, words, k, v, x, range }: StepBuffers): GPUBindGroup {
    const quads = this.readsQuads ? [scales] : [];
    return this.kernel.bind(weights, scales, params, rope, words, k, v, x, range, ...quads);
  }

  /** Adds the dispatch. Fewer workgroups than planned wait in vain: a load measures the wait so. */
  record(list: CommandList, group: GPUBindGroup, groups = this.plan.busyGroups): void {
    list.add(this.kernel, group, groups);
  }
}

function formatsOf({ qkv, o, gateUp, down }: StepFormats): readonly IntegerFormat[] {
  const all = [qkv, o, gateUp, down].flatMap((kinds) => kinds.flatMap((runs) => runs.map(({ format }) => format)));
  return [...new Set(all)];
}

/** Bytes of eight neighboring values in the cache. */
const OCT_BYTES = { f16: 16, f32: 32, q8: 8 } as const;

const KV_PIECES = { f16: [kvF16, freshPairs], f32: [kvF32, freshPairs], q8: [kvQ8, freshQ8] } as const;
const PAIR_LANES = [noScales, laneKeysPairs];
const LANE_PIECES = { f16: PAIR_LANES, f32: PAIR_LANES, q8: [cellScales, laneKeysQ8, laneQ8] } as const;
const TILE_PIECES = { f16: [tilePairs], f32: [tilePairs], q8: [octScales, tileQ8] } as const;

/** The source of each attention, with the pieces in front of it, and its constants. */
const ATTENTION = {
  tiles: {
    source: (shape: StepShape, plan: StepPlan, subgroup: number) => [
      ...TILE_PIECES[shape.kvType],
      attentionTiles,
      tileWgsl(shape, plan, subgroup),
    ],
    constants: (_shape: StepShape, { keyLanes, ownHeads }: StepPlan) => ({ K_LANES: keyLanes, OWN_HEADS: ownHeads }),
  },
  lanes: {
    source: (shape: StepShape, _plan: StepPlan, subgroup: number) => [
      ...LANE_PIECES[shape.kvType],
      columns,
      lanesWgsl,
      unrolledLanes(shape.headDim, shape.nHeads / shape.nKvHeads, planLanes(shape, subgroup)),
      attentionLanes,
    ],
    constants: (shape: StepShape, { launch }: StepPlan, subgroup: number) => ({
      HEADS: shape.nHeads / shape.nKvHeads,
      WORKGROUP: launch.threads,
      ...planLanes(shape, subgroup),
    }),
  },
} as const;

function constantsOf(shape: StepShape, plan: StepPlan, subgroup: number): Readonly<Record<string, Constant>> {
  const { words, launch, ownHidden, ownA, ownH } = plan;
  return {
    ROWS: shape.rows,
    THREADS: launch.threads,
    SUBGROUP: subgroup,
    N_LAYERS: shape.nLayers,
    HIDDEN: shape.hiddenSize,
    INTERMEDIATE: shape.intermediateSize,
    Q_SIZE: shape.nHeads * shape.headDim,
    N_ROWS: qkvRows(shape),
    N_KV_HEADS: shape.nKvHeads,
    GROUP: shape.nHeads / shape.nKvHeads,
    DIM: shape.headDim,
    HEAD_DIM: shape.headDim, // the name in shaders/attention
    CONTEXT: shape.contextLength,
    LAYER_OCTS: shape.kvLayerBytes / OCT_BYTES[shape.kvType],
    Q_SCALE: { f32: Math.LOG2E * shape.attentionScale },
    EPS: { f32: shape.normEps },
    QK_NORM: shape.qkNormEps !== null,
    QK_EPS: { f32: shape.qkNormEps ?? 0 },
    BIAS: shape.qkvBias,
    GELU_TANH: shape.activation === 'gelu_tanh',
    RESIDUAL_SCALE: { f32: shape.residualScale },
    ZERO_BELOW: { f32: ZERO_BELOW },
    SPLITS: plan.splits,
    EARLY: plan.early,
    OWN_HIDDEN: ownHidden,
    OWN_A: ownA / X_BLOCK,
    OWN_H: ownH,
    MOST_OWN: Math.max(ownHidden, ownA, ownH),
    X_WORDS: xWords(shape, plan),
    ROW_PARTS: shape.rows * mostRowParts(plan, subgroup),
    X_AT: words.x,
    QKV_AT: words.qkv,
    PARTS_AT: words.parts,
    A_AT: words.a,
    X2_AT: words.x2,
    H_AT: words.h,
  };
}

function sources(
  shape: StepShape,
  plan: StepPlan,
  subgroup: number,
  attention: StepAttention,
  publish: string,
  readsQuads: boolean,
): string[] {
  const { kvType } = shape;
  const formats = formatsOf(shape.formats);
  return [
    readsQuads ? '@group(0) @binding(9) var<storage, read> scale_quads: array<vec4<u32>>;' : '',
    'var<private> plane0: u32;\nvar<private> scale0: u32;',
    'var<workgroup> row_parts: array<f32, ROW_PARTS>;',
    ...KV_PIECES[kvType],
    onlineSoftmax,
    activationWgsl,
    handOver,
    publish,
    xBlocks,
    START,
    heads,
    ...ATTENTION[attention].source(shape, plan, subgroup),
    merge,
    ...formats.map(formatWgsl),
    ...takes(shape, plan).map((take) => takeWgsl(take, plan.launch.threads)),
    ...products(plan, attention).map((product) => productWgsl(product, plan, shape.rows, subgroup)),
    wgsl,
  ];
}

function takes(shape: StepShape, plan: StepPlan): Take[] {
  const { rows, nHeads, nKvHeads, headDim } = shape;
  const { words, splits, ownA } = plan;
  const group = nHeads / nKvHeads;
  const take = (name: string, wait: XWait) =>
    rows === 1 ? takeX(name, plan, wait) : takeBlocks(name, shape, plan, wait);
  return [
    take('take_x', { product: 'qkv', first: words.x, normed: true }),
    take('take_a', { product: 'o', first: words.a, normed: false }),
    take('take_x2', { product: 'gateUp', first: words.x2, normed: true }),
    take('take_h', { product: 'down', first: words.h, normed: false }),
    {
      name: 'take_heads',
      count: (group + 2) * headDim,
      at: (i: string) => `head_word(${i})`,
      put: (i: string, [word]: readonly string[]) => `heads[${i}] = from24(${word});`,
    },
    {
      name: 'take_parts',
      count: rows * (ownA / X_BLOCK) * splits * (X_BLOCK + 2),
      at: (i: string) => `part_word(${i})`,
      put: (i: string, [word]: readonly string[]) => `merged[${i}] = from24(${word});`,
    },
  ];
}

/** Columns of x, as words behind `first`, of which a chunk at a time comes to workgroup memory. */
interface XWait {
  product: StepProduct;
  first: number;
  normed: boolean;
}

/** The wait for x of one token, all columns at once: a thread takes words. */
function takeX(name: string, { products }: StepPlan, { product, first, normed }: XWait): Take {
  const [[{ blocks }]] = products[product];
  const words = wordsOf(normed);
  return {
    name,
    parameter: 'chunk',
    count: blocks * X_BLOCK,
    at: (i) => `${first}u + ${i}`,
    put: (i, [payload]) => `let w = ${i};
    let at = w % 8u * ${xStride(blocks, 1)}u + w / 16u;
    if (w % 8u < ${words}u) { x_words[at][w / 8u % 2u] = ${payload}; }`,
  };
}

/**
 * The wait for a chunk of the columns of x of several tokens: a thread takes blocks. The last token stands for those
 * that the step lacks.
 */
function takeBlocks(
  name: string,
  { rows: tokens }: StepShape,
  { products }: StepPlan,
  { product, first, normed }: XWait,
): Take {
  const [[{ blocks, chunk }]] = products[product];
  const [all, some] = [2 * blocks, 2 * chunk]; // blocks of 16
  const stride = xStride(chunk, tokens);
  const at = (i: string, word: number) => {
    const own = chunk < blocks ? `chunk * ${some}u + ${i} / ${tokens}u` : `${i} / ${tokens}u`;
    const block = blocks % chunk === 0 ? own : `min(${own}, ${all - 1}u)`;
    return `${first + word * all * tokens}u + (${block}) * ${tokens}u + min(${i} % ${tokens}u, n_rows() - 1u)`;
  };
  const squares = squaresOf(chunk, tokens);
  const put = (i: string, words: readonly string[]) => `let token = ${i} % ${tokens}u;
    let block = ${i} / ${tokens}u;
    let bytes = bytes_of(${words.slice(0, 6).join(', ')});
    let at = 2u * ((block % 2u * ${tokens}u + token) * ${stride}u + block / 2u);
    x_words[at] = bytes.xy;
    x_words[at + 1u] = bytes.zw;
    let scales = 2u * ((${2 * tokens}u + token) * ${stride}u + block / 2u);
    x_words[scales][block % 2u] = ${words[6]} << 8u;
    x_words[scales + 1u][block % 2u] = u32(start16(bytes));
    ${normed ? `x_words[${squares.first}u + token * ${squares.step}u + block / 2u][block % 2u] = ${words[7]};` : ''}`;
  return {
    name,
    parameter: 'chunk',
    count: tokens * some,
    words: wordsOf(normed),
    at,
    put,
    polled: chunk < blocks,
  };
}

const LOAD_NEXT = 'if (layer + 1u < bound.n_layers) { load_qkv(layer + 1u); }';

/** The products, as step.wgsl calls them. */
function products({ products: { qkv, o, gateUp, down }, early }: StepPlan, attention: StepAttention): Product[] {
  // Lanes have no registers left for weights of o.
  const earlyO = early && attention === 'tiles';
  return [
    {
      name: 'qkv',
      load: 'load_qkv',
      kinds: qkv,
      kind: 'x',
      places: ['qkv.xy', 'qkv.zw'],
      take: 'take_x',
      normed: true,
      emit: { rows: 'emit_qkv' },
      early,
      ahead: `load_tile(layer); ${earlyO ? 'load_o(layer);' : ''}`,
    },
    {
      name: 'o',
      load: 'load_o',
      kinds: o,
      kind: 'y',
      places: ['o_gate_up.xy'],
      take: 'take_a',
      normed: false,
      emit: { rows: 'emit_o' },
      early: earlyO,
      ahead: early ? 'load_gate_up(layer);' : '',
    },
    {
      name: 'gate_up',
      load: 'load_gate_up',
      kinds: gateUp,
      kind: 'z',
      places: ['o_gate_up.zw'],
      take: 'take_x2',
      normed: true,
      emit: { pairs: 'emit_gate_up' },
      early,
      ahead: early ? 'load_down(layer);' : '',
    },
    {
      name: 'down',
      load: 'load_down',
      kinds: down,
      kind: 'w',
      places: ['down.xy'],
      take: 'take_h',
      normed: false,
      emit: { rows: 'emit_down' },
      early,
      ahead: early ? LOAD_NEXT : '',
    },
  ];
}

/** The work of one dispatch among the layers of a range. */
export interface StepCut {
  firstLayer: number;
  endLayer: number;
  /** Bits of shaders/step/step.wgsl. */
  phases: number;
}

const PHASE_COUNT = 6;
const BEGINS = 1 << PHASE_COUNT;
const ENDS = 2 << PHASE_COUNT;

/** All phases of all layers: one dispatch. */
export function wholeCut(nLayers: number): StepCut {
  return { firstLayer: 0, endLayer: nLayers, phases: BEGINS | (BEGINS - 1) | ENDS };
}

/**
 * A dispatch for each phase, where no workgroup waits for another. The epoch ends in a dispatch of its own, since late
 * workgroups of the last phase still read it.
 */
export function phaseCuts(nLayers: number): StepCut[] {
  const phases = Array.from({ length: nLayers * PHASE_COUNT }, (_, i) => {
    const firstLayer = Math.floor(i / PHASE_COUNT);
    return { firstLayer, endLayer: firstLayer + 1, phases: 1 << (i % PHASE_COUNT) };
  });
  const alone = { firstLayer: 0, endLayer: 0 };
  return [{ ...alone, phases: BEGINS }, ...phases, { ...alone, phases: ENDS }];
}

/** The uniform of a dispatch, as words: the cut, then each layer's places. `mostLayers`: of the shape. */
export function rangeWords(
  cut: StepCut,
  mostLayers: number,
  entries: readonly (readonly number[])[],
): Uint32Array<ArrayBuffer> {
  const data = new Uint32Array(RANGE_HEADER_WORDS + mostLayers * LAYER_ENTRY_WORDS);
  data.set([entries.length, cut.firstLayer, cut.endLayer, cut.phases]);
  for (const [i, entry] of entries.entries()) data.set(entry, RANGE_HEADER_WORDS + i * LAYER_ENTRY_WORDS);
  return data;
}
