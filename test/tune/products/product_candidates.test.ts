// The candidates of matrix products: they fit, each once, the default first.

import { describe, expect, test } from 'vitest';
import { MATMUL_TILES, planMatmulQ8 } from '../../../src/kernels/linear/matmul_plan';
import { type MatvecShape, planMatvec } from '../../../src/kernels/linear/matvec_plan';
import { matvecCandidates, tileCandidates } from '../../../src/tune/products/product_candidates';

const LARGE = { maxComputeInvocationsPerWorkgroup: 1024, maxComputeWorkgroupStorageSize: 49152 };
const SMALL = { maxComputeInvocationsPerWorkgroup: 256, maxComputeWorkgroupStorageSize: 16384 };
const of = (rows: number, cols: number, more: Partial<MatvecShape> = {}): MatvecShape => ({
  rows,
  cols,
  format: 'q4',
  input: 'to_q8',
  finishRows: 2,
  normEps: null,
  bias: false,
  ...more,
});

const SHAPES: MatvecShape[] = [
  of(32, 32),
  of(3072, 2048, { normEps: 1e-5 }),
  of(16384, 2048, { finishRows: 64 }),
  of(2048, 8192, { input: 'q8' }),
  of(128256, 2048, { finishRows: 32 }),
  of(4096, 4096, { input: 'f32', format: 'f16' }),
  of(576, 1536, { input: 'f32', format: 'f32' }),
];

