// Who wrote an answer: one model, or several where a continuation had another one. Pure.

import type { Turn } from './conversation';

/** Most writers of an answer, and letters of a model's name. */
export const MAX_WRITERS = 20;
export const MAX_MODEL_NAME = 200;

/** Signs with the model that has begun to write. */
export function signBegin({ writers }: Turn, name: string): void {
  const model = name.slice(0, MAX_MODEL_NAME);
  if (writers.at(-1)?.model === model) return;
  if (writers.length === MAX_WRITERS) writers.pop();
  writers.push({ model, endedAt: null });
}

/** Adds the time at which the newest writer ended, in milliseconds since 1970. */
export function signEnd({ writers }: Turn, now: number): void {
  const last = writers.at(-1);
  if (last) last.endedAt = now;
}

/**
 * The writers in a few words, and in a sentence with full dates. Null where unknown, as in older conversations.
 * @param locale such as 'en'
 */
export function byline({ writers }: Turn, now: number, locale: string): { short: string; full: string } | null {
  if (writers.length === 0) return null;
  const format = (ms: number, options: Intl.DateTimeFormatOptions) => new Date(ms).toLocaleString(locale, options);
  const at = writers.at(-1)!.endedAt;
  const day = (ms: number) => new Date(ms).toDateString();
  const isToday = at !== null && day(at) === day(now);
  const when = at === null ? [] : [format(at, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium' })];
  const names = [...new Set(writers.map(({ model }) => model))].join(' + ');
  const full = writers.map(({ model, endedAt }) => {
    return endedAt === null ? model : `${model}, ${format(endedAt, { dateStyle: 'full', timeStyle: 'medium' })}`;
  });
  return { short: [names, ...when].join(' · '), full: full.join('\n') };
}
