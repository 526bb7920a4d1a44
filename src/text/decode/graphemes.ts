// Decides how much of a text's end must wait, because the next token may still change its last character.

/**
 * Last code points that often continue the same visible character: joiners, variation selectors and other marks; emoji
 * (a skin tone or a joiner may follow) and their modifiers; one regional indicator (half a flag); Hangul consonants and
 * vowels written one by one; and letters of scripts whose vowels are marks (Hebrew to Myanmar, Khmer). Plain letters,
 * digits and punctuation of Latin, Greek and Cyrillic, and the syllables of Chinese, Japanese and Korean are never held
 * back: marks after them are rare, and a text should not lag by a letter.
 */
const MAY_GROW =
  /(?:\u200d|[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u{e0020}-\u{e007f}]|[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\u0590-\u109f\u1780-\u17ff])$/u;
const FLAG = /^\p{Regional_Indicator}{2}$/u;

/** Most UTF-16 units that wait for their character to end. */
export const LONGEST_HOLD = 64;

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en', { granularity: 'grapheme' }) : null;

/** Length of the unfinished last character (grapheme cluster) of a text, or 0 if it may be shown. */
export function unfinishedLength(text: string): number {
  if (!MAY_GROW.test(text.slice(-2))) return 0;
  const tail = text.slice(-LONGEST_HOLD - 1);
  let last = tail;
  if (segmenter) for (const { segment } of segmenter.segment(tail)) last = segment;
  else last = Array.from(tail).at(-1) ?? '';
  return last.length > LONGEST_HOLD || FLAG.test(last) ? 0 : last.length;
}
