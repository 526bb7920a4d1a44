// The texts of the chat in the language of the interface: for the rooms that the page and the script tag share.

import { type ChatWords, chat } from './en/chat';
import { translation } from './language';

export function words(): ChatWords {
  return translation()?.chat ?? chat;
}
