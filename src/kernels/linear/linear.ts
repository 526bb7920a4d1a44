// The common half of all linears: shape, epilogue, bindings, and a kernel for each part of a matrix.

import params from '../../../shaders/linear/params.wgsl?raw';
import { GpuProgramError } from '../../errors';
import type { Bindable } from '../../gpu/buffer_range';
import type { Gpu } from '../../gpu/device';
import {
  type BindingKind,
  type CommandList,
  type Constant,
  createKernel,
  type Kernel,
  type RowTable,
} from '../../gpu/kernel';
import { why } from '../../shared/why';
import { type RowRange, WEIGHT_FORMATS, type WeightFormat, type WeightRun } from './weight_format';

/** A product with a weight matrix (rows, cols), optionally of RMS-normalized activations, optionally with a bias. */
export interface LinearShape {
  rows: number;
  cols: number;
  format: WeightFormat;
  /** Epsilon of the RMSNorm in front, or null for none. Its weight is the first `cols` floats of params. */
  normEps: number | null;
  /** A bias of `rows` floats follows in params. */
  bias: boolean;
  /**
   * Row ranges stored in this format. Each must be a multiple of the epilogue's row group (at least 2). Default: all
   * rows.
   */
  parts?: readonly RowRange[];
}

/** Rows that the parts of this shape produce together: fewer than `rows` where a matrix mixes formats. */
export function ownRows({ rows, parts }: Pick<LinearShape, 'rows' | 'parts'>): number {
  return parts ? parts.reduce((sum, part) => sum + part.rows, 0) : rows;
}

/** The last step of a linear: an `emit` that takes pairs of rows, and its bindings from 4 on. */
export interface Epilogue {
  label: string;
  wgsl: readonly string[];
  constants?: Readonly<Record<string, Constant>>;
  bindings: readonly BindingKind[];
  /**
   * `wgsl` defines `finish` of matvec.wgsl or matmul_few.wgsl, or `finish_tokens` of matmul_q8.wgsl, which takes whole
   * workgroups of this many rows, or a multiple.
   */
  finishRows?: number;
  /** Bytes of workgroup memory that `finish_tokens` takes for each row and each token that are emitted at once. */
  finishBytes?: number;
  /** The same with outputs in signed bytes, for tiles of a matmul_q8 that have whole groups of its rows. */
  quantizing?: QuantizingEpilogue;
  /** Where the tokens of a pass stand, if the epilogue asks and they are not one conversation's. */
  rows?: RowTable;
  /** The bytes that a pass of `nTokens` at position 0 writes when the linear has `rows` rows. */
  outputs(rows: number, nTokens: number): readonly EpilogueOutput[];
}

/** An epilogue of matmul_q8 that leaves signed bytes. */
export type QuantizingEpilogue = Epilogue & Required<Pick<Epilogue, 'finishRows' | 'finishBytes'>>;

/**
 * Bytes that an epilogue writes: from offset 0, `runs` times (default 1) `bytes` bytes, `stride` bytes apart. Multiples
 * of 4.
 */
export interface EpilogueOutput {
  /** Index among the buffers of the epilogue. */
  buffer: number;
  /**
   * `q8`: the layout of quantize_activations. `key`: sortable logits (shaders/sampling/logit_key.wgsl).
   */
  encoding: 'f32' | 'f16' | 'q8' | 'key';
  bytes: number;
  runs?: number;
  stride?: number;
  /** The product is added to the values in the buffer. */
  adds?: boolean;
}

/** The output of an epilogue that writes f32 values from the beginning of a buffer. */
export function floats(count: number, buffer = 0): EpilogueOutput {
  return { buffer, encoding: 'f32', bytes: 4 * count };
}

/** Workgroups of a dispatch along x and y. */
export type Grid = readonly [x: number, y: number];

/** A product of one token (matvec) or many (matmul, matmul_q8): a dispatch for each part of the matrix. */
export interface Linear {
  /** `buffers`: x, params, then the epilogue's own. */
  bind(run: Pick<WeightRun, 'parts'>, ...buffers: readonly Bindable[]): readonly GPUBindGroup[];
  /** `groups`: what `bind` made. */
  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void;
  /** True for passes in which the epilogue's `quantizing` runs. */
  leavesBytes?(nTokens: number): boolean;
}

