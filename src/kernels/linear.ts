import laneSumsPlain from '../../shaders/lib/lane_sums_plain.wgsl?raw';
import laneSumsSubgroups from '../../shaders/lib/lane_sums_subgroups.wgsl?raw';
import matmul from '../../shaders/lib/matmul.wgsl?raw';
import matvec from '../../shaders/lib/matvec.wgsl?raw';
import params from '../../shaders/lib/params.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { type BindingKind, type CommandList, type Constant, createKernel, type Kernel } from '../gpu/kernel';
import { BLOCK, type RowRange, rowParts, WEIGHT_FORMATS, type WeightFormat, type WeightMatrix } from './weight_format';

/** A product with a weight matrix (rows, cols), optionally of RMS-normalised activations, optionally with a bias. */
export interface LinearShape {
  rows: number;
  cols: number;
  format: WeightFormat;
  /** Epsilon of the RMSNorm in front, or null for none. Its weight is the first `cols` floats of params. */
  normEps: number | null;
  /** A bias of `rows` floats follows in params. */
  bias: boolean;
  /** Rows of each part of the matrix but the last; all of them when left out. */
  partRows?: number;
}

/** What a kernel adds to the two cores: an `emit` that takes pairs of rows, and its bindings from 4 on. */
export interface Epilogue {
  label: string;
  wgsl: readonly string[];
  constants?: Readonly<Record<string, Constant>>;
  bindings: readonly BindingKind[];
}

const TILE_TOKENS = 32;
const TILE_ROWS = 64;
const MAX_GRID = 65535;
/** Threads of a matvec workgroup. */
const WORKGROUP = 64;

/** The two forms of a product for a part of its rows. Both take the same bind group. */
interface LinearPart {
  rows: number;
  matvec: Kernel;
  matmul: Kernel | null;
}

/** One product in two forms: matvec for one token, matmul for many; a dispatch for each part of the matrix. */
export class Linear {
  constructor(
    private readonly parts: readonly LinearPart[],
    private readonly rowsPerWorkgroup: number,
  ) {}

  /** `buffers`: x, params, then the epilogue's own. One group for each part. */
  bind(matrix: WeightMatrix, ...buffers: readonly GPUBuffer[]): readonly GPUBindGroup[] {
    return this.parts.map(({ matvec }, i) => {
      const { weights, scales } = matrix.parts[i];
      return matvec.bind(weights, scales, ...buffers);
    });
  }

  /** All tokens of the pass; only its last token where the product was made without a matmul. */
  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void {
    for (const [i, { rows, matvec, matmul }] of this.parts.entries()) {
      if (nTokens > 1 && matmul) {
        list.add(matmul, groups[i], Math.ceil(rows / TILE_ROWS), Math.ceil(nTokens / TILE_TOKENS));
      } else {
        const { gridX, gridY } = matvecGrid(rows, this.rowsPerWorkgroup);
        list.add(matvec, groups[i], gridX, gridY);
      }
    }
  }
}

function matvecGrid(rows: number, rowsPerWorkgroup: number): { gridX: number; gridY: number } {
  const groups = Math.ceil(rows / rowsPerWorkgroup);
  const gridX = Math.min(groups, MAX_GRID);
  return { gridX, gridY: Math.ceil(groups / gridX) };
}

/** Threads that share a pair of rows: as many as there are blocks to share, within one subgroup where there are subgroups. */
function lanesFor(gpu: Gpu, cols: number): number {
  const most = gpu.can.subgroupMinSize || 32;
  return Math.min(most, 32, 2 ** Math.floor(Math.log2(cols / BLOCK)));
}

/** Compiles both cores around `epilogue` for every part; `lastTokenOnly` leaves the matmul out (the head needs one row). */
export async function createLinear(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  lastTokenOnly = false,
): Promise<Linear> {
  const lanes = lanesFor(gpu, shape.cols);
  const rowsPerWorkgroup = (WORKGROUP / lanes) * 2;
  const parts = rowParts(shape.rows, shape.partRows ?? shape.rows).map(async (range): Promise<LinearPart> => {
    const source = partSource(shape, range, epilogue);
    const matvec = createMatvec(gpu, source, { lanes, gridX: matvecGrid(range.rows, rowsPerWorkgroup).gridX });
    const many = lastTokenOnly ? null : createMatmul(gpu, source);
    return { rows: range.rows, matvec: await matvec, matmul: await many };
  });
  return new Linear(await Promise.all(parts), rowsPerWorkgroup);
}

/** What both cores of a part have in common: weight formats in front, the epilogue behind. */
interface PartSource extends Epilogue {
  constants: Readonly<Record<string, Constant>>;
  before: readonly string[];
}

function partSource(shape: LinearShape, range: RowRange, epilogue: Epilogue): PartSource {
  return {
    label: epilogue.label,
    before: [...WEIGHT_FORMATS[shape.format].wgsl, params],
    wgsl: epilogue.wgsl,
    constants: {
      ROWS: shape.rows,
      ROW0: range.row0,
      PART_ROWS: range.rows,
      COLS: shape.cols,
      NORM: shape.normEps !== null,
      EPS: { f32: shape.normEps ?? 0 },
      BIAS: shape.bias,
      ...epilogue.constants,
    },
    bindings: ['read', 'read', 'read', 'read', ...epilogue.bindings],
  };
}

function createMatvec(gpu: Gpu, source: PartSource, grid: { lanes: number; gridX: number }): Promise<Kernel> {
  const { label, before, wgsl, constants, bindings } = source;
  const subgroups = gpu.can.subgroupMinSize > 0;
  return createKernel(gpu, {
    label: `${label}.matvec`,
    wgsl: [...before, subgroups ? laneSumsSubgroups : laneSumsPlain, matvec, ...wgsl],
    constants: { ...constants, WORKGROUP, LANES: grid.lanes, GRID_X: grid.gridX },
    bindings,
    subgroups,
  });
}

function createMatmul(gpu: Gpu, source: PartSource): Promise<Kernel> {
  const { label, before, wgsl, constants, bindings } = source;
  return createKernel(gpu, { label: `${label}.matmul`, wgsl: [...before, matmul, ...wgsl], constants, bindings });
}
