// The keys that lead to the search over all conversations: Ctrl or Cmd + K from anywhere, and / outside of texts.

import { isComposing } from '../shared/input_method';

/** Calls `search` at the keys, except while a dialog is open. */
export function connectSearchKeys(search: () => void): void {
  document.addEventListener('keydown', (event) => {
    const path = event.composedPath();
    const isInDialog = path.some((node) => node instanceof HTMLDialogElement);
    if (event.defaultPrevented || event.altKey || isComposing(event) || isInDialog) return;
    const isCommand = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'k';
    const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !takesText(path[0]);
    if (!isCommand && !isSlash) return;
    event.preventDefault();
    search();
  });
}

function takesText(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
