// The panel's figures: bytes and speed of reads, time to the first token, percentiles of few values.

import { describe, expect, test } from 'vitest';
import type { EngineEvent, EngineInfo, Roofline, RunMetrics } from '../../../src/engine/protocol';
import { summarizeGaps } from '../../../src/engine/tbt';
import { figureGroups, headline, headlineNote } from '../../../src/metrics/panel/figures';
import { decodeStep, machine } from '../../../src/metrics/panel/machine_figures';
import { RunRecord } from '../../../src/metrics/run/run_record';
import { formatBytes, formatShare, formatSpeed } from '../../../src/metrics/shared/figure_format';
import { importTranslation } from '../../../src/words/import_translation';
import { useLanguage } from '../../../src/words/language';
import { tokenEvent } from '../events';

const attention = { prefill: 'flash_prefill', decode: 'fused_decode', reason: 'a test' } as const;
const step = { name: 'plain', reason: 'a test', gain: null, giveUps: 0 } as const;
const info: EngineInfo = {
  model: {
    name: 'tiny',
    architecture: 'llama',
    parameters: 1,
    nLayers: 2,
    hiddenSize: 1,
    nHeads: 1,
    nKvHeads: 1,
    headDim: 1,
    vocabSize: 1,
    format: 'Q8_0',
    fileBytes: 4096,
  },
  backend: 'webgpu',
  adapter: 'a GPU',
  contextLength: 512,
  kvCache: 'f16',
  activations: 'q8',
  attention,
  askedAttention: 'auto',
  step,
  hasChatTemplate: true,
  tools: false,
  thinking: 'none',
  embeddings: { pooling: 'last', size: 64, only: false },
  gpuBytes: { weights: 2048, kvCache: 1024, activations: 512 },
  bytesPerToken: { weights: 10_000_000, kvPerPosition: 1000 },
  loadMs: { open: 10, weights: 200, compile: 30 },
  warnings: [],
};

/** Three tokens, at positions 99, 100 and 101 unless they are further apart, with gaps of 2 ms and steps of `gpuMs`. */
function runOf(gpuMs: number | null, { isFirst = false, ended = true, apart = 1, batchSize = 1 } = {}): RunRecord {
  const run = new RunRecord({ info, isFirst, now: () => 0, onPaint: () => {} });
  run.record({ type: 'prefill', done: 9, total: 9 });
  for (let i = 0; i < 3; i++) run.record(tokenEvent({ tbtMs: i === 0 ? null : 2, position: 99 + apart * i }));
  if (!ended) return run;
  const metrics: RunMetrics = {
    attention,
    step,
    ttftMs: 30,
    tokenizeMs: 2,
    prefillMs: 28,
    prefillTokensPerSecond: 321,
    decodeTokensPerSecond: 500,
    tbtMs: summarizeGaps([2, 2]),
    gpuMs: gpuMs === null ? null : summarizeGaps([gpuMs, gpuMs]),
    perToken: { dispatches: 33, submits: 1, syncs: 1, bytesRead: 4 },
    runAhead: 6,
    peakGpuBytes: 4096,
    ...(batchSize > 1 && { batchSize }),
    cache: { report: 'parked', branches: 2, bytes: 3_000_000 } as const,
  };
  const usage = { promptTokens: 99, cachedTokens: 90, completionTokens: 3, reasoningTokens: 0 };
  const done: EngineEvent = {
    type: 'done',
    text: '',
    finishReason: 'eos',
    seed: 7,
    usage,
    metrics,
  };
  run.record(done);
  return run;
}

function figure(run: RunRecord, key: string, about: EngineInfo | null = info, roofline: Roofline | null = null) {
  return figureGroups(run, about, roofline)
    .flatMap(({ figures }) => figures)
    .find((each) => each.key === key);
}

