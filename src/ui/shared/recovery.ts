// The recovery of an engine in words, and the line that shows the model load again.

import { css, html } from 'lit';
import type { BackendName, Health } from '../../engine/engine';
import { formatDuration } from '../../shared/format';
import { barStyles, describeProgress, describeWait, OTHER_TAB, renderBar } from './load_bar';

export type Recovering = Extract<Health, { state: 'recovering' }>;

const ORDINALS = ['', 'first', 'second', 'third'];

/** A sentence without its end, such as 'The GPU was lost'. @param code the code of the loss */
export function lossOf(code: string): string {
  const what = code === 'device-lost' ? 'The GPU' : code === 'worker' ? 'The engine’s worker' : 'The model';
  return `${what} was lost`;
}

export function describeRecovery({ cause, loss }: Pick<Recovering, 'cause' | 'loss'>): string {
  const count = loss > 1 ? ` for the ${ORDINALS[loss] ?? `${loss}th`} time in ten minutes` : '';
  return `${lossOf(cause.code)}${count}. Loading the model again…`;
}

/** The remark under an answer that went on after a loss. @param onto the backend, if it is another than before */
export function recoveryRemark(code: string, pauseMs: number, onto: BackendName | null): string {
  const pause = pauseMs < 60_000 ? `${(pauseMs / 1000).toFixed(1)} s` : formatDuration(pauseMs);
  const rest = onto === null ? 'the answer went on' : `the ${onto === 'cpu' ? 'CPU' : 'GPU'} wrote the rest`;
  return `${lossOf(code)} for ${pause}; ${rest}.`;
}

export function describeWithoutGpu({
  nextTryAt,
}: Pick<Extract<Health, { state: 'without-gpu' }>, 'nextTryAt'>): string {
  const at = new Date(nextTryAt).toLocaleTimeString('en-GB');
  return (
    'The browser keeps this page from the GPU after its crashes, usually for about two minutes. ' +
    `The CPU answers meanwhile, much slower. Next try of the GPU: ${at}.`
  );
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
    .recovery { flex: 1; min-width: 0; font-size: 14px; }
    .recovery p { margin: 0; }
    .load { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 12px; margin-top: 5px; color: var(--v-muted); font-size: 13px; font-variant-numeric: tabular-nums; }
    .load progress { flex: 1 1 96px; max-width: 240px; }
  `,
];
