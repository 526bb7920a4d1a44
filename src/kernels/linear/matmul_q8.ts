// The linear of all tokens of a pass on quantized activations, and its tiles.

import matmul from '../../../shaders/linear/matmul_q8.wgsl?raw';
import scalesAffine from '../../../shaders/linear/matmul_q8_scales_affine.wgsl?raw';
import scalesHalves from '../../../shaders/linear/matmul_q8_scales_halves.wgsl?raw';
import scalesOne from '../../../shaders/linear/matmul_q8_scales_one.wgsl?raw';
import { GpuProgramError } from '../../errors';
import type { Gpu } from '../../gpu/device';
import { compileLinear, type Epilogue, type Linear, type LinearShape, ownRows } from './linear';
import type { IntegerFormat, WeightFormat } from './weight_format';

/** The shares of a workgroup's threads in its tile: 8 rows and `tokensEach` tokens a thread. */
export interface Tiles {
  /** Threads along the rows, a multiple of 4 and at least `tokensEach`: a tile has 8 times as many rows. */
  rowThreads: number;
  /** Threads along the tokens, a multiple of 8. */
  tokenThreads: number;
  tokensEach: 4 | 8;
  /** Tiles in workgroup memory at once: 2 save every other barrier. */
  stages: 1 | 2;
}

/**
 * A matrix of a format that has integers: `normEps` only says that a norm weight stands in front of the bias in params.
 */
export interface MatmulQ8Shape extends LinearShape {
  format: IntegerFormat;
}

export const tileRows = ({ rowThreads }: Tiles): number => 8 * rowThreads;
export const tileTokens = ({ tokenThreads, tokensEach }: Tiles): number => tokensEach * tokenThreads;

/** Sets worth measuring: see defaultTiles. All but the largest run on every adapter. */
export const MATMUL_TILES: readonly Tiles[] = [
  { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 2 }, // 64 rows x 64 tokens, 128 threads, 9 KiB
  { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 1 },
  { rowThreads: 8, tokenThreads: 8, tokensEach: 8, stages: 2 }, // 64 x 64, 64 threads, 9 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 4, stages: 2 }, // 128 x 64, 256 threads, 13.5 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 4, stages: 1 },
  { rowThreads: 16, tokenThreads: 8, tokensEach: 8, stages: 2 }, // 128 x 64, 128 threads
  { rowThreads: 16, tokenThreads: 8, tokensEach: 8, stages: 1 },
  { rowThreads: 8, tokenThreads: 32, tokensEach: 4, stages: 2 }, // 64 x 128, 256 threads, 13.5 KiB
  { rowThreads: 8, tokenThreads: 16, tokensEach: 8, stages: 2 }, // 64 x 128, 128 threads
  { rowThreads: 16, tokenThreads: 16, tokensEach: 8, stages: 1 }, // 128 x 128, 256 threads, 9 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 8, stages: 2 }, // 18 KiB: more than every adapter grants
  { rowThreads: 4, tokenThreads: 16, tokensEach: 4, stages: 2 }, // 32 x 64, 64 threads
  { rowThreads: 8, tokenThreads: 8, tokensEach: 4, stages: 2 }, // 64 x 32, 64 threads
  { rowThreads: 4, tokenThreads: 8, tokensEach: 4, stages: 2 }, // 32 x 32, 32 threads
];

const [, MEDIUM_TILES] = MATMUL_TILES;
const LARGE_TILES = MATMUL_TILES[5];
const SMALL_TILES = MATMUL_TILES[MATMUL_TILES.length - 1];
/** The tiles of a GPU in software, whose threads run one after another: four times as fast as 64 x 64. */
export const SOFTWARE_TILES = SMALL_TILES;
/** Workgroups that fill a large GPU twice over. */
const ENOUGH_WORKGROUPS = 256;

/** The shader piece for scales, and the floats of scales in workgroup memory for each row and each token. */
interface Scales {
  wgsl: string;
  wFloats: 1 | 2;
  xFloats: 1 | 2;
}

const ONE: Scales = { wgsl: scalesOne, wFloats: 1, xFloats: 1 };
const HALVES: Scales = { wgsl: scalesHalves, wFloats: 2, xFloats: 1 };
const AFFINE: Scales = { wgsl: scalesAffine, wFloats: 2, xFloats: 2 };

