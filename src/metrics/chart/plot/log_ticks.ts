// Ticks of logarithmic axes. Pure.

/** Most ticks of an axis. With more than that, only powers of ten remain. */
const MOST = 6;
/** With fewer, the range is so narrow that even steps read better. */
const LEAST = 2;

/**
 * Ticks within [min, max], ascending: 1, 2 and 5 of each power of ten, or the powers of ten alone where those are many,
 * or even steps where those are fewer than two.
 * @param min above 0
 */
export function logTicks(min: number, max: number): number[] {
  const fine = ticksAt([1, 2, 5], min, max);
  if (fine.length > MOST) return ticksAt([1], min, max);
  return fine.length >= LEAST ? fine : evenTicks(min, max);
}

function ticksAt(digits: readonly number[], min: number, max: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
    for (const digit of digits) {
      const tick = Number(`${digit}e${power}`); // exact, unlike a product
      if (tick >= min && tick <= max) ticks.push(tick);
    }
  }
  return ticks;
}

/** Multiples of the least step of 1, 2 or 5 that leaves at most four ticks or so. */
function evenTicks(min: number, max: number): number[] {
  const power = Math.floor(Math.log10((max - min) / 4));
  const step = [1, 2, 5, 10].map((digit) => Number(`${digit}e${power}`)).find((each) => (max - min) / each <= 4);
  const ticks: number[] = [];
  if (!step || !Number.isFinite(step)) return ticks;
  for (let i = Math.floor(min / step); ; i++) {
    const tick = Number((i * step).toPrecision(12)); // 7 * 0.1 is slightly more than 0.7
    if (tick > max) return ticks;
    if (tick >= min) ticks.push(tick);
  }
}
