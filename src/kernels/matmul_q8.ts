import blockScale from '../../shaders/lib/block_scale.wgsl?raw';
import matmul from '../../shaders/lib/matmul_q8.wgsl?raw';
import q4 from '../../shaders/lib/matmul_q8_weights_q4.wgsl?raw';
import q8 from '../../shaders/lib/matmul_q8_weights_q8.wgsl?raw';
import params from '../../shaders/lib/params.wgsl?raw';
import { GpuProgramError } from '../errors';
import type { Gpu } from '../gpu/device';
import { type CommandList, createKernel, type Kernel } from '../gpu/kernel';
import type { Epilogue, LinearShape } from './linear';
import { rowParts, type WeightFormat, type WeightMatrix } from './weight_format';

/** How a workgroup shares its tile: 8 rows a thread, `tokensEach` tokens a thread. */
export interface Tiles {
  /** Threads along the rows, a multiple of 4 and at least `tokensEach`: a tile has 8 times as many rows. */
  rowThreads: number;
  /** Threads along the tokens, a multiple of 8. */
  tokenThreads: number;
  tokensEach: 4 | 8;
  /** Tiles in workgroup memory at once: 2 save every other barrier. */
  stages: 1 | 2;
}

/** A matrix of a format that has integers: `normEps` only says that a norm weight stands in front of the bias in params. */
export interface MatmulQ8Shape extends LinearShape {
  format: 'q8' | 'q4';
}

export const tileRows = ({ rowThreads }: Tiles): number => 8 * rowThreads;
export const tileTokens = ({ tokenThreads, tokensEach }: Tiles): number => tokensEach * tokenThreads;

/** Sets worth measuring. The first is the default, the last that of short prompts: both run on every adapter. */
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

const WEIGHTS: Record<MatmulQ8Shape['format'], string> = { q4, q8 };

/** Tokens of a whole chunk of a prompt. */
const MANY_TOKENS = 512;

/** Whether a matrix of this format can be multiplied in integers. */
export const hasIntegers = (format: WeightFormat): format is MatmulQ8Shape['format'] => format in WEIGHTS;

/** A block of 32 bytes and its scale, for each row and token of each stage. */
function tileBytes(tiles: Tiles): number {
  return tiles.stages * (tileRows(tiles) + tileTokens(tiles)) * 36;
}

type TileLimits = Pick<GPUSupportedLimits, 'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupStorageSize'>;

/**
 * The tiles of a pass of about `nTokens` with a matrix of `rows`: those given, where they fit, else a default that fits
 * everywhere. Throws GpuProgramError with the number that does not.
 */
export function planMatmulQ8(limits: TileLimits, nTokens: number, rows: number, given?: Tiles): Tiles {
  const small = Math.min(nTokens, rows) <= 32;
  const tiles = given ?? MATMUL_TILES[small ? MATMUL_TILES.length - 1 : 0];
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
  const bytes = tileBytes(tiles);
  if (bytes > mostBytes) throw refuse(`${bytes} bytes of workgroup memory exceed the ${mostBytes} of this GPU`);
  return tiles;
}

/** A product of many tokens in integers: a dispatch for each part of the matrix. */
export class MatmulQ8 {
  constructor(
    readonly tiles: Tiles,
    private readonly parts: readonly { rows: number; kernel: Kernel }[],
  ) {}

  /** `buffers`: xq (kernels/quantise_activations), params, then the epilogue's own. One group for each part. */
  bind(matrix: WeightMatrix, ...buffers: readonly GPUBuffer[]): readonly GPUBindGroup[] {
    return this.parts.map(({ kernel }, i) => {
      const { weights, scales } = matrix.parts[i];
      return kernel.bind(weights, scales, ...buffers);
    });
  }

  /** All tokens of the pass. Workgroups that share rows are neighbours: weights come from memory once. */
  record(list: CommandList, groups: readonly GPUBindGroup[], nTokens: number): void {
    const x = Math.ceil(nTokens / tileTokens(this.tiles));
    for (const [i, { rows, kernel }] of this.parts.entries()) {
      list.add(kernel, groups[i], x, Math.ceil(rows / tileRows(this.tiles)));
    }
  }
}

/** Compiles the product around `epilogue` for every part of the matrix, with the default tiles of many tokens or those given. */
export async function createMatmulQ8(
  gpu: Gpu,
  shape: MatmulQ8Shape,
  epilogue: Epilogue,
  given?: Tiles,
): Promise<MatmulQ8> {
  const tiles = planMatmulQ8(gpu.limits, MANY_TOKENS, shape.rows, given);
  const { rowThreads, tokenThreads, tokensEach, stages } = tiles;
  const parts = rowParts(shape.rows, shape.partRows ?? shape.rows).map(async (range) => ({
    rows: range.rows,
    kernel: await createKernel(gpu, {
      label: `${epilogue.label}.matmul_q8`,
      wgsl: [WEIGHTS[shape.format], blockScale, params, matmul, ...epilogue.wgsl],
      constants: {
        ROWS: shape.rows,
        ROW0: range.row0,
        PART_ROWS: range.rows,
        COLS: shape.cols,
        NORM: shape.normEps !== null,
        BIAS: shape.bias,
        ROW_THREADS: rowThreads,
        TOKEN_THREADS: tokenThreads,
        TOKENS_EACH: tokensEach,
        STAGES: stages,
        ...epilogue.constants,
      },
      bindings: ['read', 'read', 'read', 'read', ...epilogue.bindings],
    }),
  }));
  return new MatmulQ8(tiles, await Promise.all(parts));
}
