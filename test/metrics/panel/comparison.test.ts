// Runs side by side: ratios to the first pinned run, unknown figures, and the choice of columns.

import { describe, expect, test } from 'vitest';
import { summarizeGaps } from '../../../src/engine/tbt';
import { columnName, columnsOf, comparisonRows } from '../../../src/metrics/panel/comparison';
import type { RunData } from '../../../src/metrics/run/run_data';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';

let made = 0;

function run(gaps: number[], gpuMs: number | null = null, [promptTokens, cachedTokens] = [17, 0]): RunData {
  const tbt = summarizeGaps(gaps);
  const usage = { promptTokens, cachedTokens, completionTokens: gaps.length + 1, reasoningTokens: 0 };
  const metrics = { prefillTokensPerSecond: 500, gpuMs: gpuMs === null ? null : summarizeGaps([gpuMs]) };
  const origin = { id: String(made++) };
  return {
    origin,
    gaps,
    tbt,
    ttftMs: 40,
    decodeTokensPerSecond: 1000 / (tbt.mean ?? 1),
    metrics,
    usage,
  } as unknown as RunData;
}

const cellsOf = (rows: ReturnType<typeof comparisonRows>, key: string) => rows.find((row) => row.key === key)?.cells;

describe('rows', () => {
  test('each figure stands beside that of the first run', () => {
    const rows = comparisonRows([
      { letter: 'a', run: run([4, 4, 4, 10], 0.5) },
      { letter: null, run: run([8, 8, 8, 5], 0.6) },
    ]);
    expect(cellsOf(rows, 'p50')).toEqual([
      { value: '4.00 ms', ratio: '', verdict: '', note: '', caveat: '' },
      { value: '8.00 ms', ratio: '×2.00', verdict: 'worse', note: '', caveat: '' },
    ]);
    expect(cellsOf(rows, 'max')?.[1]).toMatchObject({ value: '8.00 ms', ratio: '×0.80', verdict: 'better' });
    expect(cellsOf(rows, 'gpu')?.[1]).toMatchObject({ value: '0.60 ms', ratio: '×1.20', verdict: 'worse' });
    expect(cellsOf(rows, 'ttft')?.[1]?.ratio).toBe('×1.00');
    const same = { value: '500 tok/s', ratio: '×1.00', verdict: 'same', note: '17 new', caveat: '' };
    expect(cellsOf(rows, 'prefill')?.[1]).toEqual(same);
  });

  test('a ratio is written in the language of the panel', async () => {
    const ratioOf = () => {
      const pins = [run([4, 4]), run([6, 6])].map((each) => ({ letter: null, run: each }));
      return cellsOf(comparisonRows(pins), 'p50')?.[1]?.ratio;
    };
    expect(ratioOf()).toBe('×1.50');
    await useLanguage('de', importTranslation);
    const german = ratioOf();
    await useLanguage('en', importTranslation);
    expect(german).toBe('×1,50');
  });

  test('fewer milliseconds are better, and more tokens a second', () => {
    const rows = comparisonRows([
      { letter: 'a', run: run([5, 5]) },
      { letter: 'b', run: run([4, 4]) },
      { letter: null, run: run([5.05, 5.05]) },
    ]);
    expect(cellsOf(rows, 'p50')?.map(({ verdict }) => verdict)).toEqual(['', 'better', 'same']);
    expect(cellsOf(rows, 'decode')?.map(({ verdict, ratio }) => verdict + ratio)).toEqual([
      '',
      'better×1.25',
      'same×0.99',
    ]);
  });

  test('prefill and first token are compared only for equal numbers of new tokens, with the reason otherwise', () => {
    const first = { letter: 'a' as const, run: run([4, 5], null, [410, 0]) };
    for (const [prompt, caveat] of [
      [[439, 29], ''],
      [[439, 410], 'not compared: 29 new tokens, not 410'],
    ] as const) {
      const rows = comparisonRows([first, { letter: null, run: run([4, 5], null, [...prompt]) }]);
      for (const key of ['prefill', 'ttft']) {
        const [base, cell] = cellsOf(rows, key)!;
        expect(base).toMatchObject({ ratio: '', caveat: '' });
        expect(cell).toMatchObject({ caveat, ratio: caveat ? '' : '×1.00' });
      }
      expect(cellsOf(rows, 'decode')?.[1]?.ratio).toBe('×1.00');
    }
    const live = { ...run([4, 5]), usage: null } as RunData;
    const rows = comparisonRows([first, { letter: null, run: live }]);
    expect(cellsOf(rows, 'ttft')?.[1]?.caveat).toBe('not compared: new tokens unknown');
  });

  test('percentiles of too few gaps, in either run, are not compared', () => {
    const of = (n: number) => run(Array<number>(n).fill(5));
    const p99 = (a: number, b: number) => {
      const rows = comparisonRows([
        { letter: 'a', run: of(a) },
        { letter: null, run: of(b) },
      ]);
      return cellsOf(rows, 'p99')!.map(({ ratio, caveat }) => ratio + caveat);
    };
    expect(p99(100, 100)).toEqual(['', '×1.00']);
    expect(p99(100, 99)).toEqual(['', 'n = 99, too few']);
    expect(p99(99, 100)).toEqual(['n = 99, too few', 'not compared: too few there']);
  });

  test('a figure unknown in all runs has no row, and one unknown in a run is a dash', () => {
    const columns = [
      { letter: 'a' as const, run: run([4, 5]) },
      { letter: 'b' as const, run: run([4, 5], 0.6) },
    ];
    expect(cellsOf(comparisonRows(columns), 'gpu')?.map(({ value, ratio }) => value + ratio)).toEqual(['–', '0.60 ms']);
    expect(cellsOf(comparisonRows(columns.slice(0, 1)), 'gpu')).toBeUndefined();
  });

  test('ratios have three digits, and nothing is divided by 0', () => {
    const ratio = (value: number, base: number | null) => {
      const rows = comparisonRows([
        { letter: 'a', run: run([1], base) },
        { letter: null, run: run([1], value) },
      ]);
      return cellsOf(rows, 'gpu')?.[1]?.ratio;
    };
    expect([ratio(12.34, 10), ratio(123.4, 10), ratio(12340, 10)]).toEqual(['×1.23', '×12.3', '×1234']);
    expect([ratio(1, 0), ratio(1, null)]).toEqual(['', '']);
  });
});

test('the newest run stands beside the pinned ones unless it is one of them or has no gaps', () => {
  const [pinned, newest] = [run([1, 2]), run([3, 4])];
  const pins = [{ letter: 'a' as const, run: pinned }];
  expect(columnsOf(pins, newest).map(({ letter }) => letter)).toEqual(['a', null]);
  expect(columnsOf(pins, pinned)).toHaveLength(1);
  expect(columnsOf(pins, run([]))).toHaveLength(1);
});

test('a run is named by its attention, KV type and backend', () => {
  const info = { backend: 'webgpu', attention: { prefill: 'flash_prefill', decode: 'eager' } };
  const named = { ...run([1]), label: 'eager, KV f16, activations q8', info, metrics: null } as unknown as RunData;
  expect(columnName({ letter: null, run: named })).toBe('flash_prefill / eager, KV f16, activations q8 · webgpu');
});
