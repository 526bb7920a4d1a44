// Which stretches of a rendered conversation did a person type? The conversation is rendered a second time with a random
// marker in place of each message; where a marker comes out, the message goes in, marked as plain. The marker is new for
// each call, so that no message can forge it.

import { ChatTemplateError } from '../errors';
import type { ChatMessage } from './chat_template';
import type { TextPart } from './tokenizer';

export interface HiddenMessages {
  readonly messages: readonly ChatMessage[];
  readonly nonce: string;
  readonly contents: readonly string[];
}

/** Spaces around a message stay outside its marker, so that a template which trims messages still can. */
export function hideContents(messages: readonly ChatMessage[]): HiddenMessages {
  const random = crypto.getRandomValues(new Uint32Array(5));
  const nonce = Array.from(random, (word) => word.toString(36).padStart(7, '0')).join('');
  const contents = messages.map((message) => message.content);
  const hidden = messages.map(({ role, content }, i) => {
    const core = content.trim();
    if (core === '') return { role, content };
    const start = content.indexOf(core);
    return { role, content: `${content.slice(0, start)}${nonce}x${i}x${content.slice(start + core.length)}` };
  });
  return { messages: hidden, nonce, contents };
}

export function revealContents(rendered: string, { nonce, contents }: HiddenMessages): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  let trailing = ''; // spaces at the end of the message before, as yet part of the template's text
  const template = (text: string) => {
    if (text.includes(nonce.slice(0, 8)) || text.includes(nonce.slice(-8))) {
      throw new ChatTemplateError(
        'The chat template takes messages apart, and a message holds the text of a control token. Remove that text from the message.',
      );
    }
    const end = trailing !== '' && text.startsWith(trailing) ? trailing.length : 0;
    if (end > 0) parts.push({ text: text.slice(0, end), plain: true });
    parts.push({ text: text.slice(end), plain: false });
  };
  for (const match of rendered.matchAll(new RegExp(`${nonce}x(\\d+)x`, 'g'))) {
    const content = contents[Number(match[1])];
    const core = content.trim();
    const leading = content.slice(0, content.indexOf(core));
    const between = rendered.slice(from, match.index);
    const kept = between.endsWith(leading) ? leading : '';
    template(between.slice(0, between.length - kept.length));
    parts.push({ text: kept + core, plain: true });
    trailing = content.slice(content.indexOf(core) + core.length);
    from = match.index + match[0].length;
  }
  template(rendered.slice(from));
  return parts.filter((part) => part.text !== '');
}
