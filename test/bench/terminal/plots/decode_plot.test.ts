// The picture of the decode bench: its panels, its lines, and the command that draws it.

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { plotDecode } from '../../../../bench/terminal/plots/decode_plot';
import { ROOT } from '../../../../tools/lib/ensure.mjs';
import { attentionReport, decodeReport, decodeRow, REFUSED } from '../reports';

const SHAPE = 'llama-3.2-1b';
const DEPTHS = ([1, 2, 'auto'] as const).map((runAhead, i) => decodeRow(512, runAhead, 4 / 2 ** i));
const CONTEXTS = [128, 1024].map((context) => decodeRow(context, 'auto', 1));

/** Titles of the panels, in order. */
const titles = (svg: string) => [...svg.matchAll(/class="title"[^>]*><text[^>]*>([^<]*)</g)].map(([, title]) => title);

test('a sweep is two panels: by steps in flight at one context, by context with auto', () => {
  const svg = plotDecode(decodeReport([...DEPTHS, ...CONTEXTS]), SHAPE);
  expect(titles(svg)).toEqual(['llama-3.2-1b, q4, context 512', 'llama-3.2-1b, q4, by context']);
  for (const text of ['steps in flight', '>1<', '>auto (12)<', 'tokens before the answer', '>128<', '>512<', '>1024<'])
    expect(svg).toContain(text);
  for (const name of ['arrivals, p99', 'arrivals, mean', 'GPU step, p50', 'roofline'])
    expect(svg).toContain(`>${name}<`);
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});

test('rows of other options than greedy ones are left out', () => {
  const other = { ...decodeRow(512, 'auto', 2), answer: { logprobs: 5 } };
  expect(plotDecode(decodeReport([other, ...CONTEXTS]), SHAPE)).toBe(plotDecode(decodeReport(CONTEXTS), SHAPE));
});

test('one row is one panel; what has no GPU clock has no line of steps', () => {
  const row = decodeRow(512, 'auto', 1);
  if (row.median) row.median.gpuMs = null;
  const svg = plotDecode(decodeReport([row]), SHAPE);
  expect(titles(svg)).toEqual(['llama-3.2-1b, q4, by context']);
  expect(svg).not.toContain('GPU step');
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});

test('a report that holds nothing to draw is refused', () => {
  const refused = { ...decodeRow(512, 'auto', 1), median: null, best: null, refused: REFUSED };
  expect(() => plotDecode(decodeReport([refused]), SHAPE)).toThrow(`no measured row for the shape ${SHAPE}`);
  expect(() => plotDecode(attentionReport(), SHAPE)).toThrow('of attention; decode is needed');
});

test('the command line: a report in, a picture out; anything else is one sentence', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vivace-plot-'));
  try {
    const [results, picture] = ['in.json', 'out.svg'].map((name) => path.join(folder, name));
    const plot = (...args: string[]) =>
      spawnSync(process.execPath, ['tools/run.mjs', 'bench/plot.ts', ...args], { cwd: ROOT });
    await writeFile(results, JSON.stringify(decodeReport(DEPTHS)));
    expect(plot(results, picture).status).toBe(0);
    expect(await readFile(picture, 'utf8')).toBe(plotDecode(decodeReport(DEPTHS), SHAPE));
    const wrong = plot(results);
    expect([wrong.status, String(wrong.stderr)]).toEqual([
      2,
      expect.stringMatching(/^Two files.*\nUsage: npm run plot/),
    ]);
    expect(plot(results, picture, '--shape', 'storyteller').status).toBe(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});