describe('what a token reads', () => {
  test('weights, and keys and values at the mean context of the steps', () => {
    expect(figure(runOf(null), 'bytes-needed')?.value).toBe('10.1 MB'); // 10,000,000 + 100.5 * 1000
  });

  test.each([
    ['50', 50, 100.5 + 50],
    ['100', 100, 100.5 + 100],
    ['1,000', 1000, 2 * 100.5],
  ])('of layers with a window, the last %s positions alone', (told, positions, read) => {
    const bytesPerToken = { weights: 0, kvPerPosition: 1e6, kvInWindows: [{ positions, perPosition: 1e6 }] };
    const found = figure(runOf(null), 'bytes-needed', { ...info, bytesPerToken });
    expect(found?.value).toBe(formatBytes(1e6 * read));
    expect(found?.definition).toContain(`the last ${told} positions`);
  });

  test('of a window that fills on the way, what the steps read on the mean', () => {
    const bytesPerToken = { weights: 0, kvPerPosition: 0, kvInWindows: [{ positions: 249, perPosition: 1e6 }] };
    const found = figure(runOf(null, { apart: 100 }), 'bytes-needed', { ...info, bytesPerToken });
    expect(found?.value).toBe(formatBytes(1e6 * ((224 + 249) / 2))); // 199 to 249, then 249 up to position 299
  });

  test('its speed is by the GPU’s own time where that is known, and says so', () => {
    const byGpu = figure(runOf(0.5), 'read-speed');
    expect(byGpu?.value).toBe('20.2 GB/s');
    expect(byGpu?.definition).toContain('GPU’s own time');
    const byGaps = figure(runOf(null), 'read-speed');
    expect(byGaps?.value).toBe('5.05 GB/s');
    expect(byGaps?.definition).toContain('mean gap');
    expect(figure(runOf(0), 'read-speed')?.value).toBe('5.05 GB/s'); // a clock too coarse for a step
    expect(figure(runOf(null, { ended: false }), 'read-speed')?.value).toBe('5.05 GB/s'); // live
  });

  test('its speed is unknown where steps ran for several answers, which the note of the steps tells', () => {
    const run = runOf(0.5, { batchSize: 3 });
    const speed = figure(run, 'read-speed');
    expect(speed?.value).toBe('–');
    expect(speed?.definition).toContain('several answers');
    const noteOf = (each: RunRecord) => figureGroups(each, info).find(({ key }) => key === 'gpu')?.note;
    expect(noteOf(run)).toContain('up to 3 answers at once');
    expect(noteOf(runOf(0.5))).not.toContain('answers');
  });

  test('the fraction of the roofline is a dash until that is measured', () => {
    expect(figure(runOf(0.5), 'roofline')?.value).toBe('–');
    const measured = figure(runOf(0.5), 'roofline', info, { readGBps: 80.804, clock: 'cpu' });
    expect(measured?.value).toBe('25%');
    expect(measured?.definition).toContain('CPU’s clock');
  });

  test('is unknown before a second token, and hidden on the cpu', () => {
    expect(figure(new RunRecord({ info, onPaint: () => {} }), 'bytes-needed')?.value).toBe('–');
    const onCpu = { ...info, backend: 'cpu', gpuBytes: null, bytesPerToken: null } as const;
    expect(figure(runOf(null), 'bytes-needed', onCpu)).toBeUndefined();
    expect(figureGroups(runOf(null), onCpu).find(({ title }) => title === 'Per token')?.note).toContain('cpu');
  });
});

describe('the time to the first token', () => {
  test('has its parts, and names the tokens that were reused', () => {
    const run = runOf(null);
    const values = ['ttft', 'tokenize', 'prefill', 'prefill-rate', 'cached'].map((key) => figure(run, key)?.value);
    expect(values).toEqual(['30.0 ms', '2.00 ms', '28.0 ms', '321 tok/s', '90 of 99']);
    expect(figure(run, 'first-open')).toBeUndefined();
  });

  test('says where the reused tokens came from, and what other chats take', () => {
    expect(figure(runOf(null), 'cache')?.value).toBe('a chat kept in memory');
    expect(figure(runOf(null), 'memory-parked')?.value).toBe('3.0 MB');
  });

  test('includes the load before the first answer', () => {
    const run = runOf(null, { isFirst: true });
    const values = ['load', 'open', 'weights', 'compile'].map((key) => figure(run, `first-${key}`)?.value);
    expect(values).toEqual(['240 ms', '10.0 ms', '200 ms', '30.0 ms']);
    expect(figure(run, 'load')).toBeUndefined(); // it would be the same figure twice
    expect(figure(runOf(null), 'load')?.value).toBe('240 ms');
  });

  test('shows progress while the prompt is read', () => {
    const run = new RunRecord({ info, onPaint: () => {} });
    run.record({ type: 'prefill', done: 512, total: 2000 });
    expect(figure(run, 'prefill')?.value).toBe('512 of 2000');
  });
});

