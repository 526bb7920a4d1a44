// embed_remember.js: keeps the conversation of a tag with data-remember, which adds this script when a visitor opens
// the chat.

import { handOver } from '../fetch/hand_over';
import type { RememberPart } from '../remember/kept';
import { deleteKept, KeptConversation } from '../remember/kept_conversation';

const part: RememberPart = {
  async keep(chat, options) {
    const kept = new KeptConversation(chat, options);
    await kept.start();
    return kept;
  },
  forget: deleteKept,
};
handOver(part);
