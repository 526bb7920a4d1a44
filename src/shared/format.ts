// Sizes, times and counts as texts for people. Pure.

const DECIMAL_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A number with so many digits behind the point, or behind the comma where a language has that. */
function fixed(value: number, digits: number, language: string): string {
  const text = value.toFixed(digits);
  return language === 'de' ? text.replace('.', ',') : text;
}

/** A size in decimal units, as usual for downloads: 3.1 MB. */
export function formatSize(bytes: number, language = 'en'): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < DECIMAL_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${fixed(value, unit === 0 || value >= 100 ? 0 : 1, language)} ${DECIMAL_UNITS[unit]}`;
}

export function formatTokenRate(perSecond: number, language = 'en'): string {
  return `${fixed(perSecond, perSecond < 100 ? 1 : 0, language)} tok/s`;
}

/** A time with three significant digits: 0.42 ms, 7.30 ms, 184 ms, 2.10 s. */
export function formatMilliseconds(ms: number, language = 'en'): string {
  if (ms >= 1000) return `${fixed(ms / 1000, ms < 10000 ? 2 : 1, language)} s`;
  return `${fixed(ms, ms >= 100 ? 0 : ms >= 10 ? 1 : 2, language)} ms`;
}

/** A duration in whole seconds: 4 s, 2 min 5 s, 1 h 3 min. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return 'less than a second';
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const parts = minutes < 60 ? { min: minutes, s: seconds % 60 } : { h: Math.floor(minutes / 60), min: minutes % 60 };
  const shown = Object.entries(parts).filter(([, n]) => n > 0);
  return shown.map(([unit, n]) => `${n} ${unit}`).join(' ');
}

/** A number of parameters: 15 million, 1.2 billion. */
export function formatParameters(n: number, language = 'en'): string {
  const first = n / 1000 ** Math.floor(Math.log10(Math.max(1, n)) / 3);
  const maximumSignificantDigits = first < 10 ? 2 : 3;
  return n.toLocaleString(language, { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits });
}
