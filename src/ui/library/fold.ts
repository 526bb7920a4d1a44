// Letters as a search compares them: without case, accents and width. "Müller" and "MULLER" are one, and so are "ﬁ" and
// "fi". Pure.

/** Accents over Latin, Greek and Cyrillic letters, and the optional points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+/g;
/** Letters that Unicode does not take apart. */
const ALSO: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' };
const OTHERS = /[ßæœøłđıς]/g;
const NOT_ASCII = /[^\0-\x7f]+/g;
/** One letter with its accents. */
const LETTER = /\P{M}\p{M}*|\p{M}+/gsu;

export function fold(text: string): string {
  return text.toLowerCase().replace(NOT_ASCII, foldRun);
}

function foldRun(letters: string): string {
  const plain = letters.normalize('NFKD').replace(ACCENTS, '').toLowerCase();
  return plain.replace(OTHERS, (letter) => ALSO[letter] ?? letter);
}

/** The folded text with, for each of its letters, the place of that letter in `text`, and at the end its length. */
function foldWithPlaces(text: string): { folded: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  for (const { 0: letter, index } of text.matchAll(LETTER)) {
    const part = fold(letter);
    folded += part;
    for (let i = 0; i < part.length; i++) places.push(index);
  }
  places.push(text.length);
  return { folded, places };
}

/** The places of folded words in a short text: pairs of beginning and end, in order and apart. */
export function placesOf(text: string, words: readonly string[]): [number, number][] {
  const { folded, places } = foldWithPlaces(text);
  const found: [number, number][] = [];
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      const last = places[at + word.length - 1] ?? 0;
      // The end is where the next letter begins: an accent belongs to the letter before it.
      const end = places.slice(at + word.length).find((place) => place > last) ?? text.length;
      found.push([places[at] ?? 0, end]);
    }
  }
  return apart(found);
}

function apart(found: readonly [number, number][]): [number, number][] {
  const merged: [number, number][] = [];
  for (const [from, to] of [...found].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

const MAX_WORDS = 16;

/** The different words of a search, folded. */
export function wordsOf(query: string): string[] {
  const words = fold(query)
    .split(/\s+/)
    .filter((word) => word !== '');
  return [...new Set(words)].slice(0, MAX_WORDS);
}
