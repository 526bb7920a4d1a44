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
import type { Added } from '../conversation/conversation_store';
import type { Conversation } from '../conversation/conversation_tree';

interface ImportOutcome {
  text: string;
  isError: boolean;
}

/** Adds the conversations of the files, and describes the result. */
export async function importFiles(
  files: readonly File[],
  addAll: (conversations: readonly Conversation[]) => Promise<Added>,
): Promise<ImportOutcome> {
  const sum: Added = { added: 0, known: 0 };
  const refused: string[] = [];
  for (const file of files) {
    const of = files.length > 1 ? `${file.name}: ` : '';
    try {
      const found = await readConversations(file);
      refused.push(...found.refused.map((why) => of + why));
      const { added, known } = await addAll(found.conversations);
      sum.added += added;
      sum.known += known;
    } catch (error) {
      const isTold = error instanceof ConversationFileError;
      refused.push(isTold ? of + sayError(error).text : pageWords().library.unreadableFile(file.name));
    }
  }
  return { text: describeImport(sum, refused), isError: refused.length > 0 };
}

async function readConversations(file: File): Promise<Imported> {
  checkFileSize(file.size);
  return importConversations(await file.text());
}

function describeImport({ added, known }: Added, refused: readonly string[]): string {
  const text = pageWords().library;
  const [why] = refused;
  const parts = [added > 0 ? text.imported(added) : '', known > 0 ? text.known(known) : ''].filter(Boolean);
  if (parts.length === 0) return why ?? text.nothingImported;
  if (why !== undefined) parts.push(text.refused(refused.length, why));
  return parts.join(' ');
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
