// Files to and from the list of conversations.

import { checkFileSize, type Imported, importConversations } from './conversation_file';

/** What a dropped or chosen file holds. Throws ConversationFileError. */
export async function readConversations(file: File): Promise<Imported> {
  checkFileSize(file.size);
  return importConversations(await file.text());
}

/** What is said after an import. */
export function describeImport(added: number, refused: readonly string[]): string {
  const came = added === 1 ? '1 conversation came in.' : `${added} conversations came in.`;
  if (refused.length === 0) return came;
  return `${came} ${refused.length} ${refused.length === 1 ? 'was' : 'were'} refused. ${refused[0]}`;
}

/** Hands a JSON text to the browser's downloads. */
export function saveJson(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A title as the name of a file on any system. */
export function fileNameOf(title: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
  return ['vivace', ...words].join('-').slice(0, 60).replace(/-$/, '');
}

export function isConversationFile(file: File): boolean {
  return file.type === 'application/json' || /\.json$/i.test(file.name);
}
