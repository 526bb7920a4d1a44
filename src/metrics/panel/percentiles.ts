// Percentiles as figures, with the number of their values: of too few values, p95 and p99 are simply the largest. Pure.

import { isOfTooFew, LEAST_VALUES, type TbtSummary } from '../../engine/tbt';
import { type Figure, formatMs } from '../shared/figure_format';

type PercentileName = 'p50' | 'p95' | 'p99' | 'max';

/** A caveat for a figure of too few values, or ''. @param values their name, such as 'gaps' */
function tooFew(name: string, count: number, values: string): string {
  if (!isOfTooFew(name, count)) return '';
  const least = LEAST_VALUES[name as keyof typeof LEAST_VALUES];
  return `Of only ${count} ${values} it is simply the longest; it needs ${least}.`;
}

/** One figure per definition. The keys begin with `prefix`. */
export function percentiles(
  definitions: Readonly<Record<PercentileName, string>>,
  summary: TbtSummary,
  values: string,
  prefix: string,
): Figure[] {
  const count = summary.perToken.length;
  return (Object.keys(definitions) as PercentileName[]).map((name) => {
    const few = tooFew(name, count, values);
    const definition = [definitions[name], few].filter(Boolean).join(' ');
    const figure = { key: prefix + name, label: name, value: formatMs(summary[name]), definition };
    return few ? { ...figure, isFaint: true } : figure;
  });
}

/** The number of values, such as 'n = 30 gaps. p99 needs 100.', or '' without values. */
export function countNote({ perToken: { length } }: TbtSummary, values: string): string {
  if (length === 0) return '';
  const count = `n = ${length} ${length === 1 ? values.replace(/s$/, '') : values}.`;
  const few = (['p95', 'p99'] as const).filter((name) => isOfTooFew(name, length));
  if (few.length === 0) return count;
  const needs = few.map((name) => `${name} needs ${LEAST_VALUES[name]}`).join(', ');
  return `${count} ${needs}.`;
}
