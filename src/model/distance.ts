// How far numbers that kernels computed are from those expected.

/** The largest difference, as a share of the largest expected value; NaN where a value is. */
export function distanceOf(y: Float32Array, expected: Float32Array): number {
  let [most, largest] = [0, 0];
  for (const [i, value] of expected.entries()) {
    largest = Math.max(largest, Math.abs(value));
    most = Math.max(most, Math.abs(y[i] - value));
  }
  return most / largest;
}