const SCALES: Record<IntegerFormat, Scales> = {
  q4: ONE,
  q8: ONE,
  q4_1: AFFINE,
  q5_1: AFFINE,
  q4_k: AFFINE,
  q5_k: AFFINE,
  q6_k: HALVES,
};

/** Tokens of a whole chunk of a prompt. */
export const MANY_TOKENS = 512;

/** True for formats that are multiplied in integers. */
export const hasIntegers = (format: WeightFormat): format is IntegerFormat => format in SCALES;

/**
 * Where workgroups are plenty, 128 rows with 8 tokens a thread, which read least; else the 64 x 64 that fill a large
 * GPU, and small ones for short prompts. Measured by `npm run bench -- tune`.
 */
function defaultTiles(nTokens: number, rows: number): Tiles {
  if (Math.min(nTokens, rows) <= 32) return SMALL_TILES;
  const workgroups = Math.ceil(rows / tileRows(LARGE_TILES)) * Math.ceil(nTokens / tileTokens(LARGE_TILES));
  return workgroups >= ENOUGH_WORKGROUPS ? LARGE_TILES : MEDIUM_TILES;
}

/** A block of 32 bytes and its scale, for each row and token of each stage. */
function tileBytes(tiles: Tiles, format: IntegerFormat): number {
  const { wFloats, xFloats } = SCALES[format];
  return tiles.stages * (tileRows(tiles) * (32 + 4 * wFloats) + tileTokens(tiles) * (32 + 4 * xFloats));
}

type TileLimits = Pick<GPUSupportedLimits, 'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupStorageSize'>;

/**
 * The tiles of a pass of about `nTokens` with a matrix of `rows`: those given, where they fit, else a default that fits
 * everywhere.
 * @throws GpuProgramError with the number that does not
 */
export function planMatmulQ8(
  limits: TileLimits,
  nTokens: number,
  rows: number,
  given?: Tiles,
  format: IntegerFormat = 'q4',
): Tiles {
  const tiles = given ?? defaultTiles(nTokens, rows);
  const { rowThreads, tokenThreads, tokensEach } = tiles;
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = limits;
  const refuse = (why: string) =>
    new GpuProgramError('kernels/matmul_q8', `${why}. Choose another tile of MATMUL_TILES.`);
  if (rowThreads % 4 !== 0 || rowThreads < tokensEach) {
    throw refuse(`${rowThreads} threads along the rows are no multiple of 4, or fewer than ${tokensEach}`);
  }
  if (tokenThreads % 8 !== 0 || tokenThreads === 0) {
    throw refuse(`${tokenThreads} threads along the tokens are no multiple of 8`);
  }
  const threads = rowThreads * tokenThreads;
  if (threads > mostThreads) throw refuse(`a workgroup of ${threads} threads exceeds the ${mostThreads} of this GPU`);
  const bytes = tileBytes(tiles, format);
  if (bytes > mostBytes) throw refuse(`${bytes} bytes of workgroup memory exceed the ${mostBytes} of this GPU`);
  return tiles;
}

/**
 * The product of all tokens of a pass on quantized activations, with the default tiles of many tokens or those given. x
 * is what quantize_activations writes. Workgroups that share rows are neighbors: weights come from memory once.
 * @throws GpuProgramError with the number that does not fit
 */
export function createMatmulQ8(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  given = gpu.isSoftware ? SOFTWARE_TILES : undefined,
): Promise<Linear> {
  const tiles = planMatmulQ8(gpu.limits, MANY_TOKENS, ownRows(shape), given, shape.format);
  const { rowThreads, tokenThreads, tokensEach, stages } = tiles;
  return compileLinear(gpu, shape, epilogue, {
    name: 'matmul_q8',
    wgsl: [SCALES[shape.format].wgsl, matmul],
    constants: () => ({
      ROW_THREADS: rowThreads,
      TOKEN_THREADS: tokenThreads,
      TOKENS_EACH: tokensEach,
      STAGES: stages,
    }),
    grid: ({ rows }, nTokens) => [Math.ceil(nTokens / tileTokens(tiles)), Math.ceil(rows / tileRows(tiles))],
    tokens: (nTokens) => nTokens,
  });
}
