// A figure of the panel, and numbers as the text of its value, in the language of the interface. An unknown value is a
// dash.

import { fixed, formatMilliseconds, formatPercent, formatSize, formatTokenRate } from '../../shared/format';
import { language } from '../../words/language';

export interface Figure {
  /** Stable name for tests and markup. */
  key: string;
  label: string;
  value: string;
  /** The meaning of the figure and the way of measuring it. */
  definition: string;
  /** Too few measurements to rely on: shown faint. `definition` and a sentence beside the figures say so in words. */
  isFaint?: boolean;
}

export interface FigureGroup {
  /** Stable name. */
  key: string;
  title: string;
  figures: Figure[];
  /** A sentence under the figures. */
  note?: string;
}

/** A figure with its label and definition. */
export function figureOf(key: string, [label, definition]: readonly string[], value: string): Figure {
  return { key, label, value, definition };
}

export const NONE = '–';

export function formatMs(ms: number | null): string {
  return ms === null ? NONE : formatMilliseconds(ms, language());
}

/** Text of a size in decimal units, as everywhere on the page: 4 B, 15.2 MB. */
export function formatBytes(bytes: number | null): string {
  return bytes === null ? NONE : formatSize(Math.round(bytes), language());
}

export function formatRate(perSecond: number | null): string {
  if (perSecond === null || !Number.isFinite(perSecond)) return NONE;
  return formatTokenRate(perSecond, language());
}

export function formatCount(n: number | null): string {
  if (n === null) return NONE;
  return Number.isInteger(n) ? n.toLocaleString(language()) : fixed(n, 1, language());
}

/** Text of a speed in GB/s (1e9 bytes a second). */
export function formatSpeed(gbps: number | null): string {
  return gbps === null ? NONE : `${fixed(gbps, gbps < 10 ? 2 : gbps < 100 ? 1 : 0, language())} GB/s`;
}

/** Text of how many times a base a value is. */
export function formatRatio(ratio: number): string {
  return `×${fixed(ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0, language())}`;
}

/** Text of a fraction of 1. */
export function formatShare(share: number | null): string {
  return share === null ? NONE : formatPercent(share, language(), share < 0.1 ? 1 : 0);
}
