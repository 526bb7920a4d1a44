// The measurements that an address can name. A name stands for the same prompt length, answer length and number of runs
// everywhere, so that figures of two machines compare. Pure.

export interface NamedMeasurement {
  name: string;
  promptTokens: number;
  /** Tokens of each answer: the tokens that would end it never come. */
  tokens: number;
  times: number;
}

export const MEASUREMENTS: readonly NamedMeasurement[] = [
  { name: 'quick', promptTokens: 16, tokens: 32, times: 3 },
  { name: 'decode-128', promptTokens: 16, tokens: 128, times: 5 },
  { name: 'decode-512', promptTokens: 16, tokens: 512, times: 5 },
  { name: 'long-128', promptTokens: 768, tokens: 128, times: 5 },
  { name: 'prefill-512', promptTokens: 512, tokens: 8, times: 5 },
];

/** The measurement of a name, in any case, or null. */
export function findMeasurement(name: string): NamedMeasurement | null {
  return MEASUREMENTS.find((each) => each.name === name.trim().toLowerCase()) ?? null;
}

/** The prompt of all measurements. It means nothing to their times. */
export const PROMPT_TEXT =
  'Once upon a time there was a small house at the edge of a forest, and in it lived a girl who kept bees. Every morning she opened the window, counted the hives, and wrote the number in a book. ';

/** As many ids as asked for: those of the text, again and again. @param ids at least one */
export function promptOf(ids: readonly number[], length: number): number[] {
  return Array.from({ length }, (_, i) => ids[i % ids.length] ?? 0);
}
