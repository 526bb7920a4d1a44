// A server that answers in the place of a chat's model or beside it: what the tag or the element says of it, and the
// part that asks it, which comes when a visitor opens the chat.

import type { ChatEngine, Engine } from '../../engine/engine';
import type { Language } from '../../words/language';

/** The attributes of a tag or an element about a server, as written. */
export interface EmbedServer {
  server: string;
  model: string | null;
  rule: string | null;
  /** Whether this browser keeps the visitor's consent. Without it the consent lasts as long as the page. */
  remembers: boolean;
}

/** Gives the key of the site's server, after the visitor's consent. */
export type KeySource = () => string | Promise<string>;

/** The place of a part of the server in a chat: under its field, in its settings, or above its conversation. */
export type ServedSlot = 'line' | 'settings' | 'notice';

export interface ServedOptions {
  asked: EmbedServer;
  key: KeySource;
  /** The engine of the chat's own model now. */
  local: Engine | null;
  language: () => Language;
  onLanguage: (listener: () => void) => () => void;
  /** `stops`: an answer under way ends. */
  onEngine(engine: ChatEngine | null, stops: boolean): void;
  /** The server does not answer: what happened, and what to do. */
  onFailure(error: unknown, next: () => string): void;
  /** The visitor has refused the server. Null: no longer. */
  onRefusal(error: Error | null): void;
  place(slot: ServedSlot, part: HTMLElement): void;
}

/** The server of one chat. */
export interface Served {
  /** The chat's own model answers nothing. */
  readonly isAlone: boolean;
  onLocal(engine: Engine | null): void;
  onLoad(kind: 'loading' | 'canceled' | 'failed' | 'ready'): void;
  /** Connects, after consent; again after a failure. */
  connect(): Promise<void>;
  /** Ends its answers, and takes its parts out of the chat. */
  close(): void;
}

export interface ServerPart {
  /** @throws VivaceError for an address that is none */
  serve(options: ServedOptions): Served;
}

type LoadPart = () => Promise<ServerPart>;

let load: LoadPart | null = null;

/** Says how the part is loaded: the script tag and the package have it in different files. */
export function provideServerPart(loadPart: LoadPart): void {
  load ??= loadPart;
}

export async function serverPart(): Promise<ServerPart> {
  if (!load) throw new Error('The part for servers is missing.');
  return load();
}

/** True for a rule by which the chat needs no model of its own. */
export function isAlone({ rule }: EmbedServer): boolean {
  return rule !== 'remote-until-loaded' && !/^longer-than-\d{1,9}$/.test(rule ?? '');
}

/** Reads the attributes about a server. Null if there are none. @param prefix of their names in complaints */
export function readEmbedServer(
  find: (name: string) => string | null | undefined,
  prefix: string,
  remembers: boolean,
  complaints: string[],
): EmbedServer | null {
  const server = find('server');
  if (find('server-key') != null)
    complaints.push(`${prefix}server-key is left out: every visitor could read it. Give the key by a script.`);
  if (!server) return null;
  const rule = find('server-rule') || null;
  const asked = { server, model: find('server-model') || null, rule, remembers };
  if (rule !== null && rule !== 'remote' && isAlone(asked))
    complaints.push(
      `${prefix}server-rule="${rule}" is none of remote, remote-until-loaded, longer-than-4096; the server answers.`,
    );
  return asked;
}
