// Conversations as the text of a file. The text is untrusted. Pure.

import { isJsonObject } from '../../shared/json_object';
import { uniqueId } from '../../shared/unique_id';
import { lowerFirst } from '../shared/sentences';
import { ConversationFileError, parseConversation } from './conversation_parse';
import type { Conversation } from './conversation_tree';

const FORMAT = 'vivace-conversations';
const VERSION = 1;
/** The beginning of an export, also of one that is incomplete. */
const BEGINNING = /^\s*\{\s*"format"\s*:\s*"vivace-conversations"/;
/** The beginning of a run of the panel, which is imported there. */
const RUN = /^\s*\{\s*"format"\s*:\s*"vivace-run"/;
const CUT = 'This file is incomplete or damaged. Export it again, or copy it again.';
const MAX_CONVERSATIONS = 10_000;
const MAX_FILE_BYTES = 50_000_000;

export function exportConversations(conversations: readonly Conversation[]): string {
  return JSON.stringify({ format: FORMAT, version: VERSION, exportedAt: new Date().toISOString(), conversations });
}

export interface Imported {
  conversations: Conversation[];
  /** One sentence per refused conversation of the file, with the reason. */
  refused: string[];
}

/**
 * The conversations of a file: an export, or one bare conversation. Throws ConversationFileError for anything else, and
 * when no conversation is valid.
 */
export function importConversations(text: string): Imported {
  const value = readJson(text);
  const found = conversationsOf(value);
  const imported: Imported = { conversations: [], refused: [] };
  const ids = new Set<string>();
  let first: Readonly<Record<string, number>> = {};
  found.forEach((raw, i) => {
    try {
      const conversation = parseConversation(raw);
      // A repeated id gets a new one, so that no conversation of the file overwrites another.
      const id = ids.has(conversation.id) ? uniqueId() : conversation.id;
      ids.add(id);
      imported.conversations.push({ ...conversation, id });
    } catch (error) {
      if (!(error instanceof ConversationFileError)) throw error;
      if (imported.refused.length === 0)
        first = found.length === 1 ? error.facts : { conversation: i + 1, ...error.facts };
      imported.refused.push(found.length === 1 ? error.message : `Conversation ${i + 1}: ${lowerFirst(error.message)}`);
    }
  });
  if (imported.conversations.length === 0 && imported.refused.length > 0) {
    throw new ConversationFileError(`Nothing was imported. ${imported.refused[0]}`, undefined, first);
  }
  return imported;
}

function readJson(text: string): unknown {
  if (RUN.test(text)) {
    const message = 'This file is a run, not a conversation. Open the panel (Timing), and import it there under Runs.';
    throw new ConversationFileError(message, 'vivace-run');
  }
  try {
    return JSON.parse(text);
  } catch {
    if (BEGINNING.test(text)) throw new ConversationFileError(CUT, 'file-cut');
    throw new ConversationFileError('This file is not JSON. Choose a file that Vivace exported.');
  }
}

function conversationsOf(value: unknown): readonly unknown[] {
  const fields = isJsonObject(value) ? value : {};
  if (fields.format === FORMAT) {
    if (fields.version !== VERSION) {
      throw new ConversationFileError(
        `This file has version ${JSON.stringify(fields.version)?.slice(0, 20)}, and this page reads version ${VERSION}. Reload the page for its newest version.`,
        'conversation-version',
      );
    }
    const { conversations } = fields;
    if (Array.isArray(conversations) && conversations.length <= MAX_CONVERSATIONS) return conversations;
    throw new ConversationFileError(`This file has no list of up to ${MAX_CONVERSATIONS} conversations.`);
  }
  if (Array.isArray(fields.turns)) return [value];
  throw new ConversationFileError('This file holds no conversations. Choose a file that Vivace exported.');
}

/** Refuses a file that is too large, before its text is read. */
export function checkFileSize(bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return;
  const megabytes = (n: number) => Math.ceil(n / 1e6);
  throw new ConversationFileError(
    `This file has ${megabytes(bytes)} MB, and ${megabytes(MAX_FILE_BYTES)} MB are the most. Export fewer conversations at a time.`,
    'conversation-size',
    { requestedBytes: bytes, grantedBytes: MAX_FILE_BYTES },
  );
}
