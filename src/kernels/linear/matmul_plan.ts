// The tiles of matmul_q8: those that fit a GPU and the size of a pass. Pure: asks no GPU.

import { GpuProgramError } from '../../errors';
import { type Reason, why } from '../../shared/why';
import type { IntegerFormat, RowRange } from './weight_format';

const SHARES = [1, 2, 4, 8, 16] as const;
type Shares = (typeof SHARES)[number];
/** The most shares of k that a tile may have. */
export const MOST_SHARES = 16;

/** The shares of a workgroup's threads in its tile: 8 rows and `tokensEach` tokens a thread. */
export interface Tiles {
  /** Threads along the rows, a multiple of 4 and at least `tokensEach`: a tile has 8 times as many rows. */
  rowThreads: number;
  /** Threads along the tokens, a multiple of 8. */
  tokenThreads: number;
  tokensEach: 4 | 8;
  /** Tiles in workgroup memory at once: 2 save every other barrier. */
  stages: 1 | 2;
  /** Sets of such threads: each takes its share of k, and they add up at the end. More for fewer tiles. */
  kShares: Shares;
}

/** The matrix of a product: its rows and columns, and how it is stored. */
export interface PlannedMatmul {
  rows: number;
  cols: number;
  format: IntegerFormat;
}

/** A matrix whose rows may lie in parts. */
interface GroupedRows extends Pick<PlannedMatmul, 'rows' | 'format'> {
  parts?: readonly RowRange[];
}

/** The rows that an epilogue takes together, and its bytes for each row and token that are emitted at once. */
interface Finish {
  finishRows: number;
  finishBytes: number;
}

type TileLimits = Pick<GPUSupportedLimits, 'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupStorageSize'>;

export const tileRows = ({ rowThreads }: Pick<Tiles, 'rowThreads'>): number => 8 * rowThreads;
const threadsOf = ({ rowThreads, tokenThreads, kShares }: Tiles): number => rowThreads * tokenThreads * kShares;
export const tileTokens = ({ tokenThreads, tokensEach }: Pick<Tiles, 'tokenThreads' | 'tokensEach'>): number =>
  tokensEach * tokenThreads;

/** Sets worth measuring with MANY_TOKENS: see defaultTiles. All but the largest run on every adapter. */
export const MATMUL_TILES: readonly Tiles[] = [
  { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 2, kShares: 1 }, // 64 rows x 64 tokens, 128 threads, 9 KiB
  { rowThreads: 8, tokenThreads: 16, tokensEach: 4, stages: 1, kShares: 1 },
  { rowThreads: 8, tokenThreads: 8, tokensEach: 8, stages: 2, kShares: 1 }, // 64 x 64, 64 threads, 9 KiB
  { rowThreads: 8, tokenThreads: 8, tokensEach: 8, stages: 1, kShares: 1 },
  { rowThreads: 8, tokenThreads: 8, tokensEach: 8, stages: 1, kShares: 2 }, // 64 x 64, 128 threads, 11 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 4, stages: 2, kShares: 1 }, // 128 x 64, 256 threads, 13.5 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 4, stages: 1, kShares: 1 },
  { rowThreads: 16, tokenThreads: 8, tokensEach: 8, stages: 2, kShares: 1 }, // 128 x 64, 128 threads
  { rowThreads: 16, tokenThreads: 8, tokensEach: 8, stages: 1, kShares: 1 },
  { rowThreads: 8, tokenThreads: 32, tokensEach: 4, stages: 2, kShares: 1 }, // 64 x 128, 256 threads, 13.5 KiB
  { rowThreads: 8, tokenThreads: 16, tokensEach: 8, stages: 2, kShares: 1 }, // 64 x 128, 128 threads
  { rowThreads: 16, tokenThreads: 16, tokensEach: 8, stages: 1, kShares: 1 }, // 128 x 128, 256 threads, 9 KiB
  { rowThreads: 16, tokenThreads: 16, tokensEach: 8, stages: 2, kShares: 1 }, // 18 KiB: more than every adapter grants
  { rowThreads: 4, tokenThreads: 16, tokensEach: 4, stages: 2, kShares: 1 }, // 32 x 64, 64 threads
  { rowThreads: 8, tokenThreads: 8, tokensEach: 4, stages: 2, kShares: 1 }, // 64 x 32, 64 threads
  { rowThreads: 8, tokenThreads: 8, tokensEach: 4, stages: 1, kShares: 1 },
  { rowThreads: 8, tokenThreads: 8, tokensEach: 4, stages: 1, kShares: 2 }, // 64 x 32, 128 threads, 8.5 KiB
  { rowThreads: 4, tokenThreads: 8, tokensEach: 4, stages: 2, kShares: 1 }, // 32 x 32, 32 threads
];

/** The tiles of a GPU in software, whose threads run one after another: four times as fast as 64 x 64. */
export const SOFTWARE_TILES = MATMUL_TILES[MATMUL_TILES.length - 1];

/** A tile, and the sets of threads that fill an H200 with it. */
interface SizedTile {
  tile: Pick<Tiles, 'rowThreads' | 'tokenThreads' | 'tokensEach'>;
  enoughSets: number;
}

const SMALL: SizedTile = { tile: { rowThreads: 4, tokenThreads: 8, tokensEach: 4 }, enoughSets: 2048 }; // 32 x 32
const LARGE: SizedTile = { tile: { rowThreads: 8, tokenThreads: 8, tokensEach: 8 }, enoughSets: 384 }; // 64 x 64

/** A size of passes: those with at most so many tokens, and their tiles. */
interface PassSize {
  most: number;
  /** The first of which half of the tokens make enough sets, else the last. */
  tiles: readonly SizedTile[];
}

