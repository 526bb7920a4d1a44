// The files that wait in the composer for their question.

import { sayError } from '../../words/error_words';
import { type Attachment, lettersLeft } from '../conversation/attachments';
import type { Turn } from '../conversation/conversation';

/**
 * Reads the files that can come to those attached before, in a conversation with room for so many letters. Complaints
 * are sentences about the others.
 */
export type ReadFiles = (
  files: readonly File[],
  before: readonly Attachment[],
  letters: number,
) => Promise<{ attachments: readonly Attachment[]; complaints: readonly string[] }>;

export class ChatAttachments {
  files: readonly Attachment[] = [];
  complaint = '';
  /** Files are read one drop after another, so that all of them together keep the limits. */
  private reading: Promise<void> = Promise.resolve();

  constructor(private readonly onChange: () => void) {}

  add(files: readonly File[], turns: readonly Turn[], read: ReadFiles): Promise<void> {
    this.reading = this.reading.then(async () => {
      try {
        const { attachments, complaints } = await read(files, this.files, lettersLeft(turns));
        this.set([...this.files, ...attachments], complaints.join(' '));
      } catch (error) {
        this.set(this.files, sayError(error).text); // what reads files could not be fetched
      }
    });
    return this.reading;
  }

  remove(index: number): void {
    this.set(this.files.toSpliced(index, 1));
  }

  /** Takes the files out for a question. */
  take(): readonly Attachment[] {
    const { files } = this;
    if (files.length > 0 || this.complaint) this.set([]);
    return files;
  }

  private set(files: readonly Attachment[], complaint = ''): void {
    this.files = files;
    this.complaint = complaint;
    this.onChange();
  }
}
