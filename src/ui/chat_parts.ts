// Pieces of the chat that only show: the empty conversation, the tuner at work, the context meter.

import { html, nothing } from 'lit';
import type { Engine } from '../engine/engine';
import { formatParameters } from './format';

interface EmptyConversation {
  readonly heading: string;
  readonly welcome: string;
  readonly examples: readonly string[];
  readonly engine: Engine | null;
}

export function renderEmpty(chat: EmptyConversation, onExample: (example: string) => void) {
  const model = chat.engine?.info.model;
  const about = model
    ? `${model.name}, ${formatParameters(model.parameters)} parameters, is running in this page.`
    : '';
  return html`<div class="empty">
    <h1>${chat.heading}</h1>
    <p>${chat.welcome || about}</p>
    <slot name="loading"></slot>
    <div class="examples">
      ${chat.examples.map(
        (example) =>
          html`<button class="example" data-testid="example" @click=${() => onExample(example)}>${example}</button>`,
      )}
    </div>
  </div>`;
}

/** How far the tuner is that keeps the engine from answering. */
export interface Tuning {
  done: number;
  /** 0 while unknown. */
  total: number;
}

/** A strip over the composer: what runs, what that means for a question, and a way out. */
export function renderTuning({ done, total }: Tuning, onCancel: () => void) {
  const count = total > 0 ? `, ${done.toLocaleString('en')} of ${total.toLocaleString('en')}` : '';
  return html`<div class="tuning" data-testid="tuning">
    <p>Attention is being tuned${count}. A question waits for that.</p>
    <button class="button" data-testid="cancel-tuning" aria-label="Cancel tuning" @click=${onCancel}>Cancel</button>
  </div>`;
}

/** How much of the context the conversation has filled; nothing before the first answer. */
export function renderMeter(used: number | null, all: number | undefined) {
  if (used === null || all === undefined) return nothing;
  const count = `${used.toLocaleString('en')} / ${all.toLocaleString('en')}`;
  const title = `Tokens of the conversation, of those that the context holds: ${count}`;
  return html`<span class="meter" title=${title}>
    <progress max=${all} .value=${Math.min(used, all)} aria-label=${title}></progress>
    <span>${count}</span>
  </span>`;
}