/** Tokens that fill a large GPU. Tiles for longer prompts are chosen, and measured, for as many. */
export const MANY_TOKENS = 512;

/**
 * Small tiles for few tokens, so that more threads wait for memory at once; larger ones read less. Where sets of
 * threads are fewer than an H200 needs, they take shares of k. A GPU with fewer cores needs fewer: the shares cost it a
 * fifth of a short pass at most. bench/RESULTS.md has the times of all tiles at 8 to 512 tokens.
 */
const PASS_SIZES: readonly PassSize[] = [
  { most: 64, tiles: [SMALL] },
  { most: 256, tiles: [LARGE, SMALL] },
  { most: MANY_TOKENS, tiles: [LARGE] },
];
/** The most tokens of each size of passes; the last one takes all above as well. */
export const PASS_TOKENS = PASS_SIZES.map(({ most }) => most);
/** Fewer blocks of k for a set of threads would cost more to add up than they save. */
const LEAST_BLOCKS = 8;

/** The floats of scales in workgroup memory for each row and each token of a block. */
interface ScaleFloats {
  w: 1 | 2;
  x: 1 | 2;
}

const ONE: ScaleFloats = { w: 1, x: 1 };
const HALVES: ScaleFloats = { w: 2, x: 1 };
const AFFINE: ScaleFloats = { w: 2, x: 2 };

const SCALE_FLOATS: Record<IntegerFormat, ScaleFloats> = {
  q4: ONE,
  q8: ONE,
  q4_1: AFFINE,
  q5_1: AFFINE,
  q4_k: AFFINE,
  q5_k: AFFINE,
  q6_k: HALVES,
};

/** The tile of a size of passes, with shares of k while workgroups are few and their memory fits. */
function defaultTiles(limits: TileLimits, { rows, cols, format }: PlannedMatmul, nTokens: number): Tiles {
  const { most, tiles } = PASS_SIZES.find((size) => nTokens <= size.most) ?? PASS_SIZES[PASS_SIZES.length - 1];
  const setsOf = ({ tile }: SizedTile) => Math.ceil(rows / tileRows(tile)) * Math.ceil(most / 2 / tileTokens(tile));
  const sized = tiles.find((each) => setsOf(each) >= each.enoughSets) ?? tiles[tiles.length - 1];
  const tilesOf = (kShares: Shares): Tiles => ({ ...sized.tile, stages: 1, kShares });
  const fits = (kShares: Shares) =>
    setsOf(sized) * kShares <= sized.enoughSets &&
    kShares * LEAST_BLOCKS <= cols / 32 &&
    threadsOf(tilesOf(kShares)) <= limits.maxComputeInvocationsPerWorkgroup &&
    tileBytes(tilesOf(kShares), format) <= limits.maxComputeWorkgroupStorageSize;
  return tilesOf(SHARES.findLast(fits) ?? 1);
}

/** A block of 32 bytes and its scale, for each row and token of each stage and share; and four sums of each thread. */
function tileBytes(tiles: Tiles, format: IntegerFormat): number {
  const { w, x } = SCALE_FLOATS[format];
  const slots = tiles.stages * tiles.kShares;
  const blocks = slots * (tileRows(tiles) * (32 + 4 * w) + tileTokens(tiles) * (32 + 4 * x));
  return blocks + (tiles.kShares > 1 ? 16 * threadsOf(tiles) : 0);
}

/**
 * True if an epilogue fits tiles: tiles and parts of the matrix have whole groups of its rows, and workgroup memory
 * holds the outputs that are emitted at once.
 */
export function fitsTiles(
  limits: TileLimits,
  { rows, format, parts = [{ row0: 0, rows }] }: GroupedRows,
  tiles: Tiles,
  { finishRows, finishBytes }: Finish,
): boolean {
  const atOnce = 4 * tiles.tokenThreads; // TOKENS_AT_ONCE of matmul_q8.wgsl
  return (
    tileRows(tiles) % finishRows === 0 &&
    parts.every((part) => part.row0 % finishRows === 0 && part.rows % finishRows === 0) &&
    tileBytes(tiles, format) + finishBytes * tileRows(tiles) * atOnce <= limits.maxComputeWorkgroupStorageSize
  );
}

/**
 * The tiles of a pass of `nTokens`: those given, where they fit, else a default that fits everywhere.
 * @throws GpuProgramError with the number that does not
 */
export function planMatmulQ8(limits: TileLimits, shape: PlannedMatmul, nTokens: number, given?: Tiles): Tiles {
  const tiles = given ?? defaultTiles(limits, shape, nTokens);
  const { rowThreads, tokenThreads, tokensEach } = tiles;
  const { maxComputeInvocationsPerWorkgroup: mostThreads, maxComputeWorkgroupStorageSize: mostBytes } = limits;
  const refuse = (fault: Reason) =>
    new GpuProgramError('kernels/matmul_q8', why`${fault}. Choose another tile of MATMUL_TILES.`);
  if (rowThreads % 4 !== 0 || rowThreads < tokensEach) {
    throw refuse(why`${rowThreads} threads along the rows are no multiple of 4, or fewer than ${tokensEach}`);
  }
  if (tokenThreads % 8 !== 0 || tokenThreads === 0) {
    throw refuse(why`${tokenThreads} threads along the tokens are no multiple of 8`);
  }
  const threads = threadsOf(tiles);
  if (threads > mostThreads)
    throw refuse(why`a workgroup of ${threads} threads exceeds the ${mostThreads} of this GPU`);
  const bytes = tileBytes(tiles, shape.format);
  if (bytes > mostBytes) throw refuse(why`${bytes} bytes of workgroup memory exceed the ${mostBytes} of this GPU`);
  return tiles;
}
