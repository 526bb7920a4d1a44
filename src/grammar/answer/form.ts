// The form of a model's answers, as its chat template shows it: the text around thinking and around calls. Types, and
// what a text of the syntax writes.

import { byteIn, choice, type Node, repeat, sequence } from '../grammar';
import { controlBytes } from './control_bytes';

/** begin NAME middle ARGUMENTS end, next NAME middle ARGUMENTS end, last. */
export interface CallForm {
  /** `json`: an object. `tags`: each argument is `key` KEY `value` VALUE `close`. */
  readonly kind: 'json' | 'tags';
  readonly begin: string;
  readonly middle: string;
  readonly end: string;
  /** Null: one call at a time. */
  readonly next: string | null;
  readonly last: string;
  readonly tags: { readonly key: string; readonly value: string; readonly close: string } | null;
  /** The beginning of `begin` that announces a call wherever it comes. Null: only `begin` does, before any text. */
  readonly trigger: string | null;
}

export interface AnswerForm {
  readonly thinking: { readonly open: string; readonly close: string } | null;
  readonly calls: CallForm | null;
  /** The texts of the control tokens in all of these, of which each has a byte of its own. */
  readonly controls: readonly string[];
}

/** Stands for the id of a call in a text of the syntax. */
export const ID = '\0';

const DIGIT = byteIn([0x30, 0x39]);
/** Some templates want nine letters or digits. */
const NEW_ID = repeat(byteIn([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]), 9, 9);
const SPACE = byteIn([0x09, 0x0a], [0x0d, 0x0d], [0x20, 0x20]);
const MOST_SPACES = 16;

/** White space, or none. */
export const GAP = repeat(SPACE, 0, MOST_SPACES);

/** Bytes as they are. */
const exactly = (bytes: Uint8Array): Node => ({ kind: 'literal', bytes });

/** A text of the syntax. A number in it may be another. */
export function syntaxNode(text: string, controls: readonly string[]): Node {
  const bytes = controlBytes(text, controls);
  const nodes: Node[] = [];
  let plain: number[] = [];
  const flush = () => {
    if (plain.length > 0) nodes.push(exactly(Uint8Array.from(plain)));
    plain = [];
  };
  for (let at = 0; at < bytes.length; at++) {
    const isDigit = isDigitByte(bytes[at]);
    if (bytes[at] !== 0 && !isDigit) {
      plain.push(bytes[at]);
      continue;
    }
    flush();
    nodes.push(isDigit ? repeat(DIGIT, 1, 9) : NEW_ID);
    while (isDigit && isDigitByte(bytes[at + 1])) at++;
  }
  flush();
  return sequence(...nodes);
}

const isDigitByte = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** The spellings of a text: with control tokens, and letter by letter. */
export function spellings(text: string, controls: readonly string[]): Uint8Array[] {
  const [named, plain] = [controlBytes(text, controls), controlBytes(text, [])];
  return named.length === plain.length ? [plain] : [named, plain];
}

/** A text in any of its spellings. */
export const spelled = (text: string, controls: readonly string[]): Node =>
  choice(...spellings(text, controls).map(exactly));
