// Cuts very long texts with the least harm, to bound the work per stretch.

/** End of the stretch from `start`: the text's end, or at most `longest` units, before a word's space if possible. */
export function safeCut(text: string, start: number, longest: number): number {
  if (text.length - start <= longest) return text.length;
  const limit = start + longest;
  for (let i = limit; i > start + longest / 2; i--) {
    if ((text[i] === '\u2581' || text[i] === ' ') && text[i - 1] !== text[i]) return i;
  }
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit; // never between the halves of a character
}
