// Templates of the chat without state: the empty conversation, the tuner's progress, the context meter, the line of
// memory.

import { html, nothing } from 'lit';
import type { BackendName, ChatEngine, Health } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { words } from '../../words/words';
import { lostOffers, type Offer } from '../shared/advice';
import { number, percentText } from '../shared/amounts';
import { icons } from '../shared/icons';
import { describeWithoutGpu, renderRecovery } from '../shared/recovery';
import type { ChatAttachments } from './chat_attachments';
import { NEARLY_FULL } from './chat_context';

interface EmptyConversation {
  readonly heading: string;
  readonly welcome: string;
  readonly examples: readonly string[] | null;
  readonly tellsStories: boolean;
  /** True in a page of its own. Another page has its own first heading. */
  readonly shortcuts: boolean;
  readonly engine: ChatEngine | null;
}

export function renderEmpty(chat: EmptyConversation, onExample: (example: string) => void) {
  const { engine, tellsStories } = chat;
  const text = words().chat;
  const { stories, anything } = text;
  const offered = chat.examples ?? (tellsStories ? stories.examples : []);
  return html`<div class="empty">
    <h1 aria-level=${chat.shortcuts ? nothing : 2}>${chat.heading || (tellsStories ? stories : anything).heading}</h1>
    <slot name="welcome"><p dir="auto">${chat.welcome || (keepsTexts(engine) ? text.runsHere : '')}</p></slot>
    <slot name="loading"></slot>
    <div class="examples">
      ${(engine?.info.embeddings?.only ? [] : offered).map(
        (example) =>
          html`<button class="example" data-testid="example" @click=${() => onExample(example)}>${example}</button>`,
      )}
    </div>
    <slot name="next"></slot>
  </div>`;
}

/** True if no text leaves this page: neither a server nor a pair of engines with one answers. */
const keepsTexts = (engine: ChatEngine | null): boolean =>
  engine !== null && engine.info.backend !== 'remote' && !('local' in engine);

/** The files that wait for their question, and a sentence about those that were left out. */
export function renderAttached(attached: ChatAttachments) {
  const { files, complaint } = attached;
  if (files.length === 0 && complaint === '') return nothing;
  return html`<div slot="above" class="attached">
    <vivace-files removable .files=${files} @vivace-remove=${(event: CustomEvent<number>) => attached.remove(event.detail)}></vivace-files>
    ${complaint ? html`<p role="alert" data-testid="attach-complaint">${complaint}</p>` : nothing}
  </div>`;
}

/** The progress of a tuner, or of a measurement, that keeps the engine from answering. */
export interface Tuning {
  done: number;
  /** 0 while unknown. */
  total: number;
  /** True for runs that are measured again and again. */
  isRepeat?: boolean;
}

/** A strip over the composer: the tuner's progress, its effect on a question, and a button that cancels it. */
export function renderTuning({ done, total, isRepeat }: Tuning, onCancel: () => void) {
  const { chat: text, measuring } = words();
  const tuning = total > 0 ? text.tuningPart(number(done, 0), number(total, 0)) : text.tuning;
  return html`<div class="tuning" data-testid="tuning">
    <p>${isRepeat ? measuring.strip(Math.min(done + 1, total), total) : tuning}</p>
    <button class="button" data-testid="cancel-tuning" aria-label=${isRepeat ? measuring.cancel : text.cancelTuning} @click=${onCancel}>${text.cancel}</button>
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
      ${renderRecovery(health, words().recovery.sendsThen)}
    </div>`;
  if (state === 'without-gpu')
    return html`<div class="tuning health" data-testid="health" data-state=${state} role="status">
      <p>${describeWithoutGpu(health)}</p>
    </div>`;
  const button = (offer: Offer) =>
    html`<button class="button" data-testid="offer-${offer}" @click=${() => onOffer(offer)}>${words().offers[offer]}</button>`;
  return html`<div class="tuning health" data-testid="health" data-state=${state} role="alert">
    <p>${words().chat.kept(sayError(cause).text)}</p>
    <div class="offers">${lostOffers(cause, backend).map(button)}</div>
  </div>`;
}

/** A strip over the composer: why a message is not sent now. */
export function renderWhyNot(testId: 'writes-no-text' | 'sent-when-ready', sentence: string) {
  return html`<div class="tuning" data-testid=${testId}><p>${sentence}</p></div>`;
}

/** The part of the context that the conversation fills. Empty before the first answer. */
export function renderMeter(used: number | null, all: number | undefined) {
  if (used === null || !all) return nothing; // a server may not tell the length of its context
  const text = words().chat;
  const title = text.memoryTitle(number(used, 0), number(all, 0));
  return html`<span class="meter" data-testid="meter" data-state=${used / all > NEARLY_FULL ? 'nearly-full' : 'roomy'} title=${title}>
    <progress max=${all} .value=${Math.min(used, all)} aria-label=${title}></progress>
    <span>${text.memory(percentText(Math.min(1, used / all)))}</span>
  </span>`;
}

/** The switch of thinking, beside the button that sends. */
export function renderThinking(isOn: boolean, onSwitch: () => void) {
  const text = words().chat;
  const title = isOn ? text.thinks : text.answersAtOnce;
  return html`<button slot="end" class="thinking" data-testid="thinking" aria-pressed=${isOn} title=${title} @click=${onSwitch}>
    ${icons.think}<span>${text.thinking}</span>
  </button>`;
}

/** The line between the turns that the model no longer reads and the others. */
export function renderMemoryLine() {
  return html`<p class="memory" data-testid="memory">${words().chat.forgotten}</p>`;
}
