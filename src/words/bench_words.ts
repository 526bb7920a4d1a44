// The texts of the card of a named measurement in the language of the interface. All languages come with the card,
// which few visitors load.

import { bench as de } from './de/bench';
import { type BenchWords, bench } from './en/bench';
import { bench as ja } from './ja/bench';
import { language } from './language';

const ALL = { en: bench, de, ja };

export function benchWords(): BenchWords {
  return ALL[language()];
}
