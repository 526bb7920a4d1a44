// The panel's tables and texts of a tuning.

import { expect, test } from 'vitest';
import type { AttentionResult, EngineInfo, ProductResult, TuneOutcome } from '../../../src/engine/protocol';
import { DeviceLostError, InvalidRequestError } from '../../../src/errors';
import { tuneToJson } from '../../../src/metrics/run/export';
import { type TuneTable, tuneTables } from '../../../src/metrics/tuning/tune_table';
import {
  keptText,
  lastMeasured,
  prefillSummary,
  tuneFailure,
  whyNotTune,
} from '../../../src/metrics/tuning/tune_texts';
import { fakeResults } from '../../ui/fake_tuning';

function combination(letter: string | null, ms: number | null, more: Partial<AttentionResult> = {}): AttentionResult {
  return {
    pass: 'prefill',
    combination: letter,
    name: 'flash_prefill',
    parameters: { BLOCK_M: 32, BLOCK_N: 64, DV_TILE: 16 },
    nTokens: 128,
    kvLen: 512,
    ms,
    refused: ms === null ? 'too large' : null,
    fastest: false,
    ...more,
  };
}

const prefillOf = (...results: AttentionResult[]) => tuneTables(results, 'prefill')[0] as TuneTable;
const gains = (table: TuneTable) => table.rows.map((row) => row.gain);

test('the gain is that of speed against G: twice as fast is +100%', () => {
  const table = prefillOf(combination('A', 600), combination('D', 400), combination('E', 1600), combination('G', 800));
  expect(gains(table)).toEqual(['+33%', '+100%', '−50%', '–']);
  expect(table.baseline?.letter).toBe('G');
});

test('the same time as G is 0%, without a sign', () => {
  expect(gains(prefillOf(combination('G', 3), combination('A', 3)))).toEqual(['–', '0%']);
});

test('where G was refused the first that ran is the measure, and the summary says so', () => {
  const table = prefillOf(
    combination('A', null),
    combination('B', 4),
    combination('C', 2, { fastest: true }),
    combination('G', null),
  );
  expect(table.baseline?.letter).toBe('B');
  expect(gains(table)).toEqual(['–', '–', '+100%', '–']);
  expect(prefillSummary(table)).toBe(
    'Winner: C, 2.00 ms, +100% against B. G was refused, so the percentages are against B, the first that ran.',
  );
});

test('while G is still to come nothing is compared', () => {
  const table = prefillOf(combination('A', 4), combination('B', 2));
  expect(table.baseline).toBeNull();
  expect(gains(table)).toEqual(['–', '–']);
  expect(prefillSummary(table)).toBe('');
});

test('where all were refused there is no winner and no number', () => {
  const table = prefillOf(combination('A', null), combination('G', null));
  expect([table.baseline, table.winner]).toEqual([null, null]);
  expect(table.rows.map((row) => row.time)).toEqual(['–', '–']);
  expect(table.rows.map((row) => row.refused)).toEqual(['too large', 'too large']);
  expect(prefillSummary(table)).toBe('');
});

for (const [times, texts] of [
  [
    [0.00364, 0.0412],
    ['0.00364', '0.04120'],
  ],
  [
    [0.812, 12.5],
    ['0.812', '12.500'],
  ],
  [
    [12.34, 1840.2],
    ['12.3', '1840.2'],
  ],
  [
    [1234.5, 2000],
    ['1235', '2000'],
  ],
] as const) {
  test(`times of ${times[0]} and ${times[1]} ms get the same number of decimals`, () => {
    const table = prefillOf(combination('A', times[0]), combination('B', times[1]));
    expect(table.rows.map((row) => row.time)).toEqual(texts);
  });
}

