// The list of kept models in words. Pure.

import type { CachedModel } from '../../engine/engine';
import { formatSize } from '../../shared/format';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The kept part of a model. */
export function describeKept({ bytes, totalBytes, isComplete }: CachedModel): string {
  if (isComplete) return `${formatSize(bytes)}, complete`;
  if (totalBytes === null || totalBytes === 0) return `${formatSize(bytes)} here`;
  // An incomplete model is at most 99 % here.
  const percent = Math.min(99, Math.floor((100 * bytes) / totalBytes));
  return `${percent} % of ${formatSize(totalBytes)} here`;
}

/** The day of the last use, counted in calendar days. Both times are in milliseconds since 1970. */
export function describeUse(usedAt: number, now: number): string {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(usedAt) - midnight(now)) / DAY_MS);
  if (!Number.isFinite(days) || days > 0) return 'used today'; // the clock was set back
  return `used ${new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(days, 'day')}`;
}

/** The size of all kept models, and the site's storage quota and use. */
export function describeUsage(
  kept: readonly CachedModel[],
  usage: { usedBytes: number; quotaBytes: number } | null,
): string {
  const total = formatSize(kept.reduce((sum, { bytes }) => sum + bytes, 0));
  const models = kept.length === 1 ? 'One model' : `${kept.length} models`;
  if (!usage) return `${models}, ${total}.`;
  return `${models}, ${total}. This browser allows this site ${formatSize(usage.quotaBytes)}; it uses ${formatSize(usage.usedBytes)}.`;
}
