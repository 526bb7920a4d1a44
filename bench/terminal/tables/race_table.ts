// The races of arithmetics as a table. Pure.

import type { BenchReport, RaceRow } from '../../report';
import { figure, grid } from './grid';

type Race = NonNullable<RaceRow['race']>;

const HEAD = [
  'shape',
  'rows x cols',
  'pass',
  'q8 us',
  'spread',
  'f32 us',
  'spread',
  'f32 / q8',
  'choice',
  'with fused',
  'clock',
  'race ms',
];

export function raceTable({ version, shaders, quant, rows }: Extract<BenchReport, { suite: 'race' }>): string {
  const cells = rows.flatMap((row) => {
    const { race } = row;
    return race ? PASSES.map((pass) => cellsOf(row, race, pass)) : [];
  });
  const title = `Vivace ${version}, shaders ${shaders}; ${quant} weights, a run of one token (decode) and of 64 (prefill)`;
  const refused = rows.flatMap((row) => (row.refused === null ? [] : [`${row.shape}: ${row.refused}`]));
  return [title, grid(HEAD, cells), ...refused].join('\n');
}

const PASSES = ['decode', 'prefill'] as const;

function cellsOf({ shape, plain, fused, ms }: RaceRow, race: Race, pass: (typeof PASSES)[number]): string[] {
  const { q8, f32 } = race[pass];
  const time = (of: typeof q8) => [figure(1000 * of.ms), `${(100 * of.spread).toFixed(1)} %`];
  const choices = [plain?.[pass] ?? '', fused?.[pass] ?? ''];
  const ratio = (f32.ms / q8.ms).toFixed(2);
  return [
    shape,
    `${race.rows} x ${race.cols}`,
    pass,
    ...time(q8),
    ...time(f32),
    ratio,
    ...choices,
    race.clock,
    figure(ms),
  ];
}
