import { expect, test } from 'vitest';
import { applyRope, inverseFrequencies, type RopeParameters, ropeTable } from '../../src/cpu/rope';

const PLAIN: RopeParameters = { theta: 10000, scaling: null };

test('inverse frequencies fall from 1 by equal factors: theta=10000, head_dim=4', () => {
  expect([...inverseFrequencies(4, PLAIN)]).toEqual([1, 0.01]);
});

test('linear scaling and rope_freqs factors divide', () => {
  expect([...inverseFrequencies(4, { theta: 10000, scaling: { type: 'linear', factor: 4 } })]).toEqual([0.25, 0.0025]);
  const factors = Float32Array.of(1, 8);
  expect([...inverseFrequencies(4, { ...PLAIN, factors })]).toEqual([1, 0.00125]);
});

test('llama3 scaling keeps short waves, divides long ones, mixes between', () => {
  const scaling = {
    type: 'llama3',
    factor: 8,
    lowFreqFactor: 1,
    highFreqFactor: 4,
    originalContextLength: 64,
  } as const;
  const plain = inverseFrequencies(8, { theta: 10000, scaling: null }); // wavelengths 6.3, 62.8, 628, 6283
  const scaled = inverseFrequencies(8, { theta: 10000, scaling });
  const s = (64 / (20 * Math.PI) - 1) / 3;
  expect(scaled[0]).toBe(plain[0]);
  expect(scaled[1]).toBeCloseTo(((1 - s) * 0.1) / 8 + s * 0.1, 12);
  expect(scaled[2]).toBe(plain[2] / 8);
  expect(scaled[3]).toBe(plain[3] / 8);
});

test('the table holds cos and sin of position times frequency, from any first position', () => {
  const table = ropeTable(4, PLAIN, 3);
  expect([...table.slice(0, 4)]).toEqual([1, 0, 1, 0]);
  expect(table[8]).toBe(Math.fround(Math.cos(2)));
  expect(table[11]).toBe(Math.fround(Math.sin(0.02)));
  expect([...ropeTable(4, PLAIN, 1, 2)]).toEqual([...table.slice(8)]);
});

test('a position of 131071 is as exact as f64 makes it', () => {
  const table = ropeTable(64, { theta: 500000, scaling: null }, 1, 131071);
  expect(table[0]).toBe(Math.fround(Math.cos(131071)));
});

const QUARTER_TURN = Float32Array.of(0, 1, 1, 0); // pair 0 turns by 90 degrees, pair 1 not at all

test('half turns elements j and j + head_dim / 2', () => {
  const x = Float32Array.of(1, 2, 3, 4);
  applyRope(x, QUARTER_TURN, 4, 'half');
  expect([...x]).toEqual([-3, 2, 1, 4]);
});

test('interleaved turns elements 2 j and 2 j + 1, in every head', () => {
  const x = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  applyRope(x, QUARTER_TURN, 4, 'interleaved');
  expect([...x]).toEqual([-2, 1, 3, 4, -6, 5, 7, 8]);
});