test('a winner without a letter is named with its parameters', () => {
  const parameters = { BLOCK_M: 16, BLOCK_N: 32, DV_TILE: 64 };
  const table = prefillOf(combination('G', 8), combination(null, 4, { parameters, fastest: true }));
  expect(prefillSummary(table).replaceAll('\u00a0', ' ')).toBe(
    'Winner: flash_prefill (BLOCK_M 16, BLOCK_N 32, DV_TILE 64), 4.00 ms, +100% against G.',
  );
});

test('all eight combinations have their tiles in columns, others their parameters as text', () => {
  const [table] = tuneTables(fakeResults(), 'prefill');
  expect(table?.rows.map((row) => row.letter ?? row.name).join(' ')).toBe(
    'A B C D E F G H flash_prefill chunked eager',
  );
  expect(table?.rows[3]).toMatchObject({ tiles: ['32', '64', '64'], time: '0.0298', gain: '+67%', fastest: true });
  expect(table?.rows[5]?.refused).toContain('36864');
  expect(table?.rows[9]).toMatchObject({ tiles: null, parameters: 'QUERY_CHUNK\u00a064' });
  expect(table?.rows[10]).toMatchObject({ tiles: null, parameters: '' });
  expect(table?.winner?.letter).toBe('D');
});

test('decode has a table per cache length, ascending, each with its winner', () => {
  const tables = tuneTables(fakeResults().reverse(), 'decode');
  expect(tables.map((table) => table.title)).toEqual(['256 keys', '1,024 keys', '4,096 keys']);
  expect(tables.map((table) => table.winner?.name)).toEqual(['fused_decode', 'split_kv_decode', 'split_kv_decode']);
  expect(tables.every((table) => table.rows.length === 5)).toBe(true);
});

test('nothing measured is no table', () => {
  expect(tuneTables([], 'prefill')).toEqual([]);
  expect(tuneTables([combination('A', 1)], 'decode')).toEqual([]);
});

test('the newest candidate is named with its pass, its size and its time', () => {
  expect(lastMeasured(combination('C', 0.8142)).replaceAll('\u00a0', ' ')).toBe(
    'prefill of 128 tokens: C flash_prefill (BLOCK_M 32, BLOCK_N 64, DV_TILE 16), 0.81 ms',
  );
  const eager = combination(null, null, { pass: 'decode', name: 'eager', parameters: {}, kvLen: 4096, nTokens: 1 });
  expect(lastMeasured(eager)).toBe('decode of 4,096 keys: eager, refused');
});

const info = (backend: 'webgpu' | 'cpu', askedAttention = 'auto') => ({ backend, askedAttention }) as EngineInfo;

test('why tuning cannot start: no model, the cpu backend, an attention by name, an answer', () => {
  const fine = { hasModel: true, info: info('webgpu'), isAnswering: false };
  expect(whyNotTune(fine)).toBeNull();
  expect(whyNotTune({ ...fine, hasModel: false })).toContain('no model');
  expect(whyNotTune({ ...fine, info: null })).toContain('no model');
  expect(whyNotTune({ ...fine, info: info('cpu'), isAnswering: true })).toContain('cpu backend');
  expect(whyNotTune({ ...fine, info: info('webgpu', 'eager') })).toContain('eager by name');
  expect(whyNotTune({ ...fine, isAnswering: true })).toContain('answer is running');
});

function outcome(more: Partial<TuneOutcome> = {}): TuneOutcome {
  const attention = { prefill: 'flash_prefill', decode: 'split_kv_decode', reason: 'tuned' } as const;
  const step = { name: 'plain', reason: 'a test', gain: null, giveUps: 0 } as const;
  return { results: fakeResults(), attention, step, stored: true, ...more };
}

test('the outcome says how long it holds', () => {
  expect(keptText(outcome())).toBe('Kept for this GPU and browser; used from now on.');
  expect(keptText(outcome({ stored: false }))).toContain('until the page closes');
  expect(keptText(outcome({ results: [combination('A', null)] }))).toContain('No candidate ran');
});

