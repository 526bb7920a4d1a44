// The kind of opened or dropped files, told by their names and first bytes.

import { pageWords } from '../../words/page_words';
import { MAX_ATTACHMENTS } from '../conversation/attachments';

/** Enough for a header's magic, and to tell an export from a part of a model. */
const HEAD_BYTES = 256;
const MAX_LOOKED_AT = 64;
const EXPORT = /^\s*\{\s*"(?:format"\s*:\s*"vivace-conversations"|(?:id|title|createdAt|updatedAt|system|turns)"\s*:)/;

const RUN = /^\s*\{\s*"format"\s*:\s*"vivace-run"/;

export type FileKind =
  | { kind: 'model'; files: File[] }
  | { kind: 'conversations'; files: File[] }
  | { kind: 'runs'; files: File[] }
  /** Text among the files. The complaint is for those who wanted a model. */
  | { kind: 'texts'; files: File[]; complaint: string }
  | { kind: 'neither'; complaint: string };

/**
 * A model's files, exports, texts, or neither, with a sentence that says why and names a next step.
 * @param attaches true where texts come with the next question
 */
export async function kindOf(files: readonly File[], attaches = false): Promise<FileKind> {
  const text = pageWords().files;
  const named = (pattern: RegExp) => files.filter(({ name }) => pattern.test(name));
  if (named(/^config\.json$/).length > 0) return { kind: 'model', files: [...files] };
  const ggufs = named(/\.gguf$/i);
  if (ggufs.length > 0) {
    const heads = await Promise.all(ggufs.slice(0, MAX_LOOKED_AT).map(headOf));
    const wrong = ggufs[heads.findIndex((head) => head !== null && !head.startsWith('GGUF'))];
    return wrong
      ? { kind: 'neither', complaint: text.notGguf(shortName(wrong)) }
      : { kind: 'model', files: [...files] };
  }
  const texts = files.filter(isJson);
  const [exported, runs] = await Promise.all([begunBy(EXPORT, texts), begunBy(RUN, texts)]);
  if (exported.length > 0) return { kind: 'conversations', files: [...exported, ...runs] }; // of runs the import tells
  if (runs.length > 0) return { kind: 'runs', files: runs };
  if (files.length === 0) return { kind: 'neither', complaint: text.nothing(text.needed) };
  const isText = named(/\.safetensors$/i).length === 0 && (await hasText(files.slice(0, MAX_LOOKED_AT)));
  const complain = files.length > 1 ? text.noModels : isText ? text.noModel : text.unknown;
  const complaint = complain(shortName(files[0]), text.needed);
  if (!isText) return { kind: 'neither', complaint };
  if (files.length <= MAX_LOOKED_AT) return { kind: 'texts', files: [...files], complaint };
  const tooMany = text.tooMany(files.length, MAX_ATTACHMENTS, text.needed);
  return { kind: 'neither', complaint: attaches ? tooMany : complaint };
}

/** The files that begin so. All are looked at where one of the first does: none is left out without a word. */
async function begunBy(pattern: RegExp, files: readonly File[]): Promise<File[]> {
  const begins = async (file: File) => pattern.test((await headOf(file)) ?? '');
  const first = await Promise.all(files.slice(0, MAX_LOOKED_AT).map(begins));
  if (!first.includes(true)) return [];
  const rest = await Promise.all(files.slice(MAX_LOOKED_AT).map(begins));
  const begun = [...first, ...rest];
  return files.filter((_, i) => begun[i]);
}

/** True if the first bytes of any file look like text or are none. Whoever takes the files looks at all of each. */
async function hasText(files: readonly File[]): Promise<boolean> {
  const heads = await Promise.all(files.map(headOf));
  // A letter cut at the end becomes U+FFFD, as do bytes that are no text.
  return heads.some((head) => head !== null && !/[\0\ufffd]/.test(head.slice(0, -1)));
}

function isJson({ type, name }: File): boolean {
  return type === 'application/json' || /\.json$/i.test(name);
}

/** The first bytes as text. Null if the file is unreadable: the code that opens it says why. */
async function headOf(file: File): Promise<string | null> {
  return file
    .slice(0, HEAD_BYTES)
    .text()
    .catch(() => null);
}

function shortName({ name }: File): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}
