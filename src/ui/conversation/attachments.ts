// Text files that come with a question: their limits, and how the model reads them. Pure.

/** One text file. */
export interface Attachment {
  readonly name: string;
  readonly text: string;
}

/** Most files of one question, bytes of one file and of all together, and letters of a name. */
export const MAX_ATTACHMENTS = 10;
export const MAX_ATTACHMENT_BYTES = 1_000_000;
export const MAX_ATTACHED_BYTES = 2_000_000;
export const MAX_ATTACHMENT_NAME = 200;

/** Letters that a conversation may have before a file is added: well below what a stored one may have. */
const FULL_LETTERS = 8_000_000;

/** Letters of files that a conversation can still take. Versions of a question share their files. */
export function lettersLeft(turns: readonly Texts[]): number {
  const files = new Set(turns.flatMap(({ attachments }) => attachments.map(({ text }) => text)));
  let sum = 0;
  for (const text of files) sum += text.length;
  for (const { question, reasoning, answer } of turns) sum += question.length + reasoning.length + answer.length;
  return FULL_LETTERS - sum;
}

interface Texts {
  readonly question: string;
  readonly reasoning: string;
  readonly answer: string;
  readonly attachments: readonly Attachment[];
}

export function bytesOf({ text }: Attachment): number {
  return new Blob([text]).size;
}

/** A question as the model reads it: each file's name and fenced text, then the question. */
export function contentOf({ question, attachments }: Pick<Texts, 'question' | 'attachments'>): string {
  return [...attachments.map(fenced), question].join('\n\n');
}

/** The fence is longer than any run of its sign in the text, so that no text can close it. */
function fenced({ name, text }: Attachment): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${name.replace(/[\r\n`]/g, ' ')}:\n${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
