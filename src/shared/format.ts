// Sizes, times and counts as texts for people. Pure.

const DECIMAL_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A number with so many digits behind the point, or behind the comma where a language has that. */
export function fixed(value: number, digits: number, language: string): string {
  const text = value.toFixed(digits);
  return language === 'de' ? text.replace('.', ',') : text;
}

/** A part of 1 as in the language: 4% in English, 4 % in German. */
export function formatPercent(part: number, language = 'en', minimumFractionDigits = 0): string {
  return part.toLocaleString(language, { style: 'percent', minimumFractionDigits });
}

/** A size in decimal units, as usual for downloads: 3.1 MB. */
export function formatSize(bytes: number, language = 'en'): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < DECIMAL_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${fixed(value, unit === 0 || value >= 99.95 ? 0 : 1, language)} ${DECIMAL_UNITS[unit]}`;
}

export function formatTokenRate(perSecond: number, language = 'en'): string {
  return `${fixed(perSecond, perSecond < 99.95 ? 1 : 0, language)} tok/s`;
}

/** A time with three significant digits: 0.42 ms, 7.30 ms, 184 ms, 2.10 s. */
export function formatMilliseconds(ms: number, language = 'en'): string {
  if (ms >= 999.5) return `${fixed(ms / 1000, ms < 9995 ? 2 : 1, language)} s`;
  return `${fixed(ms, ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : 2, language)} ms`;
}

/** A number of parameters: 15 million, 1.2 billion. */
export function formatParameters(n: number, language = 'en'): string {
  const first = n / 1000 ** Math.floor(Math.log10(Math.max(1, n)) / 3);
  const maximumSignificantDigits = first < 10 ? 2 : 3;
  return n.toLocaleString(language, { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits });
}
