// The speed to expect of a model here, and what the expectation rests on. Each token reads all weights, so the bytes a
// second that were seen here, divided by the bytes of a token, are the tokens a second. Without a measurement there is
// no number. Pure.

import type { CatalogueModel } from '../list/catalogue';
import type { Experience, Rate } from './experience';
import type { Machine } from './machine';

export interface Speed {
  readonly wordsPerSecond: number;
  /** This model ran here, another one did, or the memory's speed was measured. */
  readonly basis: 'run' | 'other-run' | 'roofline';
}

/** A word of English prose is a token and a third. */
const WORDS_PER_TOKEN = 0.75;
/** Tokens of smaller models are bound by other things than memory, and say nothing about larger models. */
const TELLING_BYTES = 100e6;
/** The part of the memory's speed that decoding reaches: 37 to 55 % at 1B and 8B parameters on an H200 (README). */
const SHARE = 0.4;
/** Words a second of a quick reader. */
export const READING_SPEED = 5;

export function speedOf(model: CatalogueModel, machine: Machine, seen: Experience): Speed | null {
  const words = (tokensPerSecond: number, basis: Speed['basis']): Speed => ({
    wordsPerSecond: WORDS_PER_TOKEN * tokensPerSecond,
    basis,
  });
  const own = Object.hasOwn(seen.rates, model.location) ? seen.rates[model.location] : undefined;
  if (own) return words(own.tokensPerSecond, 'run');
  const bytes = bytesOf(model, machine);
  const telling = Object.values(seen.rates).filter((rate) => isTelling(rate, machine));
  const fastest = Math.max(0, ...telling.map((rate) => rate.tokensPerSecond * rate.bytesPerToken));
  if (fastest > 0) return words(fastest / bytes, 'other-run');
  if (machine.gpu !== 'none' && seen.readGBps) return words((SHARE * 1e9 * seen.readGBps) / bytes, 'roofline');
  return null;
}

/** Bytes of weights that a token reads: on the CPU four for each. */
function bytesOf(model: CatalogueModel, { gpu }: Pick<Machine, 'gpu'>): number {
  return gpu === 'none' ? 4 * model.parameters : model.bytesPerToken;
}

/** On the CPU, which computes in plain loops, small models are bound by their weights, too. */
function isTelling({ bytesPerToken }: Rate, { gpu }: Machine): boolean {
  return gpu !== 'hardware' || bytesPerToken >= TELLING_BYTES;
}
