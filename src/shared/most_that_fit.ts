// The search for the most of something.

/** The most that fit, of those up to `most`; more never fit where fewer do not. */
export function mostThatFit(most: number, fits: (count: number) => boolean): number {
  let [least, end] = [0, Math.max(0, Math.floor(most))];
  while (least < end) {
    const middle = Math.ceil((least + end) / 2);
    if (fits(middle)) least = middle;
    else end = middle - 1;
  }
  return least;
}
