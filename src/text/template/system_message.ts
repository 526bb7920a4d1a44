// System messages for chat templates that show none.

import type { ChatMessage } from './message';
import type { Probe } from './syntax/chat_syntax';
import { TEXT, user } from './syntax/needles';

/** True if the template shows a system message. Some reject one, others silently omit it. */
export function showsSystemMessage(probe: Probe): boolean {
  return probe({ messages: [{ role: 'system', content: TEXT }, user] })?.includes(TEXT) ?? false;
}

/** Moves the system message to the start of the next user message, as llama.cpp does for templates without one. */
export function systemIntoUser(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  let system = '';
  for (const message of messages) {
    const { role, content } = message;
    if (role === 'system') {
      system += system === '' ? content : `\n${content}`;
    } else if (role === 'user' && system !== '') {
      merged.push({ role, content: `${system}\n${content}` });
      system = '';
    } else {
      merged.push(message);
    }
  }
  if (system !== '') merged.push({ role: 'user', content: system });
  return merged;
}
