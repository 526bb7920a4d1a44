// RoPE: frequencies of each scaling, and rotations.

import { expect, test } from 'vitest';
import { applyRope } from '../../src/cpu/apply_rope';
import { inverseFrequencies, type RopeParameters, ropeTable, withRopeFactors } from '../../src/cpu/rope';

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

test('dynamic scaling enlarges theta past the original context, for every position', () => {
  const rope: RopeParameters = { theta: 100, scaling: { type: 'dynamic', factor: 2, originalContextLength: 32 } };
  const plain = inverseFrequencies(4, { theta: 100, scaling: null });
  expect(inverseFrequencies(4, rope, 32)).toEqual(plain);
  // theta * (2 * 64 / 32 - 1)^(4 / 2) = 100 * 9, and frequency 1 is 1 / sqrt(900)
  expect(inverseFrequencies(4, rope, 64)[1]).toBeCloseTo(1 / 30, 12);
  expect(ropeTable(4, rope, 1, 1, 64)[3]).toBe(Math.fround(Math.sin(1 / 30)));
});

test('yarn keeps what turns often, divides what turns seldom, mixes between, and scales cos and sin', () => {
  const yarn = { type: 'yarn', factor: 4, betaFast: 8, betaSlow: 1, attentionFactor: 1.5 } as const;
  const scaling = { ...yarn, truncate: true, originalContextLength: 256 };
  const plain = inverseFrequencies(8, { theta: 10000, scaling: null });
  // Pairs that turn 8 and 1 times over 256 positions: 0.71 and 1.61, rounded outwards to 0 and 2.
  const scaled = [...inverseFrequencies(8, { theta: 10000, scaling })];
  expect(scaled).toEqual([plain[0], (plain[1] + plain[1] / 4) / 2, plain[2] / 4, plain[3] / 4]);
  const at = (turns: number) => (8 * Math.log(256 / (turns * 2 * Math.PI))) / (2 * Math.log(10000));
  const ramp = (1 - at(8)) / (at(1) - at(8));
  const exact = inverseFrequencies(8, { theta: 10000, scaling: { ...scaling, truncate: false } });
  expect(exact[1]).toBeCloseTo((ramp * plain[1]) / 4 + (1 - ramp) * plain[1], 12);
  expect(ropeTable(8, { theta: 10000, scaling }, 1)).toEqual(Float32Array.of(1.5, 0, 1.5, 0, 1.5, 0, 1.5, 0));
});

test('longrope divides by short factors up to the original context and by long ones past it', () => {
  const scaling = { type: 'longrope', attentionFactor: 1, originalContextLength: 32 } as const;
  const rope: RopeParameters = { theta: 10000, scaling: { ...scaling, shortFactors: [1, 2], longFactors: [4, 5] } };
  expect([...inverseFrequencies(4, rope, 32)]).toEqual([1, 0.005]);
  expect([...inverseFrequencies(4, rope, 33)]).toEqual([0.25, 0.002]);
  const empty: RopeParameters = { theta: 10000, scaling: { ...scaling, shortFactors: [], longFactors: [] } };
  expect(() => inverseFrequencies(4, empty, 32)).toThrow('frequency 0 of 2 is NaN');
  const filled = withRopeFactors(empty, { all: null, short: Float32Array.of(1, 2), long: Float32Array.of(4, 5) });
  expect([...inverseFrequencies(4, filled, 33)]).toEqual([0.25, 0.002]);
});

test('factors of rope_freqs.weight go to any rope; one of 0 is refused', () => {
  const factors = { all: Float32Array.of(1, 8), short: null, long: null };
  expect([...inverseFrequencies(4, withRopeFactors(PLAIN, factors))]).toEqual([1, 0.00125]);
  const zero = { ...factors, all: Float32Array.of(1, 0) };
  expect(() => inverseFrequencies(4, withRopeFactors(PLAIN, zero))).toThrow('frequency 1 of 2 is Infinity');
});

test('pairs past the rotary part of a head stay: frequency 0, cos 1, sin 0, whatever the attention factor', () => {
  const longrope = { type: 'longrope', shortFactors: [1], longFactors: [1], originalContextLength: 8 } as const;
  const rope: RopeParameters = { theta: 100, rotaryDim: 2, scaling: { ...longrope, attentionFactor: 3 } };
  expect([...inverseFrequencies(6, rope)]).toEqual([1, 0, 0]);
  const table = ropeTable(6, rope, 1, 1);
  expect([...table]).toEqual([Math.fround(3 * Math.cos(1)), Math.fround(3 * Math.sin(1)), 1, 0, 1, 0]);
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

test('a rotary part turns within itself: elements j and j + rotary_dim / 2', () => {
  const x = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const cosSin = Float32Array.of(0, 1, 0, 1, 1, 0, 1, 0);
  applyRope(x, cosSin, 8, 'half', 4);
  expect([...x]).toEqual([-3, -4, 1, 2, 5, 6, 7, 8]);
  applyRope(x, cosSin, 8, 'interleaved', 4);
  expect([...x]).toEqual([4, -3, -2, 1, 5, 6, 7, 8]);
});
