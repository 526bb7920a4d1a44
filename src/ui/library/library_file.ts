// Import and export of conversations as files.

import { saveText } from '../../shared/save_text';
import { sayError } from '../../words/error_words';
import { pageWords } from '../../words/page_words';
import {
  checkFileSize,
  exportConversations,
  type Imported,
  importConversations,
} from '../conversation/conversation_file';
import { ConversationFileError } from '../conversation/conversation_parse';
import type { Conversation } from '../conversation/conversation_tree';

interface ImportOutcome {
  text: string;
  isError: boolean;
}

/** Adds the conversations of the files, and describes the result. `addAll` returns how many were kept. */
export async function importFiles(
  files: readonly File[],
  addAll: (conversations: readonly Conversation[]) => Promise<number>,
): Promise<ImportOutcome> {
  let added = 0;
  const refused: string[] = [];
  for (const file of files) {
    try {
      const found = await readConversations(file);
      refused.push(...found.refused);
      added += await addAll(found.conversations);
    } catch (error) {
      refused.push(
        error instanceof ConversationFileError ? sayError(error).text : pageWords().library.unreadableFile(file.name),
      );
    }
  }
  const text = added > 0 ? describeImport(added, refused) : (refused[0] ?? pageWords().library.nothingImported);
  return { text, isError: refused.length > 0 };
}

async function readConversations(file: File): Promise<Imported> {
  checkFileSize(file.size);
  return importConversations(await file.text());
}

function describeImport(added: number, refused: readonly string[]): string {
  const text = pageWords().library;
  const [why] = refused;
  return why === undefined ? text.imported(added) : `${text.imported(added)} ${text.refused(refused.length, why)}`;
}

/** Offers conversations as a download. */
export function saveConversations(name: string, conversations: readonly Conversation[]): void {
  saveText(`${name}.json`, 'application/json', exportConversations(conversations));
}

export function saveMarkdown(name: string, markdown: string): void {
  saveText(`${name}.md`, 'text/markdown', markdown);
}

/** A title as a file name that is valid on any system. */
export function fileNameOf(title: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
  return ['vivace', ...words].join('-').slice(0, 60).replace(/-$/, '');
}
