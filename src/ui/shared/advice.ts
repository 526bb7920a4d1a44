// Errors for people: what happened, what to do next, and buttons for it. The engine's own sentences already name a
// remedy; the advice adds what this page can do. Pure.

import type { BackendName, EngineLoadOptions } from '../../engine/engine';
import { lowerFirst } from './sentences';

export type Offer =
  | 'retry'
  | 'continue'
  | 'edit'
  | 'new'
  | 'forget'
  | 'no-system'
  | 'reload'
  | 'auto-attention'
  | 'cpu'
  | 'keep'
  | 'former';

export interface Advice {
  what: string;
  next: string;
  offers: Offer[];
}

export const OFFER_LABELS: Record<Offer, string> = {
  retry: 'Try again',
  continue: 'Continue',
  edit: 'Edit the message',
  new: 'New conversation',
  forget: 'Go on without the oldest messages',
  'no-system': 'Go on without the system prompt',
  reload: 'Load the model again',
  'auto-attention': 'Go back to auto',
  cpu: 'Use the CPU',
  keep: 'Go on with the running model',
  former: 'Load the model from before',
};

/** The settings of the next load after the reader has taken an offer. */
export function settingsAfter<T extends Pick<EngineLoadOptions, 'attention' | 'backend'>>(
  offer: Offer,
  settings: T,
): T {
  if (offer === 'auto-attention') return { ...settings, attention: 'auto' };
  if (offer === 'cpu') return { ...settings, backend: 'cpu' };
  return settings;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The code of an error. Its class is no evidence: two scripts on a page may each have their own classes. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** False for an error that says that a retry would end the same way. */
function canRetry(error: unknown): boolean {
  return !(error instanceof Error && 'canRetry' in error && error.canRetry === false);
}

function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message || 'The error came without a message.';
}

/** Said of a model that can only embed text. */
export const WRITES_NO_TEXT =
  'This model writes no answers: it turns texts into vectors, for search and comparison. Open a chat model to chat.';

/** Said of a model whose chat template cannot open an answer again. */
const CONTINUES_NOTHING = 'This model cannot continue an answer.';

/** Advice under an answer that ended because the context is full. */
export const FULL_CONTEXT: Advice = {
  what: 'The context is full: the model has no room for more.',
  next: 'Nothing is deleted, whatever you choose.',
  offers: ['forget', 'new', 'edit'],
};

/** Advice for a failed answer. The conversation and the question are kept in any case. */
export function adviseRun(error: unknown, hasSystem = false): Advice {
  const what = said(error);
  switch (codeOf(error)) {
    case 'context-overflow':
      return {
        what,
        next: 'Your message is kept: make it shorter, or make room for it.',
        offers: ['forget', 'new', 'edit'],
      };
    case 'chat-template':
      return hasSystem
        ? {
            what,
            next: 'Some models take no system prompt. Go on without it, or change it in the settings.',
            offers: ['no-system', 'edit'],
          }
        : { what, next: 'Your message is kept: edit it, or open another model.', offers: ['edit'] };
    case 'invalid-request':
      return { what, next: 'Your message is kept: edit it, or check the settings.', offers: ['edit'] };
    case 'device-lost':
      return { what, next: 'The conversation is kept, with the text so far.', offers: ['reload', 'cpu', 'retry'] };
    case 'worker':
      return { what, next: 'The conversation is kept, with the text so far.', offers: ['reload', 'retry'] };
    case 'gpu-memory':
    case 'gpu-program':
      return canRetry(error)
        ? { what, next: 'Load the model again, or compute on the CPU, slowly.', offers: ['reload', 'cpu'] }
        : { what, next: 'Compute on the CPU, slowly, or open another model.', offers: ['cpu'] };
    case 'attention-unavailable':
      return { what, next: 'Auto takes an attention that runs here.', offers: ['auto-attention'] };
    default:
      return canRetry(error)
        ? {
            what,
            next: 'Your message is kept. Try again; if it fails again, load the model again.',
            offers: ['retry', 'reload'],
          }
        : { what, next: 'Your message is kept: edit it, or open another model.', offers: ['edit'] };
  }
}

/** Advice for an answer that failed after some of its text. That can go on, too. */
export function adviseCut(advice: Advice): Advice {
  const offers = advice.offers.flatMap((offer): Offer[] => (offer === 'retry' ? ['continue', 'retry'] : [offer]));
  return { ...advice, offers };
}

/** Advice for an answer that could not go on. All of its text is kept. */
export function adviseContinue(error: unknown): Advice {
  const what = said(error);
  switch (codeOf(error)) {
    case 'context-overflow':
      return { what, next: 'The answer is kept. Make room to continue it.', offers: ['forget', 'new'] };
    case 'chat-template':
    case 'invalid-request':
      return { what: CONTINUES_NOTHING, next: 'It is kept as it is. Regenerate for another one.', offers: [] };
    default:
      return adviseCut(adviseRun(error));
  }
}

/** The ways back from an engine that was lost for good: those that can work. @param backend that of the engine */
export function lostOffers(cause: unknown, backend: BackendName): Offer[] {
  const offers: Offer[] = canRetry(cause) ? ['reload'] : [];
  if (backend !== 'cpu' && codeOf(cause) !== 'worker') offers.push('cpu');
  return offers.length > 0 ? offers : ['reload'];
}

/** Advice for a failed load. Offers a retry only if the result may differ. */
export function adviseLoad(error: unknown): Advice {
  const what = said(error);
  const again = canRetry(error);
  const advise = (next: string, ...offers: Offer[]): Advice => {
    return again
      ? { what, next: `Try again, or ${lowerFirst(next)}`, offers: ['retry', ...offers] }
      : { what, next, offers };
  };
  switch (codeOf(error)) {
    case 'model-fetch':
      return advise('Open a model file of your own.');
    case 'model-file':
    case 'memory':
    case 'unsupported-model':
    case 'tokenizer':
      return advise('Open another model or file.');
    case 'webgpu-unavailable':
    case 'gpu-memory':
    case 'gpu-program':
    case 'device-lost':
      return advise('Compute on the CPU, slowly.', 'cpu');
    case 'worker':
      return {
        what,
        next: 'Reload the page. If that does not help, the page’s policy forbids workers.',
        offers: again ? ['retry'] : [],
      };
    case 'attention-unavailable':
      return { what, next: 'Auto takes an attention that runs here.', offers: ['auto-attention'] };
    case 'invalid-request':
      return { what, next: 'Change the settings and load again, or open another model.', offers: [] };
    default:
      return { what, next: 'Try again; if it fails again, reload the page.', offers: ['retry'] };
  }
}
