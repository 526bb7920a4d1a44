// How much of a text's end should wait because the next token may still change what its last character looks like.

/** Last code points after which the same visible character often goes on:
 *  joiners, variation selectors and other marks; emoji (a skin tone or a joiner may follow) and their modifiers;
 *  one regional indicator (half a flag); Hangul consonants and vowels written one by one; and letters of the scripts
 *  whose vowels are marks (Hebrew to Myanmar, Khmer). Plain letters, digits and punctuation of Latin, Greek, Cyrillic
 *  and the syllables of Chinese, Japanese and Korean are never held back: a mark after them is rare, and a text that lags
 *  by a letter is not. */
const MAY_GROW =
  /(?:\u200d|[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u{e0020}-\u{e007f}]|[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\u0590-\u109f\u1780-\u17ff])$/u;
const FLAG = /^\p{Regional_Indicator}{2}$/u;

/** Never more than this many UTF-16 units wait for their character to end. */
export const LONGEST_HOLD = 64;

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en', { granularity: 'grapheme' }) : null;

/** Length of the unfinished last character (grapheme cluster) of the text, 0 when it may be shown. */
export function unfinishedLength(text: string): number {
  if (!MAY_GROW.test(text.slice(-2))) return 0;
  const tail = text.slice(-LONGEST_HOLD - 1);
  let last = tail;
  if (segmenter) for (const { segment } of segmenter.segment(tail)) last = segment;
  else last = Array.from(tail).at(-1) ?? '';
  return last.length > LONGEST_HOLD || FLAG.test(last) ? 0 : last.length;
}
