// What models mean here, in words: fits, speeds, and the sentences that say what they rest on.

import { formatSize } from '../../shared/format';
import { language } from '../../words/language';
import { pageWords } from '../../words/page_words';
import type { Fit } from './machine/fit';
import type { Machine } from './machine/machine';
import type { Speed } from './machine/speed';

/** A short text, and the sentence that says what it rests on. */
export interface Explained {
  readonly text: string;
  readonly title: string;
}

export function describeFit({ verdict, needBytes, obstacle }: Fit, { gpu }: Machine): Explained {
  const text = pageWords().catalogue;
  const onGpu = gpu !== 'none';
  const need = text.needs(formatSize(needBytes, language()));
  switch (verdict) {
    case 'fits':
      return { text: onGpu ? text.fitsGpu : text.fits, title: `${need} ${text.fitsWhy}` };
    case 'likely':
      return { text: onGpu ? text.shouldFitGpu : text.shouldFit, title: `${need} ${text.likelyWhy}` };
    case 'unsure':
      return { text: onGpu ? text.mayNotFitGpu : text.mayNotFit, title: `${need} ${text.likelyWhy}` };
    case 'no':
      return obstacle
        ? { text: text[obstacle], title: `${need} ${text[`${obstacle}Why`]}` }
        : { text: text.memory, title: need };
  }
}

/** The expected speed, or what is known without a measurement: nothing on a GPU, slowness without one. */
export function describeSpeed(speed: Speed | null, { gpu }: Machine): Explained | null {
  const text = pageWords().catalogue;
  if (speed) {
    const basis = { run: text.runBasis, 'other-run': text.otherRunBasis, roofline: text.rooflineBasis }[speed.basis];
    return { text: text.words(rounded(speed.wordsPerSecond)), title: basis };
  }
  if (gpu === 'hardware') return null;
  return { text: text.slow, title: gpu === 'none' ? text.slowOnCpu : text.slowOnSoftware };
}

/** Rounded as far as an expectation can be trusted: 0, 7, 45, 160, 1200. */
function rounded(perSecond: number): number {
  const step = perSecond < 10 ? 1 : perSecond < 100 ? 5 : perSecond < 1000 ? 10 : 100;
  return perSecond < 1 ? 0 : step * Math.round(perSecond / step);
}
