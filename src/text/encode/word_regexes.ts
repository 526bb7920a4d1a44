// Expressions that split text into words, one per model family. Published tokenizers spell them identically, so that
// regex_cost.ts recognizes their parts by text.

/** GPT-2. The reference compiles exactly this expression into its ByteLevel rule. */
export const GPT2_WORDS = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
export const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
export const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';
/** Llama 3 and its many relatives, which differ in the number of digits per word. */
export const words = (digits: string) =>
  `${CONTRACTIONS}|${LEAD}\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${SPACES}`;

/** A word that ends in lower case, tried first, and one that ends in upper case. */
function casePair(ending: string, without = ''): [string, string] {
  const upper = `[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}${without}]`;
  const lower = `[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}${without}]`;
  return [`${LEAD}${upper}*${lower}+${ending}`, `${LEAD}${upper}+${lower}*${ending}`];
}

/** Words split where lower case meets upper case: Mistral's Tekken and OpenAI's o200k. */
export const caseWords = (ending: string, digits: string) =>
  `${casePair(ending).join('|')}|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`;

/** The pairs of all families that split at case changes. Kimi K2 excludes Chinese characters. */
export const CASE_WORDS: readonly (readonly [string, string])[] = [
  casePair(''),
  casePair(`${CONTRACTIONS}?`),
  casePair(`${CONTRACTIONS}?`, '&&[^\\p{Han}]'),
];
