// JSON in ASCII: no step between two programs gets a chance to mend a lone surrogate. Runs in Node and in the page.

export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
