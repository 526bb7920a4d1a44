// The part of the x axis that a chart shows: enlarged, moved, and kept within the whole. Pure. A range of null is the
// whole. On logarithmic scales all steps are factors.

import type { Range } from '../views/picture';

/** Fewest tokens in a shown part, and the least part of other scales. */
const LEAST_TOKENS = 4;
const LEAST_SHARE = 1 / 200;

/** The whole axis, on which a range is a part. */
export interface Axis {
  whole: Range;
  isLog?: boolean;
  countsTokens: boolean;
}

/** A scale whose steps are even: of a logarithmic axis the logarithm. */
const evenly = (value: number, isLog?: boolean) => (isLog ? Math.log(value) : value);
const back = (value: number, isLog?: boolean) => (isLog ? Math.exp(value) : value);

/** The range from one place to another, in either order, no narrower than makes sense. Null for (nearly) the whole. */
export function rangeBetween(one: number, other: number, axis: Axis): Range | null {
  const { isLog } = axis;
  return kept(evenly(Math.min(one, other), isLog), evenly(Math.max(one, other), isLog), axis);
}

/** The range narrowed by a factor below 1, or widened by one above, around a place that stays where it is. */
export function zoomed(range: Range | null, factor: number, around: number, axis: Axis): Range | null {
  const { min, max, least, most } = evenEnds(range, axis);
  const place = Math.min(max, Math.max(min, evenly(around, axis.isLog)));
  const narrowest = leastSpan(least, most, axis);
  const span = Math.min(most - least, Math.max(narrowest, (max - min) * factor));
  const share = max > min ? (place - min) / (max - min) : 0.5;
  return kept(place - share * span, place + (1 - share) * span, axis);
}

/** The range moved by a part of its width: 0.5 moves it forward by half. */
export function panned(range: Range | null, share: number, axis: Axis): Range | null {
  const { min, max } = evenEnds(range, axis);
  const by = (max - min) * share;
  return kept(min + by, max + by, axis);
}

/** The range moved so that it contains a place: unchanged where it does, else centered on it. */
export function moveInto(range: Range | null, place: number, axis: Axis): Range | null {
  if (!range || (place >= range.min && place <= range.max)) return range;
  const { min, max } = evenEnds(range, axis);
  const center = evenly(place, axis.isLog);
  return kept(center - (max - min) / 2, center + (max - min) / 2, axis);
}

/** The middle of a range. */
export function middleOf(range: Range | null, axis: Axis): number {
  const { min, max } = evenEnds(range, axis);
  return back((min + max) / 2, axis.isLog);
}

function evenEnds(range: Range | null, { whole, isLog }: Axis) {
  const shown = range ?? whole;
  return {
    min: evenly(shown.min, isLog),
    max: evenly(shown.max, isLog),
    least: evenly(whole.min, isLog),
    most: evenly(whole.max, isLog),
  };
}

function leastSpan(least: number, most: number, { countsTokens }: Axis): number {
  return Math.min(most - least, countsTokens ? LEAST_TOKENS : (most - least) * LEAST_SHARE);
}

/** A range on an even scale: wide enough, pushed into the whole, as a range of the axis. */
function kept(from: number, to: number, axis: Axis): Range | null {
  const { least, most } = evenEnds(null, axis);
  const span = Math.max(to - from, leastSpan(least, most, axis));
  if (!(span < (most - least) * 0.999)) return null;
  const center = (from + to) / 2;
  const min = Math.min(Math.max(center - span / 2, least), most - span);
  return { min: back(min, axis.isLog), max: back(min + span, axis.isLog) };
}

/** The range that a key leads to from the shown one, or undefined for other keys. @param around a place to zoom at */
export function rangeAfterKey(
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  range: Range | null,
  around: number | null,
  axis: Axis,
): Range | null | undefined {
  const place = around ?? middleOf(range, axis);
  if (key === '+' || key === '=') return zoomed(range, 1 / 2, place, axis);
  if (key === '-' || key === '_') return zoomed(range, 2, place, axis);
  if (key === '0') return null;
  if (shiftKey && key === 'ArrowRight') return panned(range, 1 / 4, axis);
  if (shiftKey && key === 'ArrowLeft') return panned(range, -1 / 4, axis);
  return undefined;
}
