// A helper that adds an answered question to a conversation.

import type { Turn } from '../../../src/ui/conversation/conversation';
import { addTurn, type Conversation, newConversation } from '../../../src/ui/conversation/conversation_tree';

/** The conversation with one more turn, answered, after the newest one. Default: in a new conversation. */
export function asking(question: string, to = newConversation()): { conversation: Conversation; turn: Turn } {
  const { conversation, turn } = addTurn(to, to.turns.at(-1)?.id ?? null, question);
  Object.assign(turn, { state: 'done', answer: `Answer to ${question}`, finishReason: 'eos' });
  return { conversation, turn };
}
