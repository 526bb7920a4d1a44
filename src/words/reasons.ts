// Reasons of the engine in the language of the interface. The engine writes them in English, with values in between;
// a language has the same sentences with places for the values. What it does not know, such as the words of a shader
// compiler, stays as it is.

import { language, type Reasons, translation } from './language';

/** Longer ones quote somebody. They may come from a file. */
const MAX_LETTERS = 1000;
const PLACE = /\{(\d)\}/;
/** A number, maybe of milliseconds. */
const NUMBER = /^-?\d+\.\d+( ms)?$/;

export function sayReason(reason: string): string {
  const texts = translation()?.reasons;
  return texts && reason.length <= MAX_LETTERS ? say(texts, reason) : reason;
}

function say(texts: Reasons, reason: string): string {
  const parts = reason.split('; ');
  if (parts.length > 1) return parts.map((part) => say(texts, part)).join('; ');
  if (NUMBER.test(reason)) return reason.replace('.', (0.5).toLocaleString(language()).charAt(1));
  const found = find(texts, reason);
  if (found)
    return found.text
      .split(PLACE)
      .reduce((all, piece, i) => all + (i % 2 ? say(texts, found.values[+piece] ?? '') : piece), '');
  const [, label, rest] = /^([\w/.]+: )(.+)$/s.exec(reason) ?? [];
  return label && rest ? label + say(texts, rest) : reason;
}

/** The sentence that has the most words of its own in common with the reason. */
function find(texts: Reasons, reason: string): { text: string; values: string[] } | null {
  let found: { text: string; values: string[] } | null = null;
  let most = 0;
  for (const [english, text] of Object.entries(texts)) {
    const pieces = english.split(/\{\d\}/);
    const values = valuesOf(reason, pieces);
    const letters = pieces.join('').length;
    if (values && letters > most) [found, most] = [{ text, values }, letters];
  }
  return found;
}

/** The texts between the pieces, each as early as it occurs, or null. */
function valuesOf(reason: string, pieces: readonly string[]): string[] | null {
  const [first = '', ...others] = pieces;
  if (others.length === 0) return reason === first ? [] : null;
  const last = others.pop() ?? '';
  if (!reason.startsWith(first) || !reason.endsWith(last)) return null;
  const end = reason.length - last.length;
  const values: string[] = [];
  let from = first.length;
  for (const piece of others) {
    const at = reason.indexOf(piece, from + 1);
    if (at < 0 || at + piece.length > end) return null;
    values.push(reason.slice(from, at));
    from = at + piece.length;
  }
  if (from >= end) return null;
  return [...values, reason.slice(from, end)];
}
