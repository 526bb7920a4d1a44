import type { Failure } from './protocol';

/** A fault that is found but not mended yet. */
interface KnownFault {
  loader: string;
  /** One case that shows it. */
  seed: number;
  what: string;
  why: RegExp;
}

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    loader: 'tokenizer',
    seed: 3334069914,
    what: 'messages of TokenizerError hold whole texts of the file',
    why: /^threw a message of \d+ characters: "(Token|The tokenizer|An added token|Merge|The post-processor)/,
  },
];

/** Faults that would end the process of every run: their cases are not made. */
export const KNOWN_HANGS: readonly string[] = [
  'a pre-tokenizer FixedLength of length 0 or below fills the heap with words',
];

export function isKnown({ why }: Failure): boolean {
  return KNOWN_FAULTS.some((fault) => fault.why.test(why));
}
