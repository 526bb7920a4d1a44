// The picture of the attention bench: its axes, its lines and its legend.

import { expect, test } from 'vitest';
import { plotAttention } from '../../../../bench/terminal/plots/attention_plot';
import { AROUND, attentionReport, ROOFLINE } from '../reports';

/** The corners of the nth line of the first panel, bounds first: [x, y] each. */
function corners(svg: string, n: number): number[][] {
  const lines = [...svg.matchAll(/<g[^>]*aria-label="line">(.*?)<\/g>/gs)].map(([, inside]) => inside).join('');
  const [, path = ''] = [...lines.matchAll(/<path d="(M[\d.,L]+)"/g)][n] ?? [];
  return [...path.matchAll(/[ML]([\d.]+),([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
}

const svg = plotAttention(attentionReport([128, 256, 512]), 'llama-3.2-1b');

test('axes have titles, units and the lengths that were measured; the legend names what ran and nothing else', () => {
  for (const text of [
    'keys in the cache',
    'prompt tokens',
    'milliseconds, one layer',
    '>256<',
    '>0.01<',
    'A GPU &amp; more',
  ])
    expect(svg).toContain(text);
  for (const name of ['eager', 'flash_prefill', 'split_kv_decode', 'roofline'])
    expect(svg).toContain(`>${name}</text>`);
  expect(svg).not.toContain('>cpu</text>');
  expect(svg).toContain('prefers-color-scheme: dark');
});

test('both axes are logarithmic: doubling the length and the time is a straight line, and ten times is one decade', () => {
  const [first, second, third] = corners(svg, 1);
  expect(second[0] - first[0]).toBeCloseTo(third[0] - second[0], 0);
  expect(second[1] - first[1]).toBeCloseTo(third[1] - second[1], 0);
  const eager = corners(svg, 1)[0][1];
  const split = corners(svg, 3)[0][1];
  const decade = corners(svg, 0)[0][1] - eager; // eager reaches a tenth of it
  expect((split - eager) / decade).toBeCloseTo(Math.log10(4), 1);
});

test('it is well-formed, whatever the adapter is called', () => {
  const odd = plotAttention({ ...attentionReport([128]), adapter: '<b>"GPU"</b> & co' }, 'llama-3.2-1b');
  expect(odd).toContain('&lt;b&gt;"GPU"&lt;/b&gt; &amp; co');
  expect(odd).not.toMatch(/NaN|Infinity|undefined/);
});

test('a report that holds nothing to draw is refused', () => {
  expect(() => plotAttention(attentionReport(), 'storyteller')).toThrow('no measured row for the shape storyteller');
  expect(() => plotAttention({ ...AROUND, suite: 'roofline', roofline: ROOFLINE }, 'storyteller')).toThrow(
    'of roofline',
  );
});
