import type { Failure } from './protocol';

/** A fault that is found but not mended yet: a run counts its cases and does not fail for them. */
interface KnownFault {
  loaders: readonly string[];
  /** What does it, with a case where one is at hand. */
  what: string;
  why: RegExp;
}

const VOCABULARIES = ['tokenizer', 'model'] as const;

export const KNOWN_FAULTS: readonly KnownFault[] = [
  {
    loaders: VOCABULARIES,
    what: 'messages of TokenizerError hold whole texts of the file (tokenizer:3529406206)',
    why: /^threw a message of \d+ characters: "(Token|The tokenizer|An added token|Merge|The post-processor)/,
  },
  {
    loaders: VOCABULARIES,
    what: 'a long text in the place of an expression ends in a SyntaxError (tokenizer:2020532384)',
    why: /^threw an untyped error: SyntaxError: Invalid regular expression/,
  },
  {
    loaders: VOCABULARIES,
    what: 'an object with a key toString among merge_ranks ends in a TypeError',
    why: /^threw an untyped error: TypeError: Cannot convert object to primitive value/,
  },
  {
    loaders: VOCABULARIES,
    what: 'forty ByteLevel rules in a row double the text forty times',
    why: /^(did not end within|took \d+ ms|ended the process with SIGABRT: FATAL ERROR: .*heap)/,
  },
  {
    loaders: ['template'],
    what: 'single slow steps pass the deadline of a template by half a second and more (template:2486745924)',
    why: /^took 1\d\d\d ms/,
  },
];

/** Faults that would end the process of every run: their cases are not made. */
export const KNOWN_HANGS: readonly string[] = [
  'a pre-tokenizer FixedLength of length 0 or below fills the heap with words',
];

export function isKnown({ loader, why }: Failure): boolean {
  return KNOWN_FAULTS.some((fault) => fault.loaders.includes(loader) && fault.why.test(why));
}
