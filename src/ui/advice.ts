// Errors as people need them: what happened, what to do next, and buttons for it. Pure.
// The engine's own sentences name the remedy already; what is added here is what this page can do.

import { VivaceError } from '../engine/engine';
import type { LoadSettings } from './settings_fields';

export type Offer = 'retry' | 'edit' | 'new' | 'reload' | 'auto-attention' | 'cpu';

export interface Advice {
  what: string;
  next: string;
  offers: Offer[];
}

export const OFFER_LABELS: Record<Offer, string> = {
  retry: 'Try again',
  edit: 'Edit the message',
  new: 'New conversation',
  reload: 'Load the model again',
  'auto-attention': 'Go back to auto',
  cpu: 'Use the CPU',
};

/** What the model is loaded with after the reader took an offer. */
export function settingsAfter(offer: Offer, settings: LoadSettings): LoadSettings {
  if (offer === 'auto-attention') return { ...settings, attention: 'auto' };
  if (offer === 'cpu') return { ...settings, backend: 'cpu' };
  return settings;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message || 'The error came without a message.';
}

/** Of an answer that failed. The conversation and the question are kept in any case. */
export function adviseRun(error: unknown): Advice {
  const what = said(error);
  switch (error instanceof VivaceError ? error.code : '') {
    case 'context-overflow':
      return { what, next: 'Your message is kept: edit it, or start over.', offers: ['new', 'edit'] };
    case 'invalid-request':
    case 'chat-template':
      return { what, next: 'Your message is kept: edit it, or check the settings.', offers: ['edit'] };
    case 'device-lost':
    case 'worker':
      return { what, next: 'The conversation is kept.', offers: ['reload', 'retry'] };
    case 'gpu-memory':
    case 'gpu-program':
      return { what, next: 'Load the model again, or compute on the CPU, slowly.', offers: ['reload', 'cpu'] };
    case 'attention-unavailable':
      return { what, next: 'Auto takes an attention that runs here.', offers: ['auto-attention'] };
    default:
      return {
        what,
        next: 'Your message is kept. Try again; if it fails again, load the model again.',
        offers: ['retry', 'reload'],
      };
  }
}

/** Of a model that did not load. */
export function adviseLoad(error: unknown): Advice {
  const what = said(error);
  switch (error instanceof VivaceError ? error.code : '') {
    case 'model-fetch':
      return { what, next: 'Try again, or open a model file of your own.', offers: ['retry'] };
    case 'model-file':
    case 'unsupported-model':
    case 'tokenizer':
      return { what, next: 'Open another model: a .gguf file of a LLaMA-style model.', offers: ['retry'] };
    case 'webgpu-unavailable':
    case 'gpu-memory':
    case 'gpu-program':
    case 'device-lost':
      return { what, next: 'Try again, or compute on the CPU, slowly.', offers: ['retry', 'cpu'] };
    case 'worker':
      return {
        what,
        next: 'Reload the page. If that does not help, the page’s policy forbids workers.',
        offers: ['retry'],
      };
    case 'attention-unavailable':
      return { what, next: 'Auto takes an attention that runs here.', offers: ['auto-attention'] };
    default:
      return { what, next: 'Try again; if it fails again, reload the page.', offers: ['retry'] };
  }
}
