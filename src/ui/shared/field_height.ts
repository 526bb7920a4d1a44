// A field that grows with its text. What would take seconds with each key is left out for very long texts.

/** Letters, and below lines, that exceed the height of any field on any screen. */
const TALL_LETTERS = 10_000;
const TALL_LINES = 100;
/** Letters of a line that nobody reads as a paragraph. */
const LONG_LINE = 50_000;

/** Makes a field as high as its text, up to the limit of its style. Measuring lays out the whole text, twice. */
export function fitHeight(area: HTMLTextAreaElement): void {
  // The style gives each line the direction of its letters. With a line of a megabyte that costs 4 seconds a key.
  area.style.unicodeBidi = hasLongLine(area.value) ? 'normal' : '';
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

function hasLongLine(text: string): boolean {
  for (let start = 0; text.length - start > LONG_LINE; ) {
    const end = text.lastIndexOf('\n', start + LONG_LINE);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}
