// The made-up words of probes, and how texts around them are compared.

export const USER = 'xUSERx';
export const TEXT = 'xTEXTx';
export const user = { role: 'user', content: USER };

/** Before and behind a place where a text may be cut. */
const END = /[\s>\]})"'`]/;
const BEGIN = /[\s<[]/;

/** The common beginning of two texts, cut at the end of a tag. */
export function commonStart(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  if (at === a.length || at === b.length) return a.slice(0, at);
  while (at > 0 && !END.test(a[at - 1]) && !(BEGIN.test(a[at]) && BEGIN.test(b[at]))) at--;
  return a.slice(0, at);
}

/** A text without its common end with another, cut at the end of a tag. */
export function withoutCommonEnd(text: string, other: string): string {
  let at = text.length;
  for (let i = other.length; at > 0 && i > 0 && text[at - 1] === other[i - 1]; i--) at--;
  while (at > 0 && at < text.length && !END.test(text[at - 1])) at++;
  return text.slice(0, at);
}
