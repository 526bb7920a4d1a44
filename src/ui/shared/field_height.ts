// A field that grows with its text. What would take seconds with each key is left out for very long texts.

/** Letters, and below lines, that exceed the height of any field on any screen. */
const TALL_LETTERS = 10_000;
const TALL_LINES = 100;
/** Letters of a line that nobody reads as a paragraph. */
const LONG_LINE = 50_000;

/** Makes a field as high as its text, up to the limit of its style. Measuring lays out the whole text, twice. */
export function fitHeight(area: HTMLTextAreaElement): void {
  const { style, value } = area;
  prepareFor(area, value);
  if (value.length > TALL_LETTERS || value.split('\n').length > TALL_LINES) {
    style.height = '100vh';
    return;
  }
  style.height = 'auto';
  style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

/**
 * Prepares a field for a text. The style gives each line the direction of its letters, and with a line of a megabyte
 * that costs 2 to 4 seconds for the paste and for each key.
 */
export function prepareFor(area: HTMLTextAreaElement, text: string): void {
  const isLong = text.length > LONG_LINE && text.split('\n').some(({ length }) => length > LONG_LINE);
  area.style.unicodeBidi = isLong ? 'normal' : '';
}