class LinearOfParts implements Linear {
  constructor(
    private readonly parts: readonly { kernel: Kernel; grid: (nTokens: number) => Grid }[],
    private readonly operations: (nTokens: number) => number,
  ) {}

  /** One group for each part. */
  bind(run: Pick<WeightRun, 'parts'>, ...buffers: readonly Bindable[]): readonly GPUBindGroup[] {
    return this.parts.map(({ kernel }, i) => {
      const { weights, scales } = run.parts[i];
      return kernel.bind(weights, scales, ...buffers);
    });
  }

  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void {
    for (const [i, { kernel, grid }] of this.parts.entries()) list.add(kernel, groups[i], ...grid(nTokens));
    list.count(this.operations(nTokens));
  }
}

/** A linear for passes of at most so many tokens. */
export interface SizedLinear {
  most: number;
  linear: Linear;
  /** True where the epilogue's `quantizing` runs. Default: false. */
  leavesBytes?: boolean;
}

/** One product for passes of several sizes: the first linear for at least as many tokens runs. */
export function bySize(sizes: readonly SizedLinear[]): Linear {
  const indexOf = (nTokens: number) => sizes.findIndex(({ most }) => nTokens <= most);
  return {
    bind: (run, ...buffers) => sizes.flatMap(({ linear }) => linear.bind(run, ...buffers)),
    record(list, groups, nTokens) {
      const size = indexOf(nTokens);
      const each = groups.length / sizes.length;
      sizes[size].linear.record(list, groups.slice(size * each, (size + 1) * each), nTokens);
    },
    leavesBytes: (nTokens) => sizes[indexOf(nTokens)].leavesBytes ?? false,
  };
}

/** The parts of a linear that depend on its kernel. */
export interface LinearCore {
  /** The end of the label, after the epilogue's name. */
  name: string;
  /** Between the format of the weights and the epilogue. */
  wgsl: readonly string[];
  constants(part: RowRange): Readonly<Record<string, Constant>>;
  grid(part: RowRange, nTokens: number): Grid;
  /** Tokens of a pass that the kernel multiplies. */
  tokens(nTokens: number): number;
  /** The last bindings, after the epilogue's. */
  bindings?: readonly BindingKind[];
  subgroups?: boolean;
  matrices?: boolean;
}

/**
 * Compiles a core around `epilogue` for every part of the matrix.
 * @throws GpuProgramError where a part begins within rows that the epilogue takes together
 */
export async function compileLinear(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  core: LinearCore,
): Promise<Linear> {
  const ranges = shape.parts ?? [{ row0: 0, rows: shape.rows }];
  const format = WEIGHT_FORMATS[shape.format];
  const { finishRows = 2 } = epilogue;
  const cut = ranges.find(({ row0 }) => row0 % finishRows !== 0);
  if (cut) {
    const fault = why`a part begins at row ${cut.row0}, within ${finishRows} rows that belong together`;
    throw new GpuProgramError(epilogue.label, why`${fault}. Store the tensors of this matrix in one format.`);
  }
  const parts = ranges.map(async (part) => ({
    kernel: await createKernel(gpu, {
      label: `${epilogue.label}.${core.name}`,
      wgsl: [params, ...format.wgsl, ...core.wgsl, ...epilogue.wgsl],
      constants: {
        ROWS: shape.rows,
        ROW0: part.row0,
        PART_ROWS: part.rows,
        COLS: shape.cols,
        NORM: shape.normEps !== null,
        EPS: { f32: shape.normEps ?? 0 },
        BIAS: shape.bias,
        ...format.constants,
        ...core.constants(part),
        ...epilogue.constants,
      },
      bindings: ['read', 'read', 'read', 'read', ...epilogue.bindings, ...(core.bindings ?? [])],
      subgroups: core.subgroups,
      matrices: core.matrices,
      rows: epilogue.rows,
    }),
    grid: (nTokens: number) => core.grid(part, nTokens),
  }));
  const operations = 2 * ownRows(shape) * shape.cols;
  return new LinearOfParts(await Promise.all(parts), (nTokens) => operations * core.tokens(nTokens));
}