test('every figure has a name of its own, text, and a definition', () => {
  for (const run of [
    runOf(0.5, { isFirst: true }),
    runOf(null, { ended: false }),
    new RunRecord({ onPaint: () => {} }),
  ]) {
    const figures = figureGroups(run, info, { readGBps: 100, clock: 'gpu' }).flatMap((group) => group.figures);
    expect(new Set(figures.map(({ key }) => key)).size).toBe(figures.length);
    for (const { value, definition } of figures) {
      expect(value).not.toMatch(/NaN|undefined|null|Infinity/);
      expect(definition).toMatch(/\w.{8,}/);
    }
  }
});

describe('percentiles tell how many gaps they are of', () => {
  const withGaps = (n: number) => {
    const run = new RunRecord({ info, now: () => 0, onPaint: () => {} });
    for (let i = 0; i <= n; i++) run.record(tokenEvent({ tbtMs: i === 0 ? null : 2, position: i }));
    return run;
  };

  for (const [n, faint, note] of [
    [0, [], ''],
    [1, ['p95', 'p99'], 'n = 1 gap. p95 needs 20. p99 needs 100.'],
    [19, ['p95', 'p99'], 'n = 19 gaps. p95 needs 20. p99 needs 100.'],
    [20, ['p99'], 'n = 20 gaps. p99 needs 100.'],
    [99, ['p99'], 'n = 99 gaps. p99 needs 100.'],
    [100, [], 'n = 100 gaps.'],
  ] as const) {
    test(`${n} gaps`, () => {
      const run = withGaps(n);
      const tiles = headline(run);
      expect(tiles.filter(({ isFaint }) => isFaint).map(({ key }) => key)).toEqual(faint);
      expect(headlineNote(run)).toBe(note);
      for (const { key, definition, isFaint } of tiles) {
        const least = key === 'p95' ? 20 : 100;
        const gaps = n === 1 ? '1 gap' : `${n} gaps`;
        if (isFaint) expect(definition).toContain(`Of only ${gaps} it is simply the longest; it needs ${least}.`);
        else expect(definition).not.toContain('only');
      }
    });
  }

  test('of tokens that came in groups, also how far they are apart on average', () => {
    const run = new RunRecord({ info, now: () => 0, onPaint: () => {} });
    const gaps = [null, 0, 0, 1.6, 0, 0, 0, 1.6, 0];
    for (const [position, tbtMs] of gaps.entries()) run.record(tokenEvent({ tbtMs, position }));
    expect(headlineNote(run)).toBe(
      'n = 8 gaps. p95 needs 20. p99 needs 100. Tokens come in groups, 0.40 ms apart on average.',
    );
  });

  test('steps of the GPU, too', () => {
    const run = runOf(0.5);
    const group = figureGroups(run, info).find(({ title }) => title === 'On the GPU');
    expect(group?.figures.map(({ key, isFaint = false }) => [key, isFaint])).toEqual([
      ['gpu-p50', false],
      ['gpu-p95', true],
      ['gpu-p99', true],
      ['gpu-max', false],
    ]);
    expect(group?.note).toMatch(/^n = 2 steps\. p95 needs 20/);
  });
});

test('the clocks are named beside their figures', () => {
  const notes = figureGroups(runOf(0.5), info).flatMap(({ note }) => note ?? []);
  expect(notes.join(' ')).toMatch(/0\.1 ms.*65 microseconds/);
});

