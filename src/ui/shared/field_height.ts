// A field that grows with its text. What would take seconds with each key is left out for very long texts.

/** Letters, and below lines, that exceed the height of any field on any screen. */
const TALL_LETTERS = 10_000;
const TALL_LINES = 100;
/** Letters of a line that nobody reads as a paragraph. */
const LONG_LINE = 50_000;

/** Makes a field as high as its text, up to the limit of its style. Measuring lays out the whole text, twice. */
export function fitHeight(area: HTMLTextAreaElement): void {
  const { style, value } = area;
  style.unicodeBidi = hasLongLine(value) ? 'normal' : '';
  if (value.length > TALL_LETTERS || value.split('\n').length > TALL_LINES) {
    style.height = '100vh';
    return;
  }
  style.height = 'auto';
  style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

/**
 * Prepares a field for what is about to come into it, at `beforeinput`. The style gives each line the direction of its
 * letters, and with a line of a megabyte that costs 2 to 4 seconds for the paste and for each key. Undo and redo do not
 * say what they bring.
 */
export function prepareField({ target, inputType, data }: InputEvent): void {
  if (/^history/.test(inputType) || hasLongLine(data ?? ''))
    (target as HTMLTextAreaElement).style.unicodeBidi = 'normal'; // until `fitHeight`
}

function hasLongLine(text: string): boolean {
  return text.length > LONG_LINE && text.split('\n').some(({ length }) => length > LONG_LINE);
}
