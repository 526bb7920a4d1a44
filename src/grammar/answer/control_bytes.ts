// Control tokens in a constraint, as bytes. A control token has no text, but what an answer may hold around its
// document (the syntax of a call, the end of thinking) may be written with some.

import { FIRST, LAST_OF_TEXT, NO_TEXT } from './control_range';

const encoder = new TextEncoder();

/**
 * A text of the syntax as bytes, in which the texts of control tokens are these tokens.
 * @param controls the texts of the named control tokens
 */
export function controlBytes(text: string, controls: readonly string[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  const named = [...controls.keys()].sort((a, b) => controls[b].length - controls[a].length);
  let at = 0;
  for (let from = 0; at < text.length; ) {
    const control = named.find((i) => controls[i] !== '' && text.startsWith(controls[i], at));
    const end = control === undefined ? at + 1 : at;
    if (control !== undefined || end === text.length) bytes.push(...encoder.encode(text.slice(from, end)));
    at = end;
    if (control === undefined) continue;
    bytes.push(FIRST + control);
    at += controls[control].length;
    from = at;
  }
  return Uint8Array.from(bytes);
}

/**
 * The bytes of a token as a constraint walks them.
 * @param bytes its text; none for a control token
 * @param name its text where it is a control token
 * @param longest most bytes of a token
 */
export function walkedBytes(
  bytes: Uint8Array,
  name: () => string,
  controls: readonly string[],
  longest: number,
): Uint8Array {
  if (bytes.length > 0) return bytes.length > longest || bytes.some((byte) => byte > LAST_OF_TEXT) ? OTHER : bytes;
  const control = controls.length > 0 ? controls.indexOf(name()) : -1;
  return control < 0 ? OTHER : Uint8Array.of(FIRST + control);
}

const OTHER = Uint8Array.of(NO_TEXT);
