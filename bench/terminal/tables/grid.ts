// Figures and aligned columns for terminals. Pure.

/** Three figures, as a measurement of this kind deserves. */
export function figure(value: number) {
  if (value === 0) return '0';
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, 3 - whole));
}

export const parameterText = (parameters: Record<string, number>) =>
  Object.entries(parameters)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const GAP = '  ';

/** Columns as wide as they must be; numbers to the right. The last column may be as long as it likes. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]) {
  const last = head.length - 1;
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const numeric = head.map((_, i) => rows.some((row) => /^[+-]?[\d.]/.test(row[i] ?? '')));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : i === last ? cell : cell.padEnd(widths[i] ?? 0)))
      .join(GAP)
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}
