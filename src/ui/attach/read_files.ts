// Reads files that a reader attaches, as far as they are text and not too large. The files are untrusted.

import { formatSize } from '../../shared/format';
import { pageWords } from '../../words/page_words';
import {
  type Attachment,
  bytesOf,
  MAX_ATTACHED_BYTES,
  MAX_ATTACHMENT_BYTES,
  MAX_ATTACHMENT_NAME,
  MAX_ATTACHMENTS,
} from '../conversation/attachments';

export interface FilesRead {
  attachments: Attachment[];
  /** Sentences about the files that were left out. */
  complaints: string[];
}

/**
 * The files that can come to those attached before.
 * @param letters that the conversation can still take
 */
export async function readFiles(
  files: readonly File[],
  before: readonly Attachment[],
  letters: number,
): Promise<FilesRead> {
  const read: FilesRead = { attachments: [], complaints: [] };
  let left = MAX_ATTACHED_BYTES - before.reduce((sum, attachment) => sum + bytesOf(attachment), 0);
  if (letters < MAX_ATTACHED_BYTES) return { attachments: [], complaints: [pageWords().attach.noRoom] };
  const room = MAX_ATTACHMENTS - before.length;
  if (files.length > room) read.complaints.push(pageWords().attach.tooMany(MAX_ATTACHMENTS));
  for (const file of files.slice(0, Math.max(0, room))) {
    const result = await readFile(file, left);
    if ('complaint' in result) read.complaints.push(result.complaint);
    else {
      read.attachments.push(result);
      left -= file.size;
    }
  }
  return read;
}

async function readFile(file: File, left: number): Promise<Attachment | { complaint: string }> {
  const text = pageWords().attach;
  const name = plainName(file.name);
  if (file.size > MAX_ATTACHMENT_BYTES) {
    return { complaint: text.tooLarge(name, formatSize(file.size), formatSize(MAX_ATTACHMENT_BYTES)) };
  }
  if (file.size > left) return { complaint: text.allTooLarge(name, formatSize(MAX_ATTACHED_BYTES)) };
  let bytes: ArrayBuffer;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    return { complaint: text.unreadable(name) }; // a folder, or a file that is gone
  }
  return attachmentOf(name, bytes);
}

function attachmentOf(name: string, bytes: ArrayBuffer): Attachment | { complaint: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.trim() === '') return { complaint: pageWords().attach.isEmpty(name) };
    if (!text.includes('\0')) return { name, text };
  } catch {
    // not UTF-8
  }
  return { complaint: pageWords().attach.isNoText(name) };
}

/** A name of one line, without signs that nobody sees or that change the order of what is around them. */
function plainName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}`]/gu, '').trim();
  return plain.slice(0, MAX_ATTACHMENT_NAME) || 'file';
}
