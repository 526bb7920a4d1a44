// Loading progress in words. Pure.

import type { LoadProgress } from '../../engine/engine';
import { formatSize, formatTimeLeft } from '../../shared/format';

const FROM_STORAGE = "from this browser's storage";

/** What the line under the bar says of the bytes. */
export function describeProgress(p: LoadProgress): string {
  const { loadedBytes, totalBytes, cachedBytes = 0 } = p;
  const parts: string[] = [];
  if (loadedBytes > 0 || totalBytes > 0) parts.push(formatSize(loadedBytes));
  if (totalBytes > 0) parts[0] += ` of ${formatSize(totalBytes)}`;
  if (cachedBytes > 0) {
    parts.push(cachedBytes >= loadedBytes ? FROM_STORAGE : `${formatSize(cachedBytes)} ${FROM_STORAGE}`);
  }
  if (loadedBytes < totalBytes) {
    if (p.bytesPerSecond) parts.push(`${formatSize(p.bytesPerSecond)}/s`);
    if (p.secondsLeft !== null) parts.push(formatTimeLeft(p.secondsLeft));
  }
  return parts.join(' · ');
}