test('speeds and shares keep the digits that mean something', () => {
  expect([null, 4.123, 42.36, 4604.4].map(formatSpeed)).toEqual(['–', '4.12 GB/s', '42.4 GB/s', '4604 GB/s']);
  expect([null, 0.0213, 0.46, 1.2].map(formatShare)).toEqual(['–', '2.1%', '46%', '120%']);
});

test('the decode step: its name and gain, with the reason below', () => {
  const group = decodeStep({ name: 'fused', reason: 'measured when the model loaded', gain: 0.38, giveUps: 2 });
  expect(group.figures.map(({ key, value }) => [key, value])).toEqual([
    ['step', 'fused, 38% faster than plain here, gave up 2 times'],
  ]);
  expect(group.note).toBe(
    'measured when the model loaded. Fused steps compute attention themselves; the decode kernel above runs in plain steps.',
  );
});

test('recoveries are a figure that says how their pauses count, and are in the note of the tiles', () => {
  const run = new RunRecord({ info, now: () => 0, onPaint: () => {} });
  const lose = (code: string, pauseMs: number) => {
    run.record({ type: 'interrupted', code, message: 'Lost.' });
    run.record({ type: 'recovered', message: 'Back.', backend: 'webgpu', pauseMs });
  };
  lose('worker', 400);
  run.record(tokenEvent({ position: 0 }));
  expect(headlineNote(run)).toBe('');
  run.record(tokenEvent({ tbtMs: 2, position: 1 }));
  expect(headlineNote(run)).not.toContain('recover'); // the first token has no gap
  lose('device-lost', 1500);
  expect(headlineNote(run)).not.toContain('recover'); // no gap yet
  run.record(tokenEvent({ tbtMs: 1502, position: 2 }));
  expect(headlineNote(run)).toContain('One is a recovery, and counts like any other.');
  const { label, value, definition } = figure(run, 'recoveries')!;
  expect([label, value]).toEqual(['2 recoveries', '1.90 s']);
  expect(definition).toMatch(/^The engine’s worker ended; .* The GPU was lost; .* histogram and decode rate\.$/);
  expect(figure(runOf(null), 'recoveries')).toBeUndefined();
});

describe('arithmetic', () => {
  const time = (ms: number, spread = 0.012) => ({ ms, spread });
  const shape = { format: 'q4', rows: 16384, cols: 2048, copies: 4, clock: 'gpu' } as const;
  const decode = { q8: time(0.0082), f32: time(0.0171) };
  const race = { ...shape, decode, prefill: { q8: time(4), f32: time(1.05, 0.2) } };
  const arithmetic = { decode: 'q8', prefill: 'f32', cause: 'kept', reason: 'measured', race } as const;

  test('by pass, with the times of the race and the cause', () => {
    const group = machine({ ...info, arithmetic });
    const of = (name: string) => group?.figures.find(({ key }) => key === name);
    expect(of('activations')?.value).toBe('q8, prefill f32');
    expect(of('raced-decode')?.value).toBe('q8 8.2 µs, f32 17.1 µs');
    expect(of('raced-decode')?.definition).toContain('16,384 × 2,048, q4');
    expect(of('raced-prefill')?.value).toBe('q8 4,000 µs, f32 1,050 µs');
    expect(of('raced-prefill')?.definition).toContain('spread by 20%');
    expect(group?.note).toMatch(/^An earlier load measured/);
  });

  test('without a race the cause alone, and nothing of earlier versions', () => {
    const asked = machine({ ...info, arithmetic: { ...arithmetic, cause: 'asked', race: null } });
    expect(asked?.figures.some(({ key }) => key.startsWith('raced'))).toBe(false);
    expect(asked?.note).toMatch(/by name\.$/);
    expect(machine(info)).not.toHaveProperty('note');
  });
});

test('the note of too few gaps is a Japanese sentence in Japanese', async () => {
  await useLanguage('ja', importTranslation);
  const run = new RunRecord({ info, now: () => 0, onPaint: () => {} });
  for (const tbtMs of [null, 2]) run.record(tokenEvent({ tbtMs, position: 0 }));
  const note = headlineNote(run);
  await useLanguage('en', importTranslation);
  expect(note).toBe('n = 1 間隔。 p95 には 20 必要です。 p99 には 100 必要です。');
});
