// The candidates of a matrix product, the default first. Pure: asks no GPU.

import { GpuProgramError } from '../../errors';
import {
  MANY_TOKENS,
  MATMUL_TILES,
  type PlannedMatmul,
  planMatmulQ8,
  SOFTWARE_TILES,
  type Tiles,
} from '../../kernels/linear/matmul_plan';
import {
  type MatvecLimits,
  type MatvecParameters,
  type MatvecShape,
  planMatvec,
} from '../../kernels/linear/matvec_plan';
import { isPlaceable } from '../../kernels/linear/placed_formats';

type Seed = readonly [WORKGROUP: number, LANES: number, GROUP_ROWS: number, TURNS: number];

/** Parameters that suit one matrix or another on large GPUs, and so are worth a try for any. */
const SEEDS: readonly Seed[] = [
  [512, 16, 1, 1],
  [512, 32, 1, 1],
  [1024, 32, 1, 1],
  [256, 16, 2, 1],
  [256, 32, 1, 1],
  [128, 32, 2, 1],
  [512, 16, 2, 1],
  [512, 16, 2, 2],
  [256, 16, 2, 8],
  [512, 16, 4, 4],
  [128, 32, 1, 1],
  [64, 16, 1, 1],
];
/** For x in f32: each with x staged, and with weights placed as well (see MatvecParameters). */
const F32_SEEDS: readonly Seed[] = [
  [512, 32, 2, 1],
  [512, 32, 1, 1],
  [512, 16, 4, 1],
  [512, 16, 4, 4],
  [256, 32, 2, 1],
  [128, 16, 4, 1],
];
/** Sizes of tiles that a load tries beside the default: threads along the rows, and tokens. */
const FEW_TILES = ['16 64', '8 32'];
const MOST_CANDIDATES = 24;
/** Fewer workgroups leave most of a large GPU idle. */
const LEAST_WORKGROUPS = 64;
/** GPUs in software have smaller subgroups. They compile for longer than any other choice could save. */
const HARDWARE_SUBGROUP = 8;
const MIN_WORKGROUP = 64;
const MIN_LANES = 4;
const MAX_LANES = 32;
const PLAIN_LANES = 8;
const MOST_TURNS = 8;

/** True for the subgroups of a GPU in software. */
export const isSoftware = (subgroupMinSize: number): boolean =>
  subgroupMinSize > 0 && subgroupMinSize < HARDWARE_SUBGROUP;

/**
 * Parameters that fit this GPU and leave it enough workgroups, each once: the default, its neighbors, then seeds.
 * @throws GpuProgramError if not even the default fits
 */
export const matvecCandidates = candidatesBy((usual, shape, mostLanes) => {
  const from = ([WORKGROUP, lanes, rows, TURNS]: Seed): MatvecParameters => {
    const { SLOTS } = usual;
    return { WORKGROUP, LANES: Math.min(lanes, mostLanes), GROUP_ROWS: Math.min(rows, SLOTS), SLOTS, TURNS };
  };
  const staged = (p: MatvecParameters) => anyOf(p, shape).filter(({ STAGED_X }) => STAGED_X);
  const seeds =
    shape.input === 'f32' ? [...anyOf(usual, shape), ...F32_SEEDS.map(from).flatMap(staged)] : SEEDS.map(from);
  return [...neighbors(usual), ...seeds];
});

/**
 * A few of them for a load, which has no time for all: each way to read x, and what suits a GPU of fewer cores. There
 * more rows for each lane read x less often, and small workgroups end more evenly.
 */
export const fewMatvecCandidates = candidatesBy((usual, shape) => {
  const { WORKGROUP, LANES, GROUP_ROWS, STAGED_X } = usual;
  const others: Partial<MatvecParameters>[] = [{ WORKGROUP: WORKGROUP / 2 }, { GROUP_ROWS: 2 * GROUP_ROWS }];
  if (!STAGED_X) others.push({ WORKGROUP: WORKGROUP / 4 }, { LANES: LANES / 2 });
  return [...(shape.input === 'f32' ? anyOf(usual, shape) : []), ...others.map((other) => ({ ...usual, ...other }))];
});

