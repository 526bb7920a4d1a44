// Percentiles as figures, with the number of their values: of too few values, p95 and p99 are simply the largest.

import { isOfTooFew, LEAST_VALUES, type TbtSummary } from '../../engine/tbt';
import { panelWords } from '../../words/panel_words';
import { type Figure, figureOf, formatMs } from '../shared/figure_format';

type PercentileName = 'p50' | 'p95' | 'p99' | 'max';
/** The values that are counted. */
type Values = 'gaps' | 'steps';

/** A caveat for a figure of too few values, or ''. */
function tooFew(name: string, count: number, values: Values): string {
  if (!isOfTooFew(name, count)) return '';
  const { tooFewGaps, tooFewSteps } = panelWords().figures;
  return (values === 'gaps' ? tooFewGaps : tooFewSteps)(count, LEAST_VALUES[name as keyof typeof LEAST_VALUES]);
}

/** One figure per definition. The keys begin with `prefix`. */
export function percentiles(
  definitions: Readonly<Record<PercentileName, string>>,
  summary: TbtSummary,
  values: Values,
  prefix: string,
): Figure[] {
  const count = summary.perToken.length;
  const names = panelWords().figures.percentiles;
  return (Object.keys(definitions) as PercentileName[]).map((name) => {
    const few = tooFew(name, count, values);
    const definition = [definitions[name], few].filter(Boolean).join(' ');
    return {
      ...figureOf(prefix + name, [names[name], definition], formatMs(summary[name])),
      ...(few && { isFaint: true }),
    };
  });
}

/** A median gap below this, in milliseconds, reads 0.00: tokens came faster than the clock of the browser counts. */
const TOGETHER_MS = 0.005;

/**
 * The number of values, such as 'n = 30 gaps. p99 needs 100.', or '' without values. Of gaps whose median is 0 also the
 * mean, since that of a fast answer says how fast the answer was.
 */
export function countNote({ mean, p50, perToken: { length } }: TbtSummary, values: Values): string {
  if (length === 0) return '';
  const text = panelWords().figures;
  const count = (values === 'gaps' ? text.gapCount : text.stepCount)(length);
  const few = Object.entries(LEAST_VALUES).filter(([name]) => isOfTooFew(name, length));
  const isTogether = values === 'gaps' && length > 1 && (p50 ?? 0) < TOGETHER_MS;
  const together = isTogether ? [text.together(formatMs(mean))] : [];
  return [count, ...few.map((each) => text.needs(...each)), ...together].join(' ');
}
