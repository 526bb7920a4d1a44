// The same prompt again and again: settings take turns, the cache is empty, and a loss or an abort ends everything.

import { expect, test } from 'vitest';
import { type Measurement, measure } from '../../../src/metrics/repeat/measure';
import { figureRows, type Sample } from '../../../src/metrics/repeat/measured_figures';

interface Asked {
  ids: readonly number[];
  options: Record<string, unknown>;
}

/** An engine whose runs take one millisecond a token longer each time. */
function scripted(fails: (run: number) => 'interrupted' | 'nothing' | null = () => null) {
  const asked: Asked[] = [];
  const complete = async function* (ids: readonly number[], { signal: _, ...options }: Record<string, unknown>) {
    asked.push({ ids, options });
    const run = asked.length;
    const perToken = Array<number>(120).fill(run);
    if (fails(run) === 'interrupted') yield { type: 'interrupted', code: 'device-lost', message: 'The GPU was lost.' };
    if (fails(run) === 'nothing') return;
    const tbtMs = { p50: run, p99: run + 1, perToken };
    const metrics = { decodeTokensPerSecond: 1000 / run, prefillTokensPerSecond: 500, ttftMs: 40 + run, tbtMs };
    yield { type: 'done', metrics };
  };
  return { asked, engine: { complete } as unknown as Measurement['engine'] };
}

function given(engine: Measurement['engine'], more: Partial<Measurement> = {}): Measurement {
  const onProgress = () => {};
  const { signal } = new AbortController();
  return { engine, promptIds: [1, 2], tokens: 128, settings: [{ seed: 7 }], times: 3, signal, onProgress, ...more };
}

test('each run has the same prompt and length, an empty cache, and comes after a short one that is not counted', async () => {
  const { engine, asked } = scripted();
  const progress: string[] = [];
  const onProgress = (done: number, total: number) => progress.push(`${done}/${total}`);
  const series = await measure(given(engine, { onProgress }));
  const options = { seed: 7, maxTokens: 128, ignoreEos: true, reuseCache: false };
  expect(asked).toEqual([
    { ids: [1, 2], options: { ...options, maxTokens: 16 } },
    { ids: [1, 2], options },
    { ids: [1, 2], options },
    { ids: [1, 2], options },
  ]);
  expect(series.map((each) => each.map(({ p50 }) => p50))).toEqual([[2, 3, 4]]);
  expect(progress).toEqual(['0/3', '1/3', '2/3', '3/3']);
});

test('two settings take turns', async () => {
  const { engine, asked } = scripted();
  const series = await measure(given(engine, { settings: [{ runAhead: 'auto' }, { runAhead: 1 }], times: 2 }));
  expect(asked.map(({ options }) => options.runAhead)).toEqual(['auto', 1, 'auto', 1, 'auto', 1]);
  expect(series.map((each) => each.map(({ p50 }) => p50))).toEqual([
    [3, 5],
    [4, 6],
  ]);
});

test('a loss, a run without figures and an abort end the measurement', async () => {
  await expect(measure(given(scripted((run) => (run === 3 ? 'interrupted' : null)).engine))).rejects.toThrow('lost');
  await expect(measure(given(scripted((run) => (run === 2 ? 'nothing' : null)).engine))).rejects.toThrow('figures');
  const abort = new AbortController();
  const onProgress = (done: number) => done === 1 && abort.abort();
  const { engine, asked } = scripted();
  await expect(measure(given(engine, { signal: abort.signal, onProgress }))).rejects.toThrow(/abort/i);
  expect(asked).toHaveLength(2);
});

test('rows have median, range and a verdict on the first series; p99 of few gaps is left out', () => {
  const sample = (decode: number): Sample => ({ decode, prefill: 500, ttft: 1000 / decode, p50: 5, p99: null });
  const [slow, fast] = [[100, 101, 102].map(sample), [150, 149, 151].map(sample)];
  const rows = figureRows([slow, fast]);
  expect(rows.map(({ key }) => key)).toEqual(['decode', 'prefill', 'ttft', 'p50']);
  expect(rows.map(({ cells }) => cells.map(({ verdict }) => verdict))).toEqual([
    [null, 'better'],
    [null, 'same'],
    [null, 'better'],
    [null, 'same'],
  ]);
  expect(rows[0]?.cells[1]).toMatchObject({ median: '150 tok/s', range: '149 – 151 tok/s', ratio: '×1.49' });
});
