import { expect, test } from 'vitest';
import type { ProductResult } from '../../../src/engine/protocol';
import { productTables } from '../../../src/metrics/tuning/tune_products_table';
import { tuneTables } from '../../../src/metrics/tuning/tune_table';
import { lastMeasured } from '../../../src/metrics/tuning/tune_texts';
import { fakeResults } from '../../ui/fake_tuning';

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

const RESULTS = [
  product(0.0081, { isDefault: true }),
  product(0.006, { fastest: true, parameters: { WORKGROUP: 256, LANES: 16 } }),
  product(null),
  product(0.0162),
  product(1.2, { nTokens: 256, input: 'q8', isDefault: true, fastest: true, parameters: { rowThreads: 8 } }),
];

test('one table per shape and pass, with what is faster than the default and by how much', () => {
  const [decode, prefill, ...rest] = productTables([...fakeResults(), ...RESULTS]);
  expect(rest).toEqual([]);
  expect(decode?.title).toBe('gate_up 16,384 × 2,048, q4');
  expect(decode?.rows.map(({ us }) => us)).toEqual(['8.10', '6.00', '–', '16.20']);
  expect(decode?.rows.map(({ gain }) => gain)).toEqual(['–', '+35 %', '–', '−50 %']);
  expect(decode?.rows.map(({ refused }) => refused)).toEqual([null, null, 'it is wrong', null]);
  expect(decode?.winner?.parameters.replaceAll('\u00a0', ' ')).toBe('WORKGROUP 256, LANES 16');
  expect(prefill).toMatchObject({ nTokens: 256, winner: { us: '1200', isDefault: true } });
});

test('where the default was refused nothing is compared', () => {
  const [table] = productTables([product(null, { isDefault: true }), product(1)]);
  expect(table).toMatchObject({
    winner: null,
    rows: [
      { us: '–', gain: '–' },
      { us: '1000', gain: '–' },
    ],
  });
});

test('attention and products do not mix', () => {
  expect(productTables(fakeResults())).toEqual([]);
  expect(tuneTables(RESULTS, 'decode')).toEqual([]);
});

test('the newest product is named with its shape and its time', () => {
  const text = (result: ProductResult) => lastMeasured(result).replaceAll('\u00a0', ' ');
  expect(text(product(0.0081))).toBe('decode: gate_up 16,384 × 2,048, q4 (WORKGROUP 512, LANES 16), 8.1 µs');
  expect(text(product(null, { nTokens: 256 }))).toMatch(/^prefill of 256 tokens: gate_up .*, refused$/);
});
