// The parts of a run by the place that computed them, each with its color. Pure.

import { placeOf, type RunData } from '../../run/run_data';
import type { Ink } from './picture';
import { type Part, partInside } from './points';

/** Gaps of one place, by their index. */
interface PlacePart extends Part {
  ink: Extract<Ink, 'accent' | 'remote'>;
}

/** Most parts: an answer moves once, but a document may say anything. */
const MOST = 16;

type PlacedRun = Pick<RunData, 'places' | 'info' | 'tokenNumbers'>;

/** The gaps of a run in order: at least one part, and none of two neighbors of the same place. */
export function placeParts(run: PlacedRun): PlacePart[] {
  const parts: PlacePart[] = [];
  const starts = [0, ...run.places.map(({ afterToken }) => afterToken)];
  for (const [i, start] of starts.entries()) {
    const end = starts[i + 1] ?? Number.POSITIVE_INFINITY;
    if (end <= start) continue;
    const ink = placeOf(run, start) === 'remote' ? 'remote' : 'accent';
    const last = parts.at(-1);
    const { to, from } = partInside(run.tokenNumbers, start + 1, end);
    if (last && (last.ink === ink || parts.length === MOST)) last.to = to;
    else parts.push({ ink, from, to });
  }
  return parts;
}

/** The overlap of two parts. */
export function shared(a: Part, b: Part): Part {
  const from = Math.max(a.from, b.from);
  return { from, to: Math.max(from, Math.min(a.to, b.to)) };
}