/** A maker of the candidates that `make` thinks of, as far as they fit. A GPU in software has the first two. */
function candidatesBy(make: (usual: MatvecParameters, shape: MatvecShape, mostLanes: number) => MatvecParameters[]) {
  return (
    shape: MatvecShape,
    limits: MatvecLimits,
    subgroupMinSize: number,
    software = isSoftware(subgroupMinSize),
  ): MatvecParameters[] => {
    const usual = planMatvec(shape, limits, subgroupMinSize);
    const mostLanes = Math.min(subgroupMinSize || PLAIN_LANES, MAX_LANES);
    const workgroups = (p: MatvecParameters) =>
      Math.ceil(shape.rows / ((p.WORKGROUP / p.LANES) * p.GROUP_ROWS * p.TURNS));
    const least = Math.min(LEAST_WORKGROUPS, workgroups(usual) / 2);
    const fits = (p: MatvecParameters) =>
      p.WORKGROUP >= Math.min(MIN_WORKGROUP, usual.WORKGROUP) &&
      p.LANES >= Math.min(MIN_LANES, usual.LANES) &&
      p.LANES <= mostLanes &&
      p.GROUP_ROWS >= 1 &&
      p.TURNS >= 1 &&
      p.TURNS <= MOST_TURNS &&
      workgroups(p) >= least &&
      isPlanned(() => planMatvec(shape, limits, subgroupMinSize, p));
    const others = software ? neighbors(usual).slice(0, 1) : make(usual, shape, mostLanes);
    return distinct([usual, ...others.map((p) => whole(p, shape)).filter(fits)]).slice(0, MOST_CANDIDATES);
  };
}

/** Doubles the turns until a workgroup makes a multiple of the rows that the epilogue finishes together. */
function whole(p: MatvecParameters, { finishRows }: MatvecShape): MatvecParameters {
  let { TURNS } = p;
  while (TURNS < MOST_TURNS && ((p.WORKGROUP / p.LANES) * p.GROUP_ROWS * TURNS) % finishRows !== 0) TURNS *= 2;
  return { ...p, TURNS };
}

/** The same with x staged, with weights placed as well, with weights placed alone, and with neither. */
function anyOf({ STAGED_X, PLACED_WEIGHTS, ...plain }: MatvecParameters, { format }: MatvecShape): MatvecParameters[] {
  const staged: MatvecParameters = { ...plain, STAGED_X: 1 };
  const all: MatvecParameters[] = [staged, { ...staged, PLACED_WEIGHTS: 1 }, { ...plain, PLACED_WEIGHTS: 1 }, plain];
  return all.filter((p) => isPlaceable(format) || !p.PLACED_WEIGHTS);
}

/** The parameters with one of them doubled or halved. */
function neighbors(p: MatvecParameters): MatvecParameters[] {
  const names = ['WORKGROUP', 'LANES', 'GROUP_ROWS', 'TURNS'] as const;
  return names.flatMap((name) => [
    { ...p, [name]: 2 * p[name] },
    { ...p, [name]: p[name] / 2 },
  ]);
}

/** MATMUL_TILES that fit this GPU. The default for a matrix comes first. */
export function tileCandidates(shape: PlannedMatmul, limits: MatvecLimits, software: boolean): Tiles[] {
  if (software) return [SOFTWARE_TILES];
  const usual = planMatmulQ8(limits, shape, MANY_TOKENS);
  const fitting = MATMUL_TILES.filter((tiles) => isPlanned(() => planMatmulQ8(limits, shape, MANY_TOKENS, tiles)));
  return distinct([usual, ...fitting]);
}

/** The default, the same without shares of k, and tiles of two other sizes, for a load. */
export function fewTileCandidates(shape: PlannedMatmul, limits: MatvecLimits, software: boolean): Tiles[] {
  const all = tileCandidates(shape, limits, software);
  const sizeOf = ({ rowThreads, tokenThreads, tokensEach }: Tiles) => `${rowThreads} ${tokenThreads * tokensEach}`;
  const [usual] = all;
  const whole = all.filter((tiles) => tiles.kShares === 1);
  const sizes = usual.kShares > 1 ? [sizeOf(usual), ...FEW_TILES] : FEW_TILES;
  const others = sizes
    .map((size) => whole.find((tiles) => sizeOf(tiles) === size))
    .filter((tiles) => tiles !== undefined);
  return distinct([usual, ...others]);
}

function isPlanned(plan: () => unknown): boolean {
  try {
    plan();
    return true;
  } catch (error) {
    if (error instanceof GpuProgramError) return false;
    throw error;
  }
}

function distinct<T extends object>(all: readonly T[]): T[] {
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}
