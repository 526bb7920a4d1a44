// The texts of the card of a named measurement in English. This is the source: the other languages have the same shape.

interface Measured {
  promptTokens: number;
  tokens: number;
  times: number;
}

export const bench = {
  title: (name: string) => `Measurement “${name}”`,
  close: 'Close',
  what: ({ promptTokens, tokens, times }: Measured) =>
    `${times} runs of ${tokens} tokens after a prompt of ${promptTokens}, each with an empty cache.`,
  run: 'Run',
  again: 'Run again',
  asks: (onGpu: boolean) => `Uses the ${onGpu ? 'GPU' : 'processor'} for a while. Nothing is sent anywhere.`,
  loading: 'Waiting for the model to load…',
  range: 'Median, and the range of all runs.',
  tooLong: (needs: number, has: number) =>
    `This measurement needs a context of ${needs} tokens; the model was loaded with ${has}.`,
  copyLink: 'Copy link',
  copyText: 'Copy as text',
  save: 'Download JSON',
  copied: 'Copied.',
  notCopied: 'The browser did not allow copying.',
  done: 'The measurement is done.',
  unknown: 'There is no measurement of this name. These exist:',
};

export type BenchWords = typeof bench;
