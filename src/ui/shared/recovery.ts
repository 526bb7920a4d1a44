// The recovery of an engine in words, and the line that shows the model load again.

import { css, html } from 'lit';
import type { BackendName, Health } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { language } from '../../words/language';
import { words } from '../../words/words';
import { describeDuration, number } from './amounts';
import { barStyles, describeProgress, describeWait, renderBar } from './load_bar';

export type Recovering = Extract<Health, { state: 'recovering' }>;
type WithoutGpu = Extract<Health, { state: 'without-gpu' }>;

/** A sentence without its end, such as 'The GPU was lost'. @param code the code of the loss */
export function lossOf(code: string): string {
  const { loss } = words();
  if (code.startsWith('server-')) return loss.server;
  return Object.hasOwn(loss, code) ? loss[code as keyof typeof loss] : loss.other;
}

export function describeRecovery({ cause, loss }: Pick<Recovering, 'cause' | 'loss'>): string {
  const { recovery } = words();
  const lost = lossOf(cause.code);
  return loss > 1 ? recovery.reloadingAgain(lost, loss) : recovery.reloading(lost);
}

/**
 * The remark under an answer that went on.
 * @param code of the loss, or null where the answer moved to a GPU that is back
 * @param onto the backend, if it is another than before
 */
export function recoveryRemark(code: string | null, pauseMs: number, onto: BackendName | null): string {
  const { recovery } = words();
  const pause = pauseMs < 60_000 ? `${number(pauseMs / 1000, 1)} s` : describeDuration(pauseMs);
  if (code === null) return recovery.back(pause);
  if (onto === null) return recovery.answer(lossOf(code), pause);
  if (code.startsWith('server-')) return recovery.here(lossOf(code), pause);
  const onward = { cpu: recovery.cpu, webgpu: recovery.gpu, remote: recovery.server };
  return onward[onto](lossOf(code), pause);
}

/** The reason why the CPU answers, and the time of the next try of the GPU. */
export function describeWithoutGpu({ cause, nextTryAt }: Omit<WithoutGpu, 'state'>): string {
  const locale = language() === 'en' ? 'en-GB' : language();
  return words().recovery.nextTry(sayError(cause).text, new Date(nextTryAt).toLocaleTimeString(locale));
}

/** @param after what the reader should know next, or '' */
export function renderRecovery(health: Recovering, after = '') {
  const { progress } = health;
  const wait = progress && describeWait(progress);
  const line = wait ? `${words().load.otherTab} ${wait}` : progress && describeProgress(progress);
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
