// The list of kept models in words. Pure.

import type { CachedModel } from '../../engine/engine';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import { percentText, sizeText } from '../shared/amounts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The kept part of a model. */
export function describeKept({ bytes, totalBytes, isComplete }: CachedModel): string {
  const text = pageWords().kept;
  if (isComplete) return sizeText(bytes);
  if (totalBytes === null || totalBytes === 0) return text.here(sizeText(bytes));
  // An incomplete model is at most 99% here.
  const percent = Math.min(99, Math.floor((100 * bytes) / totalBytes));
  return text.part(percentText(percent / 100), sizeText(totalBytes));
}

/** The day of the last use, counted in calendar days. Both times are in milliseconds since 1970. */
export function describeUse(usedAt: number, now: number): string {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(usedAt) - midnight(now)) / DAY_MS);
  if (!Number.isFinite(days) || days > 0) return pageWords().kept.usedToday; // the clock was set back
  return pageWords().kept.used(new Intl.RelativeTimeFormat(language(), { numeric: 'auto' }).format(days, 'day'));
}

/** The size of all kept models, and the site's storage quota and use. */
export function describeUsage(
  kept: readonly CachedModel[],
  usage: { usedBytes: number; quotaBytes: number } | null,
): string {
  const text = pageWords().kept;
  const total = sizeText(kept.reduce((sum, { bytes }) => sum + bytes, 0));
  const models = text.models(kept.length, total);
  return usage ? text.quota(models, sizeText(usage.quotaBytes), sizeText(usage.usedBytes)) : models;
}
