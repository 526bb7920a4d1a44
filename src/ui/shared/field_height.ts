// The height of a field that grows with its text. Very long texts are not measured.

/** Letters, and below lines, that exceed the height of any field on any screen. */
const TALL_LETTERS = 10_000;
const TALL_LINES = 100;

/** Makes a field as high as its text, up to the limit of its style. Measuring lays out the whole text, twice. */
export function fitHeight(area: HTMLTextAreaElement): void {
  if (isTall(area.value)) {
    area.style.height = '100vh';
    return;
  }
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

function isTall(text: string): boolean {
  if (text.length > TALL_LETTERS) return true;
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines > TALL_LINES;
}
