// Compares a model's text with the text of a template, whose spaces a model varies.

/** Stands for the id of a call in a text of the syntax. */
export const ID = '\0';

const LOOSE = /[\s{}[\]:,]/;
const SPACE = /\s/;
const MAX_SPACES = 64;

/**
 * Matches a text from `from` on. Spaces may differ beside spaces and the punctuation of JSON; a number may be another.
 * Returns the end of the match, -1 if there is none, null if more text decides. `ids` receives the id.
 */
export function matchLiteral(literal: string, text: string, from: number, ids?: string[]): number | null {
  let at = from;
  for (let i = 0; i < literal.length; i++) {
    const wanted = literal[i];
    if (i === 0 || LOOSE.test(wanted) || LOOSE.test(literal[i - 1])) {
      const most = at + MAX_SPACES;
      while (at < most && at < text.length && SPACE.test(text[at])) at++;
    }
    if (SPACE.test(wanted)) continue;
    if (at === text.length) return null;
    const run = wanted === ID ? /[\w-]{1,64}/y : /\d/.test(wanted) ? /\d{1,9}/y : null;
    if (!run) {
      if (text[at++] !== wanted) return -1;
      continue;
    }
    run.lastIndex = at;
    const found = run.exec(text)?.[0];
    if (!found) return -1;
    at += found.length;
    if (at === text.length) return null;
    if (wanted === ID) ids?.push(found);
    else while (/\d/.test(literal[i + 1] ?? '')) i++;
  }
  return at;
}
