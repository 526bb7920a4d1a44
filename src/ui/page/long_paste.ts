// A pasted text that is too long for a field becomes a file of the question. A field would lay it out for seconds, and
// again with each key.

import { pageWords } from '../../words/page_words';
import type { VivaceChat } from '../chat/chat';

/** Most letters of a paste that stay text. In short lines a field lays them out in a third of a second. */
const MOST_LETTERS = 50_000;

/** Attaches long texts that are pasted into the field for messages. The field and what it can undo stay the same. */
export function takeLongPastes(chat: VivaceChat): void {
  const take = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.length <= MOST_LETTERS || !isForMessages(event)) return;
    event.preventDefault();
    void chat.attach([new File([text.replace(/\r\n?/g, '\n')], pageWords().attach.pasted)]);
  };
  chat.addEventListener('paste', take, true); // before the field prepares for the text
}

/** False for the fields of the settings and of earlier questions. */
function isForMessages(event: Event): boolean {
  const [field] = event.composedPath();
  const root = field instanceof HTMLTextAreaElement && field.getRootNode();
  return root instanceof ShadowRoot && root.host.matches('vivace-composer');
}
