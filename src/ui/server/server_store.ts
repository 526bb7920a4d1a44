// What this browser keeps of servers: the last one, its key if the person wants that, and where text may go. Stored
// values are checked when they are read.

import { isJsonObject } from '../../shared/json_object';
import { consentOf, covers, parseRule, readServer, ruleText, type ServerChoice, without } from './server_choice';

const LAST = 'vivace-server';
const ALLOWED = 'vivace-server-consent';
const MAX_LETTERS = 20_000;
/** Most servers that are allowed: the newest. */
const MAX_ALLOWED = 50;

export interface LastServer {
  choice: ServerChoice;
  /** '' unless the person wants it kept. */
  key: string;
}

export function readLast(): LastServer | null {
  const { address, model, rule, key } = Object(read(LAST)) as Record<string, unknown>;
  if (typeof address !== 'string') return null;
  try {
    const asked = { server: address, model: textOf(model) || null, rule: textOf(rule) };
    const choice = parseRule(asked.rule) && readServer(asked);
    return choice && { choice, key: textOf(key) };
  } catch {
    return null;
  }
}

/** @param key what is kept of it: '' for nothing */
export function writeLast({ address, model, rule }: ServerChoice, key: string): void {
  write(LAST, { address, model, rule: ruleText(rule), ...(key && { key }) });
}

/** @param given consents as texts: those that this browser keeps */
export function isAllowed(choice: ServerChoice, given: readonly string[] = allowed()): boolean {
  return given.some((consent) => covers(consent, choice));
}

export function allow(choice: ServerChoice): void {
  const consent = consentOf(choice);
  write(ALLOWED, [...allowed().filter((other) => other !== consent), consent].slice(-MAX_ALLOWED));
}

export function disallow(choice: ServerChoice): void {
  write(ALLOWED, without(allowed(), choice));
}

/** Takes the consent back, and forgets the key. */
export function withdraw(choice: ServerChoice): void {
  disallow(choice);
  if (readLast()?.choice.address === choice.address) writeLast(choice, '');
}

function allowed(): string[] {
  const stored = read(ALLOWED);
  return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : [];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    const value: unknown = text && text.length <= MAX_LETTERS ? JSON.parse(text) : null;
    return Array.isArray(value) || isJsonObject(value) ? value : null;
  } catch {
    return null; // no storage, or nothing of ours
  }
}

function write(key: string, value: object): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage it lasts as long as the page.
  }
}
