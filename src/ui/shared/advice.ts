// Errors for people: what happened, what to do next, and buttons for it. The engine's own sentences already name a
// remedy; the advice adds what this page can do. Pure.

import type { BackendName, EngineLoadOptions } from '../../engine/engine';
import { sayError } from '../../words/error_words';
import { words } from '../../words/words';

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

/** True for the name of an offer. */
export function isOffer(name: unknown): name is Offer {
  return typeof name === 'string' && Object.hasOwn(words().offers, name);
}

export interface Advice {
  what: string;
  /** The error's own English sentence, where `what` is another one. */
  detail?: string;
  next: string;
  offers: Offer[];
}

/** Advice in the language of each moment, as the reader may choose another while it is shown. */
export function inEachLanguage(advise: () => Advice): Advice {
  return {
    get what() {
      return advise().what;
    },
    get detail() {
      return advise().detail;
    },
    get next() {
      return advise().next;
    },
    get offers() {
      return advise().offers;
    },
  };
}

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

function said(error: unknown): Pick<Advice, 'what' | 'detail'> {
  const { text, detail } = sayError(error);
  return { what: text || words().advice.noMessage, ...(detail && { detail }) };
}

/** Advice under an answer that ended because the context is full. */
export function fullContext(): Advice {
  const { full, nothingDeleted } = words().advice;
  return { what: full, next: nothingDeleted, offers: ['forget', 'new', 'edit'] };
}

/** Advice for a failed answer. The conversation and the question are kept in any case. */
export function adviseRun(error: unknown, hasSystem = false): Advice {
  const cause = said(error);
  const text = words().advice;
  const code = codeOf(error);
  // The sentence names the remedy, and no model of this page is to be loaded again.
  if (code.startsWith('server-')) return { ...cause, next: text.conversationKept, offers: ['retry'] };
  switch (code) {
    case 'context-overflow':
      return {
        ...cause,
        next: text.shorten,
        offers: ['forget', 'new', 'edit'],
      };
    case 'chat-template':
      return hasSystem
        ? {
            ...cause,
            next: text.withoutSystem,
            offers: ['no-system', 'edit'],
          }
        : { ...cause, next: text.editOrOther, offers: ['edit'] };
    case 'invalid-request':
      return { ...cause, next: text.editOrSettings, offers: ['edit'] };
    case 'device-lost':
      return { ...cause, next: text.conversationKept, offers: ['reload', 'cpu', 'retry'] };
    case 'worker':
      return { ...cause, next: text.conversationKept, offers: ['reload', 'retry'] };
    case 'gpu-memory':
    case 'gpu-program':
      return canRetry(error)
        ? { ...cause, next: text.reloadOrCpu, offers: ['reload', 'cpu'] }
        : { ...cause, next: text.cpuOrOther, offers: ['cpu'] };
    case 'attention-unavailable':
      return { ...cause, next: text.auto, offers: ['auto-attention'] };
    default:
      return canRetry(error)
        ? {
            ...cause,
            next: text.againOrReload,
            offers: ['retry', 'reload'],
          }
        : { ...cause, next: text.editOrOther, offers: ['edit'] };
  }
}

/** Advice for an answer that failed after some of its text. That can go on, too. */
export function adviseCut(advice: Advice): Advice {
  const offers = advice.offers.flatMap((offer): Offer[] => (offer === 'retry' ? ['continue', 'retry'] : [offer]));
  return { ...advice, offers };
}

/** Advice for an answer that could not go on. All of its text is kept. */
export function adviseContinue(error: unknown): Advice {
  const text = words().advice;
  const cause = said(error);
  switch (codeOf(error)) {
    case 'context-overflow':
      return { ...cause, next: text.makeRoom, offers: ['forget', 'new'] };
    case 'chat-template':
    case 'invalid-request':
      return { what: text.continuesNothing, next: text.regenerate, offers: [] };
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
  const cause = said(error);
  const text = words().advice;
  const again = canRetry(error);
  const advise = (next: string, ...offers: Offer[]): Advice => {
    return again ? { ...cause, next: text.againOr(next), offers: ['retry', ...offers] } : { ...cause, next, offers };
  };
  switch (codeOf(error)) {
    case 'model-fetch':
      return advise(text.ownFile);
    case 'model-file':
    case 'memory':
    case 'unsupported-model':
    case 'tokenizer':
      return advise(text.otherModel);
    case 'webgpu-unavailable':
    case 'gpu-memory':
    case 'gpu-program':
    case 'device-lost':
      return advise(text.useCpu, 'cpu');
    case 'worker':
      return {
        ...cause,
        next: text.worker,
        offers: again ? ['retry'] : [],
      };
    case 'attention-unavailable':
      return { ...cause, next: text.auto, offers: ['auto-attention'] };
    case 'invalid-request':
      return { ...cause, next: text.changeSettings, offers: [] };
    default:
      return { ...cause, next: text.reloadPage, offers: ['retry'] };
  }
}
