// The progress of a load, in words and as a bar: for the loader, and for a model that loads again.

import { css, html } from 'lit';
import type { LoadProgress } from '../../engine/engine';
import { words } from '../../words/words';
import { describeDuration, describeTimeLeft, sizeText } from './amounts';

/** The least wait for another tab that is told. */
const TOLD_AFTER_MS = 1000;

/** The wait of a load for another tab, such as 'for 4 s', or '' for a short one. */
export function describeWait({ waitsMs = 0 }: LoadProgress): string {
  return waitsMs < TOLD_AFTER_MS ? '' : words().load.waits(describeDuration(waitsMs));
}

/** The bytes, time left and speed of a load, in the order of their worth: a narrow line shows the first ones. */
export function describeProgress(p: LoadProgress): string {
  const { loadedBytes, totalBytes, cachedBytes = 0 } = p;
  const text = words().load;
  const parts: string[] = [];
  if (totalBytes > 0) parts.push(text.part(sizeText(loadedBytes), sizeText(totalBytes)));
  else if (loadedBytes > 0) parts.push(sizeText(loadedBytes));
  if (loadedBytes < totalBytes) {
    if (p.secondsLeft !== null) parts.push(describeTimeLeft(p.secondsLeft));
    if (p.bytesPerSecond) parts.push(`${sizeText(p.bytesPerSecond)}/s`);
  }
  if (cachedBytes > 0) {
    parts.push(cachedBytes >= loadedBytes ? text.fromStorage : text.partFromStorage(sizeText(cachedBytes)));
  }
  return parts.join(' · ');
}

/** The bar of a load. It has no value while the length of the work is unknown. */
export function renderBar(progress: LoadProgress | null) {
  const { stage = 'open', totalBytes = 0, loadedBytes = 0 } = progress ?? {};
  return totalBytes > 0 && stage !== 'compile'
    ? html`<progress max=${totalBytes} .value=${Math.min(loadedBytes, totalBytes)} aria-label=${words().load.bar}></progress>`
    : html`<progress aria-label=${words().load[stage]}></progress>`;
}

export const barStyles = css`
  progress { flex: 1; height: 5px; appearance: none; border: 0; border-radius: 3px; overflow: hidden; background: var(--v-line); }
  progress::-webkit-progress-bar { background: var(--v-line); }
  progress::-webkit-progress-value { background: var(--v-accent); transition: inline-size 160ms linear; }
  progress::-moz-progress-bar { background: var(--v-accent); }
  progress:indeterminate { background: linear-gradient(90deg, var(--v-line), var(--v-accent), var(--v-line)) 0 0 / 200% 100%; animation: pass 1.4s linear infinite; }
  progress:indeterminate::-webkit-progress-bar { background: none; }
  @keyframes pass { from { background-position: 200% 0; } to { background-position: 0 0; } }
  @media (forced-colors: active) {
    progress { height: 8px; border: 1px solid; }
    progress::-webkit-progress-value { background: Highlight; forced-color-adjust: none; }
  }
`;
