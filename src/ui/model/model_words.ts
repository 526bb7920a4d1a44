// What the list of kept models says. Pure.

import type { CachedModel } from '../../engine/engine';
import { formatSize } from '../../shared/format';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How much of a model is here. */
export function describeKept({ bytes, totalBytes, isComplete }: CachedModel): string {
  if (isComplete) return `${formatSize(bytes)}, complete`;
  if (totalBytes === null || totalBytes === 0) return `${formatSize(bytes)} here`;
  // Never 100 % of what is not complete.
  const percent = Math.min(99, Math.floor((100 * bytes) / totalBytes));
  return `${percent} % of ${formatSize(totalBytes)} here`;
}

/** When it was used last, by days of the calendar. Both in milliseconds since 1970. */
export function describeUse(usedAt: number, now: number): string {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(usedAt) - midnight(now)) / DAY_MS);
  if (!Number.isFinite(days) || days > 0) return 'used today'; // a clock that was set back
  return `used ${new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(days, 'day')}`;
}

/** The models together, and what the browser lets this site keep. */
export function describeUsage(
  kept: readonly CachedModel[],
  usage: { usedBytes: number; quotaBytes: number } | null,
): string {
  const total = formatSize(kept.reduce((sum, { bytes }) => sum + bytes, 0));
  const models = kept.length === 1 ? 'One model' : `${kept.length} models`;
  if (!usage) return `${models}, ${total}.`;
  return `${models}, ${total}. This browser allows this site ${formatSize(usage.quotaBytes)}; it uses ${formatSize(usage.usedBytes)}.`;
}
