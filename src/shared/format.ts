// Sizes, times and counts as texts for people. Pure.

const DECIMAL_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size in decimal units, as usual for downloads: 3.1 MB. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < DECIMAL_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${DECIMAL_UNITS[unit]}`;
}

export function formatTimeLeft(seconds: number): string {
  if (seconds < 1.5) return 'a second left';
  if (seconds < 90) return `${Math.round(seconds)} s left`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min left`;
  return `${(seconds / 3600).toFixed(1)} h left`;
}

export function formatTokenRate(perSecond: number): string {
  return `${perSecond.toFixed(perSecond < 100 ? 1 : 0)} tok/s`;
}

/** A time with three significant digits: 0.42 ms, 7.30 ms, 184 ms, 2.10 s. */
export function formatMilliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2)} ms`;
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
export function formatParameters(n: number): string {
  for (const [scale, unit] of [
    [1e9, 'billion'],
    [1e6, 'million'],
    [1e3, 'thousand'],
  ] as const) {
    if (n >= scale) return `${+(n / scale).toPrecision(n / scale < 10 ? 2 : 3)} ${unit}`;
  }
  return String(n);
}
