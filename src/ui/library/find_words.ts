// Finds words in one conversation: its title, and the questions and answers of all its versions. Yields between pieces
// of text, so that a long conversation blocks no frame. Pure.

import type { Conversation } from '../conversation/conversation_tree';
import { fold, placesOf } from './fold';

/** Letters that are compared at a time. */
const PIECE = 16_384;
/** Letters among which the first word is looked for. */
const WINDOW = 512;
const OVERLAP = 128;
/** Letters of an excerpt, and of its part before the first word found. */
const EXCERPT = 140;
const BEFORE = 36;

/** A part of a text, and whether it is one of the words. */
export interface Part {
  text: string;
  isFound: boolean;
}

export interface Found {
  id: string;
  title: Part[];
  /** The turn with most of the words, or null if the title has them all. */
  turn: string | null;
  excerpt: Part[];
}

/** The text of a conversation that a search reads. */
export interface Searched {
  id: string;
  turns: readonly Pick<Conversation['turns'][number], 'id' | 'question' | 'answer'>[];
}

/** All texts, folded, in one. */
export function* foldTexts({ turns }: Searched): Generator<void, string> {
  let folded = '';
  for (const { question, answer } of turns) {
    for (const text of [question, answer]) {
      for (let at = 0; at < text.length; at += PIECE) {
        folded += fold(text.slice(at, at + PIECE));
        yield;
      }
      folded += '\n';
    }
  }
  return folded;
}

/** True if each of the words is in the title or in the texts. */
export function hasWords(title: string, folded: string, words: readonly string[]): boolean {
  const foldedTitle = fold(title);
  return words.every((word) => foldedTitle.includes(word) || folded.includes(word));
}

/** The places of the words in a conversation that has all of them. */
export function* findWords(searched: Searched, title: string, words: readonly string[]): Generator<void, Found> {
  const foldedTitle = fold(title);
  /** Words of the title tell little of a turn. */
  const weightOf = (word: string) => (foldedTitle.includes(word) ? 1 : words.length + 1);
  const most = words.reduce((sum, word) => sum + weightOf(word), 0);
  const isInTitle = most === words.length;
  let best: { turn: string; text: string; weight: number } | null = null;
  for (const { id, question, answer } of isInTitle ? [] : searched.turns) {
    if (best?.weight === most) break;
    for (const { piece } of [...pieces(question, PIECE), ...pieces(answer, PIECE)]) {
      const weight = wordsIn(piece, words).reduce((sum, word) => sum + weightOf(word), 0);
      if (weight > (best?.weight ?? 0)) best = { turn: id, text: piece, weight };
      yield;
    }
  }
  const excerpt = best ? partsOf(excerptOf(best.text, words), words) : [];
  return { id: searched.id, title: partsOf(title, words), turn: best?.turn ?? null, excerpt };
}

/** A text in pieces that overlap, so that no word of ordinary length is cut in all of them. With their places. */
function* pieces(text: string, length: number): Generator<{ piece: string; at: number }> {
  for (let at = 0; at < text.length; at += length - OVERLAP) yield { piece: text.slice(at, at + length), at };
}

/** The text divided at the places of the words. */
function partsOf(text: string, words: readonly string[]): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const [from, to] of placesOf(text, words)) {
    if (from > at) parts.push({ text: text.slice(at, from), isFound: false });
    parts.push({ text: text.slice(from, to), isFound: true });
    at = to;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isFound: false });
  return parts;
}

/** Some words around those found, in one line and without the signs of Markdown. */
function excerptOf(text: string, words: readonly string[]): string {
  const first = firstPlace(text, words);
  const from = Math.max(0, first - BEFORE);
  const start = from === 0 ? 0 : from + (/^\S{0,24}\s/.exec(text.slice(from, first))?.[0].length ?? 0);
  // Twice the letters, because white space and signs go.
  const line = text
    .slice(start, start + 2 * EXCERPT)
    .replace(/[*`#>|~]{1,3}(?=\S)|(?<=\S)[*`|~]{1,3}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const letters = [...line];
  const isCut = letters.length > EXCERPT || start + 2 * EXCERPT < text.length;
  return `${start > 0 ? '… ' : ''}${letters.slice(0, EXCERPT).join('').trim()}${isCut ? ' …' : ''}`;
}

/** The place of the first word in the part of the text that has most of the words. */
function firstPlace(text: string, words: readonly string[]): number {
  let best = { piece: '', at: 0, n: 0 };
  for (const { piece, at } of pieces(text, WINDOW)) {
    const n = wordsIn(piece, words).length;
    if (n > best.n) best = { piece, at, n };
  }
  return best.at + (placesOf(best.piece, words)[0]?.[0] ?? 0);
}

function wordsIn(text: string, words: readonly string[]): string[] {
  const folded = fold(text);
  return words.filter((word) => folded.includes(word));
}
