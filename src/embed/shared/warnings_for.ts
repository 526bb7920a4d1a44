// What a visitor reads of the engine's warnings and failures: nothing that only the site or an engineer can act on.

import type { Warning } from '../../engine/engine';
import type { VivaceChat } from '../../ui/chat/chat';
import type { LoadState } from '../../ui/model/loader';
import { inEachLanguage } from '../../ui/shared/advice';
import { words } from '../../words/words';

/** Of kernels, and of values for sampling that a server does not take. */
const OF_ENGINEERS = /^(?:attention|step)-|^server-option$/;

/** Keeps the warnings that a reader can act on. @param settings the visitor's choices: `all` has all warnings */
export function warningsFor(settings: VivaceChat['settings'], warnings: readonly Warning[]): readonly Warning[] {
  return settings === 'all' ? warnings : warnings.filter(({ code }) => !OF_ENGINEERS.test(code));
}

/**
 * A failed load as a visitor reads it: the chat is not available, and the reason is folded. A visitor has no other
 * model and no address to check. Where the CPU is a way out, the advice says so and stays.
 */
export function failureFor(settings: VivaceChat['settings'], state: LoadState): LoadState {
  if (settings === 'all' || state.kind !== 'failed' || state.advice.offers.includes('cpu')) return state;
  const { advice } = state;
  const told = inEachLanguage(() => {
    const { what, detail = what, offers } = advice;
    const { unavailable, later } = words().embed;
    return { what: unavailable, detail, next: later, offers };
  });
  return { ...state, advice: told };
}
