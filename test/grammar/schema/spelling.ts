// How a document may be spelled.

/** JSON in one line, with one space after a colon and a comma. */
export function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${inLine(inner)}`)
    .join(', ')}}`;
}

/** The same document with the keys of its objects in every order. */
export function orders(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.reduce<unknown[][]>(
      (starts, item) => orders(item).flatMap((order) => starts.map((start) => [...start, order])),
      [[]],
    );
  }
  if (typeof value !== 'object' || value === null) return [value];
  const fromKeys = (rest: [string, unknown][]): [string, unknown][][] =>
    rest.length === 0
      ? [[]]
      : rest.flatMap(([key, inner], i) =>
          fromKeys(rest.toSpliced(i, 1)).flatMap((others) =>
            orders(inner).map((order): [string, unknown][] => [[key, order], ...others]),
          ),
        );
  return fromKeys(Object.entries(value)).map((entries) => Object.fromEntries(entries));
}