describe('of a matvec', () => {
  for (const limits of [LARGE, SMALL]) {
    for (const subgroup of [0, 4, 8, 32, 64]) {
      test.each(SHAPES)(
        `fit ${limits.maxComputeInvocationsPerWorkgroup} threads, subgroups of ${subgroup}: %o`,
        (shape) => {
          const candidates = matvecCandidates(shape, limits, subgroup);
          expect(candidates[0]).toEqual(planMatvec(shape, limits, subgroup));
          for (const each of candidates) expect(planMatvec(shape, limits, subgroup, each)).toBe(each);
          expect(new Set(candidates.map((each) => JSON.stringify(Object.entries(each).sort()))).size).toBe(
            candidates.length,
          );
          expect(candidates.length).toBeLessThanOrEqual(subgroup === 4 ? 2 : 20);
        },
      );
    }
  }

  // The heads of small models: Gemma 3 270M, Qwen 2.5 0.5B, SmolLM2 135M.
  test.each([
    [262144, 640],
    [151936, 896],
    [49152, 576],
  ])('have a default for %i rows of %i columns, on any GPU', (rows, cols) => {
    for (const limits of [LARGE, SMALL]) {
      for (const subgroup of [0, 4, 8, 32, 64]) {
        for (const input of ['to_q8', 'f32'] as const) {
          const { LANES, GROUP_ROWS, TURNS } = planMatvec(of(rows, cols, { input, finishRows: 32 }), limits, subgroup);
          expect(GROUP_ROWS * TURNS).toBeLessThanOrEqual(2 * LANES);
        }
      }
    }
  });

  test('leave a large GPU enough workgroups, and it many to choose from', () => {
    for (const shape of SHAPES.slice(1, -1)) {
      const candidates = matvecCandidates(shape, LARGE, 32);
      expect(candidates.length).toBeGreaterThanOrEqual(8);
      for (const { WORKGROUP, LANES, GROUP_ROWS, TURNS } of candidates) {
        expect((shape.rows * LANES) / (WORKGROUP * GROUP_ROWS * TURNS)).toBeGreaterThanOrEqual(32);
      }
    }
  });

  test('stage x in f32, and place weights in f32 that fit into a mantissa', () => {
    const kinds = (shape: MatvecShape, subgroup = 32) => {
      const candidates = matvecCandidates(shape, LARGE, subgroup);
      return [...new Set(candidates.map(({ STAGED_X = 0, PLACED_WEIGHTS = 0 }) => `${STAGED_X}${PLACED_WEIGHTS}`))];
    };
    expect(kinds(of(4096, 4096, { input: 'f32', format: 'q4' }))).toEqual(['11', '10', '01', '00']);
    expect(kinds(of(4096, 4096, { input: 'f32', format: 'q8' }))).toEqual(['10', '11', '01', '00']);
    for (const format of ['f16', 'q4_k'] as const) {
      expect(kinds(of(4096, 4096, { input: 'f32', format }))).toEqual(['10', '00']);
      const plain = matvecCandidates(of(4096, 4096, { input: 'f32', format }), LARGE, 32).filter((p) => !p.STAGED_X);
      expect(plain).toHaveLength(1); // beside the default, seeds are staged
    }
    expect(kinds(of(4096, 16384, { input: 'f32' }))).toEqual(['00', '01']); // x does not fit into the memory
    for (const input of ['to_q8', 'parts', 'parts_to_q8', 'q8'] as const) {
      expect(kinds(of(4096, 4096, { input }))).toEqual(['00']);
    }
    expect(kinds(of(4096, 4096, { input: 'f32' }), 4)).toEqual(['00']); // a GPU in software
  });

  test('x in f32 is staged by default where it fits into workgroup memory, and not in software', () => {
    const usual = (cols: number, bytes: number, subgroup = 32) => {
      const limits = { ...LARGE, maxComputeWorkgroupStorageSize: bytes };
      const plan = (format: 'q4' | 'q8') => planMatvec(of(2048, cols, { input: 'f32', format }), limits, subgroup);
      const { STAGED_X, PLACED_WEIGHTS, WORKGROUP } = plan('q4');
      expect([PLACED_WEIGHTS, plan('q8').PLACED_WEIGHTS]).toEqual([STAGED_X, undefined]); // of four bits, placed as well
      return [STAGED_X, WORKGROUP];
    };
    expect(usual(2048, 16384)).toEqual([1, 512]);
    expect(usual(8192, 49152)).toEqual([1, 512]);
    expect(usual(8192, 16384)).toEqual([undefined, 128]);
    expect([usual(2048, 16384, 4)[0], usual(2048, 16384, 0)[0]]).toEqual([undefined, undefined]);
  });

  test('hold what is fastest on an H200', () => {
    const has = (shape: MatvecShape, WORKGROUP: number, LANES: number, GROUP_ROWS: number, TURNS: number) =>
      expect(matvecCandidates(shape, LARGE, 32)).toContainEqual({ WORKGROUP, LANES, GROUP_ROWS, SLOTS: 4, TURNS });
    has(of(3072, 2048), 512, 16, 1, 1);
    has(of(2048, 2048), 512, 32, 1, 1);
    has(of(16384, 2048), 256, 16, 2, 1);
    has(of(2048, 8192, { input: 'q8' }), 256, 32, 1, 1);
    has(of(128256, 2048), 256, 16, 2, 8);
    has(of(4096, 4096), 1024, 32, 1, 1);
    has(of(28672, 4096), 512, 16, 2, 2);
    has(of(4096, 14336, { input: 'q8' }), 128, 32, 2, 1);
  });
});

describe('tiles', () => {
  test.each([LARGE, SMALL])('fit, each once, the default first: %o', (limits) => {
    for (const rows of [32, 2048]) {
      const shape = { rows, cols: 2048, format: 'q4' } as const;
      const tiles = tileCandidates(shape, limits, false);
      expect(tiles[0]).toEqual(planMatmulQ8(limits, shape, 512));
      for (const each of tiles) expect(planMatmulQ8(limits, shape, 512, each)).toBe(each);
      expect(new Set(tiles).size).toBe(tiles.length);
    }
    const all = tileCandidates({ rows: 2048, cols: 2048, format: 'q4' }, limits, false).length;
    expect(all).toBe(limits === LARGE ? MATMUL_TILES.length : MATMUL_TILES.length - 1);
  });

  test('a software GPU has no choice', () =>
    expect(tileCandidates({ rows: 2048, cols: 2048, format: 'q4' }, LARGE, true)).toHaveLength(1));
});