test('a failure keeps its sentence and adds a next step', () => {
  expect(tuneFailure(new Error('boom.'))).toBe(
    'boom. What ran before goes on running. Try again; if it fails again, load the model again.',
  );
  expect(tuneFailure(new DeviceLostError('reset'))).toContain('The model loads again by itself');
  expect(tuneFailure(new InvalidRequestError('Load it with "auto" first.'))).toBe('Load it with "auto" first.');
  expect(tuneFailure('')).toContain('without a message');
});

test('the export holds everything', () => {
  const { results, attention, stored, info: machine } = JSON.parse(tuneToJson(outcome(), info('webgpu')));
  expect(results).toEqual(fakeResults());
  expect([attention.decode, stored, machine.backend]).toEqual(['split_kv_decode', true, 'webgpu']);
});

function product(ms: number | null, more: Partial<ProductResult> = {}): ProductResult {
  return {
    pass: 'product',
    name: 'gate_up',
    rows: 16384,
    cols: 2048,
    format: 'q4',
    input: 'to_q8',
    nTokens: 1,
    parameters: { WORKGROUP: 512, LANES: 16 },
    isDefault: false,
    ms,
    refused: ms === null ? 'it is wrong' : null,
    fastest: false,
    ...more,
  };
}

const PRODUCTS = [
  product(0.0081, { isDefault: true }),
  product(0.006, { fastest: true, parameters: { WORKGROUP: 256, LANES: 16 } }),
  product(null),
  product(0.0162),
  product(1.2, { nTokens: 256, input: 'q8', isDefault: true, fastest: true, parameters: { rowThreads: 8 } }),
];

test('one table per shape and pass, with what is faster than the default and by how much', () => {
  const [decode, prefill, ...rest] = tuneTables([...fakeResults(), ...PRODUCTS], 'product');
  expect(rest).toEqual([]);
  expect(decode?.title).toBe('gate_up 16,384 × 2,048, q4');
  expect(decode?.rows.map(({ time }) => time)).toEqual(['8.10', '6.00', '–', '16.20']);
  expect(decode?.rows.map(({ gain }) => gain)).toEqual(['–', '+35%', '–', '−50%']);
  expect(decode?.rows.map(({ refused }) => refused)).toEqual([null, null, 'it is wrong', null]);
  expect(decode?.winner?.parameters.replaceAll('\u00a0', ' ')).toBe('WORKGROUP 256, LANES 16');
  expect(prefill).toMatchObject({ nTokens: 256, winner: { time: '1200', isDefault: true } });
});

test('where the default was refused nothing is compared', () => {
  const [table] = tuneTables([product(null, { isDefault: true }), product(1)], 'product');
  expect(table).toMatchObject({
    winner: null,
    rows: [
      { time: '–', gain: '–' },
      { time: '1000', gain: '–' },
    ],
  });
});

test('the two output projections of a step have titles of their own', () => {
  const o = { name: 'o', rows: 2048, cols: 2048, isDefault: true } as const;
  const tables = tuneTables(
    [product(1, { ...o, input: 'to_q8' }), product(2, { ...o, input: 'parts_to_q8' })],
    'product',
  );
  expect(tables.map(({ title }) => title)).toEqual(['o 2,048 × 2,048, q4', 'o 2,048 × 2,048, q4, merges splits']);
});

test('attention and products do not mix', () => {
  expect(tuneTables(fakeResults(), 'product')).toEqual([]);
  expect(tuneTables(PRODUCTS, 'decode')).toEqual([]);
});

test('the newest product is named with its shape and its time', () => {
  const text = (result: ProductResult) => lastMeasured(result).replaceAll('\u00a0', ' ');
  expect(text(product(0.0081))).toBe('decode: gate_up 16,384 × 2,048, q4 (WORKGROUP 512, LANES 16), 8.1 µs');
  expect(text(product(null, { nTokens: 256 }))).toMatch(/^prefill of 256 tokens: gate_up .*, refused$/);
});
