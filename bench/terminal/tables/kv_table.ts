// Chats that take turns, as a table. Pure.

import type { BenchReport, StoredFigures } from '../../report';
import { figure, grid } from './grid';

const HEAD = [
  'shape',
  'tokens',
  'parked MB',
  'park ms',
  'restore ms',
  'TTFT new',
  'back',
  'back / new',
  'never left',
  'reused',
  'stored MB',
  'write ms',
  'from storage',
  'stored / new',
];

export function kvTable({ quant, kv, rows }: Extract<BenchReport, { suite: 'kv' }>): string {
  const cells = rows.flatMap(({ shape, tokens, measured }) => {
    if (!measured) return [];
    const { bytes, parkMs, restoreMs, coldMs, backMs, liveMs, cachedTokens, stored } = measured;
    const times = [parkMs, restoreMs, coldMs, backMs].map(figure);
    const share = `${figure((100 * backMs) / coldMs)} %`;
    const row = [shape, `${tokens}`, figure(bytes / 1e6), ...times, share, figure(liveMs), `${cachedTokens}`];
    return [[...row, ...storedCells(stored)]];
  });
  const together = rows.flatMap(({ shape, tokens, measured }) => {
    const each = measured?.atOnce.map(
      ({ requests, tokensPerSecond, dispatches, gpuMs }) =>
        `${requests}: ${figure(tokensPerSecond)} (${figure(dispatches)}, ${gpuMs === null ? '-' : `${figure(gpuMs)} ms`})`,
    );
    const title = `${shape}, ${tokens} tokens, requests at once, tok/s of all (dispatches of a step, its time on the GPU)`;
    return each?.length ? [`${title}: ${each.join(', ')}`] : [];
  });
  const refused = rows.flatMap(({ shape, tokens, refused: why }) =>
    why ? [`${shape}, ${tokens} tokens: ${why.message}`] : [],
  );
  const title = `${quant} weights, KV ${kv}; two chats in turns, ms to the first token, and copies of one of them`;
  return [title, grid(HEAD, cells), ...together, ...refused].join('\n');
}

function storedCells(stored: StoredFigures | null): string[] {
  if (!stored || stored.tokens === 0) return ['-', '-', '-', '-'];
  const { bytes, writeMs, coldMs, ttftMs } = stored;
  return [figure(bytes / 1e6), figure(writeMs), figure(ttftMs), `${figure((100 * ttftMs) / coldMs)} %`];
}
