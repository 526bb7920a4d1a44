// Prints the conversation, and nothing else of the page.

import { css } from 'lit';
import type { VivaceChat } from '../chat/chat';
import { printChat } from '../chat/print_chat';

const pageStyles = css`@media print {
  body, body > main:is(*, .timing) { display: block; height: auto; }
  body > :not(main), main > :not(vivace-chat) { display: none !important; }
}`;

/** Makes the page print the conversation of its chat. */
export function printConversation(chat: VivaceChat): void {
  printChat(chat, document.documentElement, [document, pageStyles]);
}
