// Makes text of a model safe to show: addresses, and characters that would leave their place. Pure.

/**
 * The address of a model's link, or null when it must not be followed. Browsers ignore control characters and tabs
 * inside a scheme, so they are removed from `java\tscript:` before the check, and the checked address is the one in
 * use.
 */
export function safeHref(href: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to drop
  const address = href.replace(/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/g, '');
  return /^(?:https?:|mailto:|#)/i.test(address) ? address : null;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202d\u202e]|\p{Surrogate}/gu;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text that is safe to show. Control characters become their pictures, lone surrogates a replacement character.
 * Characters that change the direction of text become their names: overrides everywhere, because they disguise
 * addresses and words, and in code all of them.
 */
export function visibleText(text: string, isCode: boolean): string {
  const seen = text.replace(UNSEEN, pictureOf);
  return isCode ? seen.replace(DIRECTIONS, pictureOf) : seen;
}

function pictureOf(letter: string): string {
  const code = letter.charCodeAt(0);
  if (letter === '\r') return '';
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return code > 0x2000 && code < 0x2100 ? `[U+${code.toString(16).toUpperCase()}]` : '\ufffd';
}

/** `n` letters, or one more rather than half a character. */
export function wholeLetters(text: string, n: number): number {
  return n < text.length && /[\ud800-\udbff]/.test(text[n - 1]) && /[\udc00-\udfff]/.test(text[n]) ? n + 1 : n;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/** Letters, digits and signs to search for a first letter. A text without one by then is digits or code. */
const MAX_BEFORE_WORD = 1000;

/**
 * The direction of a growing text, by its first letter, or '' while there is none. A browser's own detection
 * (dir="auto") reads the whole text again for each new node.
 */
export function directionOf(text: string): 'ltr' | 'rtl' | '' {
  const [letter] = text.slice(0, MAX_BEFORE_WORD).match(/\p{L}/u) ?? [];
  if (letter === undefined) return text.length < MAX_BEFORE_WORD ? '' : 'ltr';
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
