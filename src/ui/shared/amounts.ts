// Sizes, times and counts in the reader's language.

import { formatMilliseconds, formatPercent, formatSize, formatTokenRate } from '../../shared/format';
import { language } from '../../words/language';
import { words } from '../../words/words';

/** A duration in whole seconds: 4 s, 2 min 5 s, 1 h 3 min. */
export function describeDuration(ms: number): string {
  const { duration } = words().time;
  if (ms < 1000) return duration(0, 0, 0);
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? duration(0, minutes, seconds % 60) : duration(Math.floor(minutes / 60), minutes % 60, 0);
}

export function describeTimeLeft(seconds: number): string {
  const text = words().time;
  if (seconds < 1.5) return text.secondLeft;
  if (seconds < 90) return text.secondsLeft(Math.round(seconds));
  if (seconds < 5400) return text.minutesLeft(Math.round(seconds / 60));
  return text.hoursLeft(number(seconds / 3600, 1));
}

/** A number with so many digits behind the point. */
export function number(value: number, digits: number): string {
  return value.toLocaleString(language(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const percentText = (part: number): string => formatPercent(part, language());
export const sizeText = (bytes: number): string => formatSize(bytes, language());
export const rateText = (perSecond: number): string => formatTokenRate(perSecond, language());
export const timeText = (ms: number): string => formatMilliseconds(ms, language());
