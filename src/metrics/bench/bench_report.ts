// The result of a named measurement: the object that is saved, with everything that it was measured on, and the lines
// that are copied. Pure.

import type { EngineInfo } from '../../engine/engine';
import { FIGURES, figureRows, type Sample } from '../repeat/measured_figures';
import { type Spread, spreadOf } from '../repeat/spread';
import { runLabel } from '../run/run_data';
import type { RunOrigin } from '../run/run_origin';
import type { NamedMeasurement } from './named_measurements';

export interface BenchReport extends NamedMeasurement {
  format: 'vivace-bench';
  version: 1;
  /** The date in ISO 8601. */
  date: string;
  vivace: string;
  browser: string;
  system: string;
  cores: number | null;
  /** The page that measured, with model and options: whoever opens it measures the same. */
  link: string;
  info: EngineInfo;
  figures: Partial<Record<keyof Sample, Spread>>;
  samples: readonly Sample[];
}

interface Measured {
  measurement: NamedMeasurement;
  info: EngineInfo;
  origin: RunOrigin;
  link: string;
  samples: readonly Sample[];
}

export function benchReport({ measurement, info, origin, link, samples }: Measured): BenchReport {
  const { startedAt, vivace, browser, system, cores } = origin;
  const figures = FIGURES.flatMap(({ key }) => {
    const spread = spreadOf(samples.map((sample) => sample[key]));
    return spread ? [[key, spread] as const] : [];
  });
  return {
    format: 'vivace-bench',
    version: 1,
    ...measurement,
    ...{ date: new Date(startedAt).toISOString(), vivace, browser, system, cores, link, info },
    figures: Object.fromEntries(figures),
    samples,
  };
}

/** The machine of the measurement, line by line. */
export function machineLines({ info, browser, system, vivace }: BenchReport): string[] {
  return [
    `${info.model.name} (${info.model.format})`,
    `${info.adapter ? `${info.adapter}, ` : ''}${info.backend}; ${runLabel(info, null)}`,
    `${browserName(browser)}${system ? `, ${system}` : ''}; Vivace ${vivace}`,
  ];
}

/** The browser's name and main version from what it calls itself, which names others, too. */
export function browserName(userAgent: string): string {
  for (const [pattern, name] of [
    [/\bEdg\/(\d+)/, 'Edge'],
    [/\bOPR\/(\d+)/, 'Opera'],
    [/\bFirefox\/(\d+)/, 'Firefox'],
    [/\b(?:Headless)?Chrome\/(\d+)/, 'Chrome'],
    [/\bVersion\/(\d+)[\d.]* .*Safari\//, 'Safari'],
  ] as const) {
    const version = pattern.exec(userAgent.slice(0, 500))?.[1];
    if (version) return `${name} ${version}`;
  }
  return 'another browser';
}

/** The result as lines of text. @param names of the figures */
export function benchText(report: BenchReport, names: Record<keyof Sample, string>): string {
  const rows = figureRows([report.samples]).map(({ key, cells: [cell] }) => {
    const range = cell?.range ? ` (${cell.range})` : '';
    return `${names[key]}: ${cell?.median ?? ''}${range}`;
  });
  const { name, promptTokens, tokens, times } = report;
  const head = `Vivace ${name}: ${promptTokens} + ${tokens} tokens, ${times} runs, median (range)`;
  return [head, ...rows, ...machineLines(report), report.link].join('\n');
}
