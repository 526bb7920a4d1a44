// The expressions by which the model families in use cut text into words. Published tokenizers spell them the same way, letter
// for letter, so that the costs of their parts can be known by their text.

/** Of GPT-2; the reference compiles exactly this into its ByteLevel rule. */
export const GPT2_WORDS = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
export const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
export const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const LEAD = '[^\\r\\n\\p{L}\\p{N}]?';
/** The words of Llama 3 and its many relatives; they differ in how many digits make a word. */
export const words = (digits: string) =>
  `${CONTRACTIONS}|${LEAD}\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${SPACES}`;

/** A word that ends in lower case, and one that ends in upper case: the first is tried first. */
function casePair(ending: string, without = ''): [string, string] {
  const upper = `[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}${without}]`;
  const lower = `[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}${without}]`;
  return [`${LEAD}${upper}*${lower}+${ending}`, `${LEAD}${upper}+${lower}*${ending}`];
}

/** Words cut where lower case meets upper case: Mistral's Tekken and OpenAI's o200k. */
export const caseWords = (ending: string, digits: string) =>
  `${casePair(ending).join('|')}|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`;

/** Both words of each family that cuts at the case; Kimi K2 keeps Chinese characters out of them. */
export const CASE_WORDS: readonly (readonly [string, string])[] = [
  casePair(''),
  casePair(`${CONTRACTIONS}?`),
  casePair(`${CONTRACTIONS}?`, '&&[^\\p{Han}]'),
];
