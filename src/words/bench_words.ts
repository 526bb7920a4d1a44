// The texts of the card of a named measurement in the language of the interface. All languages come with the card,
// which few visitors load.

import { bench as de } from './bench_de';
import { type BenchWords, bench } from './bench_en';
import { bench as ja } from './bench_ja';
import { language } from './language';

const ALL = { en: bench, de, ja };

export function benchWords(): BenchWords {
  return ALL[language()];
}
