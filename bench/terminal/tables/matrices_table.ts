// Products on subgroup matrices beside matmul_q8 as a table. Pure.

import type { BenchReport, MatricesRow } from '../../report';
import { figure, grid } from './grid';

const HEAD = [
  'product',
  'rows x cols',
  'tokens',
  'tile rows',
  'error',
  'q8 error',
  'us',
  'TOP/s',
  'q8 us',
  'TOP/s',
  'q8 / matrices',
];

/** Of the root of the sum of squares: bytes with a scale for every 32 are off by more. */
const MOST_ERROR = 0.01;

export function matricesTable({ fault, rows }: Extract<BenchReport, { suite: 'matrices' }>): string {
  if (fault !== null) return `No subgroup matrices: ${fault}.`;
  const wrong = rows.filter(({ matrices }) => !(matrices.error < MOST_ERROR));
  const verdict = wrong.length === 0 ? 'All agree with the textbook' : `${wrong.length} DIFFER FROM THE TEXTBOOK`;
  const title = `q4 weights; errors are the largest difference, as a share of the root of the sum of squares. ${verdict}.`;
  return [title, grid(HEAD, rows.map(cellsOf))].join('\n');
}

function cellsOf({ name, rows, cols, nTokens, tileRows, plain, matrices }: MatricesRow): string[] {
  const times = ({ ms }: MatricesRow['plain']) =>
    ms === null ? ['', ''] : [figure(1000 * ms), figure((2 * rows * cols * nTokens) / ms / 1e9)];
  const faster = plain.ms === null || matrices.ms === null ? '' : (plain.ms / matrices.ms).toFixed(2);
  const errors = [matrices.error, plain.error].map((error) => error.toExponential(1));
  return [
    name,
    `${rows} x ${cols}`,
    String(nTokens),
    String(tileRows),
    ...errors,
    ...times(matrices),
    ...times(plain),
    faster,
  ];
}
