// Errors and warnings in the language of the interface: by their code, with their numbers. Where a language has no
// sentence for a code, it is the error's own, which is English and more exact.

import { type ErrorWords, errors as english, type Facts } from './en/errors';
import { language, translation } from './language';

/** A sentence for a person. */
interface Said {
  text: string;
  /** The error's own English sentence, where `text` is another one; else ''. */
  detail: string;
}

interface Coded {
  code: string;
  message: string;
}

const MAX_LETTERS = 80;

/** @param error whatever was thrown */
export function sayError(error: unknown): Said {
  const { code, message } = (error ?? {}) as Partial<Coded>;
  const { facts = {} } = (error ?? {}) as { facts?: object };
  return say(
    'errors',
    { code: String(code), message: message ?? String(error ?? '') },
    { ...(error as object), ...facts },
  );
}

/** @param warning of the engine, with its numbers in `facts` */
export function sayWarning(warning: Coded & { facts?: object }): Said {
  return say('warnings', warning, warning.facts);
}

function say(kind: keyof ErrorWords, { code, message }: Coded, facts: unknown): Said {
  const texts: Record<string, ((facts: Facts) => string) | undefined> = (translation()?.errors ?? english)[kind];
  const write = Object.hasOwn(texts, code) ? texts[code] : undefined;
  if (!write) return { text: message, detail: '' };
  const text = write({ ...factsOf(facts), message: message || undefined });
  return { text, detail: text === message ? '' : message };
}

/** The numbers and names of an error, formatted for the language. They may come from an untrusted file or server. */
function factsOf(source: unknown): Facts {
  const facts: Record<string, string> = {};
  if (typeof source !== 'object' || source === null) return facts;
  for (const [key, value] of Object.entries(source)) {
    if (key === 'url') Object.assign(facts, hostOf(value));
    else if (key === 'status' && typeof value === 'number') facts.status = String(value);
    else if (typeof value === 'number') facts[key] = /bytes$/i.test(key) ? sizeOf(value) : format(value);
    else if (typeof value === 'string') facts[key] = shorten(value);
  }
  return facts;
}

function hostOf(url: unknown): Facts {
  return typeof url === 'string' && URL.canParse(url) ? { host: shorten(new URL(url).host) } : {};
}

function shorten(text: string): string {
  return text.length > MAX_LETTERS ? `…${text.slice(-MAX_LETTERS)}` : text;
}

function sizeOf(bytes: number): string {
  return bytes < 1e9 ? `${format(bytes / 1e6)} MB` : `${format(bytes / 1e9)} GB`;
}

function format(value: number): string {
  return value.toLocaleString(language(), { maximumFractionDigits: 1 });
}
