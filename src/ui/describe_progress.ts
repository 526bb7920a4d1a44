// Loading progress in words. Pure.

import type { LoadProgress } from '../engine/engine';
import { formatSize, formatTimeLeft } from './format';

/** What the line under the bar says of the bytes. */
export function describeProgress(p: LoadProgress): string {
  if (p.totalBytes <= 0) return p.loadedBytes > 0 ? formatSize(p.loadedBytes) : '';
  const parts = [`${formatSize(p.loadedBytes)} of ${formatSize(p.totalBytes)}`];
  if (p.loadedBytes < p.totalBytes) {
    if (p.bytesPerSecond) parts.push(`${formatSize(p.bytesPerSecond)}/s`);
    if (p.secondsLeft !== null) parts.push(formatTimeLeft(p.secondsLeft));
  }
  return parts.join(' · ');
}
