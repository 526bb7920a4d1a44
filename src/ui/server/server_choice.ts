// Which server answers, and when: as an address or a tag says it. Pure.

import { isInTheClear, readAddress } from '../../remote/options';

/** The rules of HybridEngine that can be said in a word. */
export type ServerRule = 'remote' | 'remote-until-loaded' | { readonly longerThan: number };

/** These rules as they are written. */
export const RULES = 'remote, remote-until-loaded or longer-than-4096';

export interface ServerChoice {
  /** Absolute, without a slash at its end. */
  readonly address: string;
  /** The name at the server, or null: the first of its list. */
  readonly model: string | null;
  readonly rule: ServerRule;
}

/** The values of an address or of attributes, as they were written. */
interface Written {
  server: string | null;
  model: string | null;
  rule: string | null;
}

const MAX_MODEL = 1000;
const LONGER = /^longer-than-(\d{1,9})$/;

export function parseRule(text: string): ServerRule | null {
  if (text === 'remote' || text === 'remote-until-loaded') return text;
  const tokens = LONGER.exec(text)?.[1];
  return tokens === undefined ? null : { longerThan: Number(tokens) };
}

export function ruleText(rule: ServerRule): string {
  return typeof rule === 'string' ? rule : `longer-than-${rule.longerThan}`;
}

/**
 * The server that was asked for, or null. A rule that is none is the default.
 * @throws InvalidRequestError for an address that is none, or that holds a secret; its message repeats neither
 */
export function readServer({ server, model, rule }: Written): ServerChoice | null {
  if (!server) return null;
  const name = model && model.length <= MAX_MODEL ? model : null;
  return { address: readAddress(server), model: name, rule: parseRule(rule ?? '') ?? 'remote' };
}

/** True if an address that is refused holds what may be a secret. Else it is none. */
export function mayHoldSecret(address: string): boolean {
  return URL.canParse(address) && /[@?#]/.test(address);
}

/** A consent as a text: what may go, and where to. */
export function consentOf({ address, rule }: ServerChoice): string {
  return `${ruleText(rule)} ${address}`;
}

/** True for a consent by which as much may go to this server, or more. */
export function covers(consent: string, choice: ServerChoice): boolean {
  const [given, address] = consent.split(' ');
  const least = (rule: ServerRule | null) => Object(rule).longerThan as number;
  const isEnough = given === 'remote' || consent === consentOf(choice) || least(parseRule(given)) <= least(choice.rule);
  return isEnough && address === choice.address;
}

/** The consents for other servers. */
export function without(consents: readonly string[], { address }: ServerChoice): string[] {
  return consents.filter((consent) => consent.split(' ').at(-1) !== address);
}

export function hostOf({ address }: Pick<ServerChoice, 'address'>): string {
  return new URL(address).host;
}

/** True where others in the network can read what is sent. */
export function isReadable({ address }: Pick<ServerChoice, 'address'>): boolean {
  return isInTheClear(address);
}

/** True where a browser will not let a page ask this server. */
export function isMixed(choice: Pick<ServerChoice, 'address'>, page: string): boolean {
  return page.startsWith('https:') && isReadable(choice);
}
