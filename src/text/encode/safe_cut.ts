// Where a text without end may be cut with the least harm: work on one stretch stays bounded.

/** Where the piece from `start` ends: the text's end, or after at most `longest` units, before a word's space if there is one. */
export function safeCut(text: string, start: number, longest: number): number {
  if (text.length - start <= longest) return text.length;
  const limit = start + longest;
  for (let i = limit; i > start + longest / 2; i--) {
    if ((text[i] === '\u2581' || text[i] === ' ') && text[i - 1] !== text[i]) return i;
  }
  const unit = text.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit; // never between the halves of a character
}
