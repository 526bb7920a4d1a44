// The recovery of an engine in words, and the line that shows the model load again.

import { css, html } from 'lit';
import type { BackendName, Health } from '../../engine/engine';
import { formatDuration } from '../../shared/format';
import { lossOf } from '../../shared/loss';
import { barStyles, describeProgress, describeWait, OTHER_TAB, renderBar } from './load_bar';

export type Recovering = Extract<Health, { state: 'recovering' }>;
type WithoutGpu = Extract<Health, { state: 'without-gpu' }>;

export function describeRecovery({ cause, loss }: Pick<Recovering, 'cause' | 'loss'>): string {
  return `${lossOf(cause.code)}${loss > 1 ? ` (loss ${loss} in ten minutes)` : ''}. Loading the model again…`;
}

/**
 * The remark under an answer that went on.
 * @param code of the loss, or null where the answer moved to a GPU that is back
 * @param onto the backend, if it is another than before
 */
export function recoveryRemark(code: string | null, pauseMs: number, onto: BackendName | null): string {
  const pause = pauseMs < 60_000 ? `${(pauseMs / 1000).toFixed(1)} s` : formatDuration(pauseMs);
  if (code === null) return `The GPU is back; it went on after ${pause}.`;
  const what = onto === null ? 'the answer' : onto === 'cpu' ? 'the CPU' : 'the GPU';
  return `${lossOf(code)}; ${what} went on after ${pause}.`;
}

/** Why the CPU answers, and when the GPU is tried again. */
export function describeWithoutGpu({ cause, nextTryAt }: Omit<WithoutGpu, 'state'>): string {
  return `${cause.message} Next try of the GPU: ${new Date(nextTryAt).toLocaleTimeString('en-GB')}.`;
}

/** @param after what the reader should know next, or '' */
export function renderRecovery(health: Recovering, after = '') {
  const { progress } = health;
  const wait = progress && describeWait(progress);
  const line = wait ? `${OTHER_TAB} ${wait}` : progress && describeProgress(progress);
  return html`<div class="recovery" data-testid="recovery">
    <p title=${health.cause.message}>${describeRecovery(health)}${after ? ` ${after}` : ''}</p>
    <div class="load">${renderBar(progress)}<span>${line}</span></div>
  </div>`;
}

export const recoveryStyles = [
  barStyles,
  css`
    .recovery { flex: 1; min-width: 0; font-size: var(--v-size); }
    .recovery p { margin: 0; }
    .load { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 12px; margin-top: 5px; color: var(--v-muted); font-size: var(--v-size); font-variant-numeric: tabular-nums; }
    .load progress { flex: 1 1 96px; max-width: 240px; }
  `,
];
