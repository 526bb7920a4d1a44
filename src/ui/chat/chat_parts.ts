// Templates of the chat without state: the empty conversation, the tuner's progress, the context meter, the line of
// memory.

import { html, nothing } from 'lit';
import type { BackendName, Engine, Health } from '../../engine/engine';
import { formatParameters } from '../../shared/format';
import { lostOffers, OFFER_LABELS, type Offer, WRITES_NO_TEXT } from '../shared/advice';
import { icons } from '../shared/icons';
import { describeWithoutGpu, renderRecovery } from '../shared/recovery';
import type { ChatAttachments } from './chat_attachments';
import { NEARLY_FULL } from './chat_context';

interface EmptyConversation {
  readonly heading: string;
  readonly welcome: string;
  readonly examples: readonly string[];
  readonly engine: Engine | null;
}

export function renderEmpty(chat: EmptyConversation, onExample: (example: string) => void) {
  const { model, embeddings } = chat.engine?.info ?? {};
  const about = model
    ? `${model.name}, ${formatParameters(model.parameters)} parameters, is running in this page.`
    : '';
  return html`<div class="empty">
    <h1>${chat.heading}</h1>
    <p dir="auto">${chat.welcome || about}</p>
    <slot name="loading"></slot>
    <div class="examples">
      ${(embeddings?.only ? [] : chat.examples).map(
        (example) =>
          html`<button class="example" data-testid="example" @click=${() => onExample(example)}>${example}</button>`,
      )}
    </div>
  </div>`;
}

/** The files that wait for their question, and a sentence about those that were left out. */
export function renderAttached(attached: ChatAttachments) {
  const { files, complaint } = attached;
  if (files.length === 0 && complaint === '') return nothing;
  return html`<div slot="above" class="attached">
    <vivace-files removable .files=${files} @vivace-remove=${(event: CustomEvent<number>) => attached.remove(event.detail)}></vivace-files>
    ${complaint ? html`<p role="alert" data-testid="attach-complaint">${complaint}</p>` : nothing}
  </div>`;
}

/** The progress of a tuner that keeps the engine from answering. */
export interface Tuning {
  done: number;
  /** 0 while unknown. */
  total: number;
}

/** A strip over the composer: the tuner's progress, its effect on a question, and a button that cancels it. */
export function renderTuning({ done, total }: Tuning, onCancel: () => void) {
  const count = total > 0 ? `, ${done.toLocaleString('en')} of ${total.toLocaleString('en')}` : '';
  return html`<div class="tuning" data-testid="tuning">
    <p>This GPU is being tuned${count}. A question waits for that.</p>
    <button class="button" data-testid="cancel-tuning" aria-label="Cancel tuning" @click=${onCancel}>Cancel</button>
  </div>`;
}

/**
 * A strip over the composer: what happens to an engine that is not well.
 * @param backend the engine's @param onOffer takes an offer to load the model again
 */
export function renderHealth(
  health: Exclude<Health, { state: 'well' }>,
  backend: BackendName,
  onOffer: (offer: Offer) => void,
) {
  const { state, cause } = health;
  if (state === 'recovering')
    return html`<div class="tuning health" data-testid="health" data-state=${state} role="status">
      ${renderRecovery(health, 'A question waits for that.')}
    </div>`;
  if (state === 'without-gpu')
    return html`<div class="tuning health" data-testid="health" data-state=${state} role="status">
      <p>${describeWithoutGpu(health)}</p>
    </div>`;
  const button = (offer: Offer) =>
    html`<button class="button" data-testid="offer-${offer}" @click=${() => onOffer(offer)}>${OFFER_LABELS[offer]}</button>`;
  return html`<div class="tuning health" data-testid="health" data-state=${state} role="alert">
    <p>${cause.message} The conversation is kept.</p>
    <div class="offers">${lostOffers(cause, backend).map(button)}</div>
  </div>`;
}

/** A strip over the composer of a model that cannot answer. */
export function renderNoText() {
  return html`<div class="tuning" data-testid="writes-no-text"><p>${WRITES_NO_TEXT}</p></div>`;
}

/** The part of the context that the conversation fills. Empty before the first answer. */
export function renderMeter(used: number | null, all: number | undefined) {
  if (used === null || all === undefined) return nothing;
  const words = `${used.toLocaleString('en')} of ${all.toLocaleString('en')} tokens`;
  const title = `The conversation fills ${words} of the context`;
  return html`<span class="meter" data-testid="meter" data-state=${used / all > NEARLY_FULL ? 'nearly-full' : 'roomy'} title=${title}>
    <progress max=${all} .value=${Math.min(used, all)} aria-label=${title}></progress>
    <span>${words}</span>
  </span>`;
}

/** The switch of thinking, beside the button that sends. */
export function renderThinking(isOn: boolean, onSwitch: () => void) {
  const title = isOn ? 'The model thinks before it answers' : 'The model answers at once';
  return html`<button slot="end" class="thinking" data-testid="thinking" aria-pressed=${isOn} title=${title} @click=${onSwitch}>
    ${icons.think}<span>Thinking</span>
  </button>`;
}

/** The line between the turns that the model no longer reads and the others. */
export function renderMemoryLine() {
  return html`<p class="memory" data-testid="memory">The model no longer reads what is above</p>`;
}
