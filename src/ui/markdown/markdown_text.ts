// What a model wrote, judged before it is shown: addresses, and characters that do not stay in their place. Pure.

/**
 * The address of a link that a model wrote, or null when it may not be followed. Browsers drop control characters and tabs inside
 * a scheme, so `java\tscript:` is dropped of them before it is judged, and what was judged is what is used.
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
 * Text as it may be shown. Control characters become pictures of themselves, halves of characters a question mark. What turns the
 * direction of text around is named: overrides everywhere, since they make an address or a word read as another, and in code all of them.
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

/** So many letters or one more, so that no character is cut in half. */
export function wholeLetters(text: string, n: number): number {
  return n < text.length && /[\ud800-\udbff]/.test(text[n - 1]) && /[\udc00-\udfff]/.test(text[n]) ? n + 1 : n;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/** Letters, digits and signs that are looked at; who has no word by then has digits or code. */
const MAX_BEFORE_WORD = 1000;

/**
 * The direction of a text that grows, by its first letter: '' until there is one. A browser that finds it (dir="auto") reads the text
 * anew for each node that is added.
 */
export function directionOf(text: string): 'ltr' | 'rtl' | '' {
  const [letter] = text.slice(0, MAX_BEFORE_WORD).match(/\p{L}/u) ?? [];
  if (letter === undefined) return text.length < MAX_BEFORE_WORD ? '' : 'ltr';
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
