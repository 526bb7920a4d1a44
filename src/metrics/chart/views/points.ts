// Points of a chart: growing buffers reused by every drawing, thinning to the pixels of the plot, and a running median.
// Pure.

/** Coordinates of `length` points. The arrays may be longer. */
export class Points {
  xs = new Float64Array(256);
  ys = new Float64Array(256);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  push(x: number, y: number): void {
    if (this.length === this.xs.length) {
      this.xs = grown(this.xs);
      this.ys = grown(this.ys);
    }
    this.xs[this.length] = x;
    this.ys[this.length++] = y;
  }

  /** The points, not copied and without later ones. */
  view(): [xs: Float64Array, ys: Float64Array] {
    return [this.xs.subarray(0, this.length), this.ys.subarray(0, this.length)];
  }
}

function grown(array: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** A part of some points: the indices from `from` to before `to`. */
export interface Part {
  from: number;
  to: number;
}

/** The part of ascending values within [min, max], and one neighbor on each side, to which lines are drawn. */
export function partWithin(ascending: ArrayLike<number>, min: number, max: number): Part {
  return {
    from: Math.max(0, countBelow(ascending, min) - 1),
    to: Math.min(ascending.length, countTo(ascending, max) + 1),
  };
}

/** The part of ascending values within [min, max] alone. */
export function partInside(ascending: ArrayLike<number>, min: number, max: number): Part {
  return { from: countBelow(ascending, min), to: countTo(ascending, max) };
}

/** The number of ascending values below `x`. */
function countBelow(ascending: ArrayLike<number>, x: number): number {
  return countWhere(ascending, (value) => value < x);
}

/** The number of ascending values up to `x`. */
function countTo(ascending: ArrayLike<number>, x: number): number {
  return countWhere(ascending, (value) => value <= x);
}

/** The number of values at the beginning for which `isBefore` holds; it holds for none after them. */
function countWhere(ascending: ArrayLike<number>, isBefore: (value: number) => boolean): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(ascending[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Writes a part of the points to `out`: all of them, or with more than two per column the lowest and the highest of
 * each column, in their original order. No peak is lost.
 * @param columns width in pixels, at least 1
 */
export function decimate(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  columns: number,
  out: Points,
  { from, to }: Part = { from: 0, to: ys.length },
): void {
  out.clear();
  const perColumn = Math.ceil((to - from) / columns);
  if (perColumn <= 2) {
    for (let i = from; i < to; i++) out.push(xs[i], ys[i]);
    return;
  }
  for (let start = from; start < to; start += perColumn) {
    let low = start;
    let high = start;
    for (let i = start + 1; i < Math.min(to, start + perColumn); i++) {
      if (ys[i] < ys[low]) low = i;
      else if (ys[i] > ys[high]) high = i;
    }
    const [first, second] = low < high ? [low, high] : [high, low];
    out.push(xs[first], ys[first]);
    if (second !== first) out.push(xs[second], ys[second]);
  }
}

/**
 * Writes to `out` the median of each point with `reach` neighbors on each side, fewer at the ends. Of an even number,
 * the median is the lower of the two middle values, so that it was measured. Uses at most `most` points, evenly spaced.
 */
export function runningMedian(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  reach: number,
  most: number,
  out: Points,
): void {
  out.clear();
  const step = Math.max(1, Math.ceil(ys.length / most));
  const n = Math.ceil(ys.length / step);
  const sorted = new Float64Array(2 * reach + 2);
  let size = 0;
  for (let i = 0, next = 0; i < n; i++) {
    for (; next < n && next <= i + reach; next++) size = insert(sorted, size, ys[next * step]);
    if (i > reach) size = remove(sorted, size, ys[(i - reach - 1) * step]);
    out.push(xs[i * step], sorted[(size - 1) >> 1]);
  }
}

function insert(sorted: Float64Array, size: number, value: number): number {
  let i = size;
  for (; i > 0 && sorted[i - 1] > value; i--) sorted[i] = sorted[i - 1];
  sorted[i] = value;
  return size + 1;
}

function remove(sorted: Float64Array, size: number, value: number): number {
  const at = sorted.indexOf(value);
  sorted.copyWithin(at, at + 1, size);
  return size - 1;
}

/** Index of the value nearest to `x` in ascending values, or -1 without values. */
export function nearest(ascending: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = ascending.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < x) low = middle;
    else high = middle;
  }
  return x - ascending[low] <= ascending[high] - x ? low : high;
}
