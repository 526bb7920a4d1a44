import laneSumsPlain from '../../shaders/lib/lane_sums_plain.wgsl?raw';
import laneSumsSubgroups from '../../shaders/lib/lane_sums_subgroups.wgsl?raw';
import matmul from '../../shaders/lib/matmul.wgsl?raw';
import matvec from '../../shaders/lib/matvec.wgsl?raw';
import params from '../../shaders/lib/params.wgsl?raw';
import type { Gpu } from '../gpu/device';
import { type BindingKind, type CommandList, type Constant, createKernel, type Kernel } from '../gpu/kernel';
import { BLOCK, WEIGHT_FORMATS, type WeightFormat } from './weight_format';

/** A product with a weight matrix (rows, cols), optionally of RMS-normalised activations, optionally with a bias. */
export interface LinearShape {
  rows: number;
  cols: number;
  format: WeightFormat;
  /** Epsilon of the RMSNorm in front, or null for none. Its weight is the first `cols` floats of params. */
  normEps: number | null;
  /** A bias of `rows` floats follows in params. */
  bias: boolean;
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

/** One product in two forms: matvec for one token, matmul for many. Both take the same bind group. */
export class Linear {
  constructor(
    private readonly shape: LinearShape,
    private readonly matvec: Kernel,
    private readonly matmul: Kernel | null,
    private readonly rowsPerWorkgroup: number,
  ) {}

  /** weights, scales, x, params, then the epilogue's own buffers. */
  bind(...buffers: readonly GPUBuffer[]): GPUBindGroup {
    return this.matvec.bind(...buffers);
  }

  /** All tokens of the pass; only its last token where the product was made without a matmul. */
  record(list: CommandList, group: GPUBindGroup, nTokens: number): void {
    if (nTokens > 1 && this.matmul) {
      const columns = Math.ceil(this.shape.rows / TILE_ROWS);
      list.add(this.matmul, group, columns, Math.ceil(nTokens / TILE_TOKENS));
      return;
    }
    const { gridX, gridY } = matvecGrid(this.shape.rows, this.rowsPerWorkgroup);
    list.add(this.matvec, group, gridX, gridY);
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

/** Compiles both cores around `epilogue`; `lastTokenOnly` leaves the matmul out (the head needs one row). */
export async function createLinear(
  gpu: Gpu,
  shape: LinearShape,
  epilogue: Epilogue,
  lastTokenOnly = false,
): Promise<Linear> {
  const lanes = lanesFor(gpu, shape.cols);
  const subgroups = gpu.can.subgroupMinSize > 0;
  const rowsPerWorkgroup = (WORKGROUP / lanes) * 2;
  const constants = {
    ROWS: shape.rows,
    COLS: shape.cols,
    NORM: shape.normEps !== null,
    EPS: { f32: shape.normEps ?? 0 },
    BIAS: shape.bias,
    ...epilogue.constants,
  };
  const bindings: BindingKind[] = ['read', 'read', 'read', 'read', ...epilogue.bindings];
  const { wgsl } = WEIGHT_FORMATS[shape.format];
  const vector = createKernel(gpu, {
    label: `${epilogue.label}.matvec`,
    wgsl: [...wgsl, params, subgroups ? laneSumsSubgroups : laneSumsPlain, matvec, ...epilogue.wgsl],
    constants: {
      ...constants,
      WORKGROUP,
      LANES: lanes,
      GRID_X: matvecGrid(shape.rows, rowsPerWorkgroup).gridX,
    },
    bindings,
    subgroups,
  });
  const many = lastTokenOnly
    ? null
    : createKernel(gpu, {
        label: `${epilogue.label}.matmul`,
        wgsl: [...wgsl, params, matmul, ...epilogue.wgsl],
        constants,
        bindings,
      });
  return new Linear(shape, await vector, await many, rowsPerWorkgroup);
}
