// How far the numbers of one way are from those of another.

/** |a - b| / |b|. Infinity where either is no number. */
export function relativeDistance(a: Float32Array, b: Float32Array): number {
  let difference = 0;
  let square = 0;
  for (let i = 0; i < b.length; i++) {
    difference += (a[i] - b[i]) ** 2;
    square += b[i] ** 2;
  }
  const distance = Math.sqrt(difference / square);
  return Number.isFinite(distance) ? distance : Number.POSITIVE_INFINITY;
}
