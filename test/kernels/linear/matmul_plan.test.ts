// The tiles of products of many tokens: what fits a GPU, and what each size of pass takes.

import { describe, expect, test } from 'vitest';
import {
  fitsTiles,
  MATMUL_TILES,
  MOST_SHARES,
  type PlannedMatmul,
  planMatmulQ8,
  type Tiles,
  tileRows,
  tileTokens,
} from '../../../src/kernels/linear/matmul_plan';
import type { RowRange } from '../../../src/kernels/linear/weight_format';

const SMALL = MATMUL_TILES[MATMUL_TILES.length - 1];
const matrix = (rows: number, cols: number, format: PlannedMatmul['format'] = 'q4') => ({ rows, cols, format });

describe('planMatmulQ8', () => {
  const least = { maxComputeInvocationsPerWorkgroup: 256, maxComputeWorkgroupStorageSize: 16384 };
  const largest: Tiles = { rowThreads: 16, tokenThreads: 16, tokensEach: 8, stages: 2, kShares: 1 };

  test('every set but one fits every adapter', () => {
    const fits = (tiles: Tiles) => {
      try {
        return planMatmulQ8(least, matrix(64, 64), 512, tiles) === tiles;
      } catch {
        return false;
      }
    };
    expect(MATMUL_TILES.filter((tiles) => !fits(tiles))).toEqual([largest]);
    expect(planMatmulQ8({ ...least, maxComputeWorkgroupStorageSize: 32768 }, matrix(64, 64), 512, largest)).toBe(
      largest,
    );
  });

  test('what does not fit is refused with its number', () => {
    const plan = (tiles: Tiles, limits = least) => planMatmulQ8(limits, matrix(64, 64), 512, tiles);
    expect(() => plan(largest)).toThrow('18432 bytes of workgroup memory exceed the 16384');
    expect(() => plan(largest, { ...least, maxComputeInvocationsPerWorkgroup: 128 })).toThrow('256 threads');
    expect(() => plan({ ...SMALL, rowThreads: 6 })).toThrow('6 threads');
    expect(() => plan({ ...SMALL, tokensEach: 8 })).toThrow('4 threads');
    expect(() => plan({ ...SMALL, tokenThreads: 12 })).toThrow('12 threads');
  });

  test('formats with more scales need more memory', () => {
    const most = { maxComputeInvocationsPerWorkgroup: 256, maxComputeWorkgroupStorageSize: 18432 };
    expect(planMatmulQ8(most, matrix(64, 64), 512, largest)).toBe(largest);
    expect(() => planMatmulQ8(most, matrix(64, 256, 'q6_k'), 512, largest)).toThrow('19456 bytes');
    expect(() => planMatmulQ8(most, matrix(64, 256, 'q4_k'), 512, largest)).toThrow('20480 bytes');
  });

  test('few tokens get small tiles, and few tiles shares of k', () => {
    const h200 = { maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupStorageSize: 49152 };
    const plan = (nTokens: number, rows: number, cols: number, limits = h200) => {
      const tiles = planMatmulQ8(limits, matrix(rows, cols), nTokens);
      return [tileRows(tiles), tileTokens(tiles), tiles.kShares];
    };
    expect(plan(1, 2048, 8192)).toEqual([32, 32, 16]);
    expect(plan(64, 2048, 2048)).toEqual([32, 32, 8]); // 8 blocks of k are left for each
    expect(plan(64, 16384, 2048)).toEqual([32, 32, 4]);
    expect(plan(65, 2048, 8192)).toEqual([32, 32, 8]);
    expect(plan(128, 3072, 2048)).toEqual([32, 32, 4]);
    expect(plan(256, 16384, 2048)).toEqual([64, 64, 1]); // enough without shares
    expect(plan(257, 2048, 8192)).toEqual([64, 64, 2]);
    expect(plan(9999, 4096, 14336)).toEqual([64, 64, 1]);
    expect(plan(1, 2048, 8192, least)).toEqual([32, 32, 4]); // of memory
    expect(plan(1, 2048, 32)).toEqual([32, 32, 1]);
  });

  test('an epilogue takes tiles of whole groups of rows, where its memory fits', () => {
    const finish = { finishRows: 64, finishBytes: 2 };
    const large = MATMUL_TILES[3];
    const fits = (bytes: number, tiles: Tiles, parts?: RowRange[]) =>
      fitsTiles({ ...least, maxComputeWorkgroupStorageSize: bytes }, { ...matrix(192, 64), parts }, tiles, finish);
    const needed = (64 + 64) * 36 + 2 * 64 * 32;
    expect([needed, needed - 1].map((bytes) => fits(bytes, large))).toEqual([true, false]);
    expect(fits(16384, SMALL)).toBe(false); // 32 rows
    const parts = (...rows: number[]) => rows.map((each, i) => ({ row0: i === 0 ? 0 : rows[0], rows: each }));
    expect([parts(128, 64), parts(128, 62), parts(126, 64)].map((each) => fits(16384, large, each))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('every default fits every adapter', () => {
    for (const format of ['q4', 'q6_k', 'q4_k'] as const) {
      for (const nTokens of [64, 256, 512]) {
        for (const rows of [64, 2048, 100_000]) {
          const tiles = planMatmulQ8(least, matrix(rows, 4096, format), nTokens);
          expect(planMatmulQ8(least, matrix(rows, 4096, format), nTokens, tiles)).toBe(tiles);
          expect(tiles.kShares).toBeLessThanOrEqual(MOST_SHARES);
        }
      }
    }
  });
});
