// The content of a message or of an item: its check, and its text.

import { unsupported } from '../http/errors';
import type { WireContent } from '../http/wire_types';
import { type Check, either, list, object, text } from './schema';

/** A content: a text, or parts that each hold a text. */
export function content(...types: readonly string[]): Check {
  const part: Check = (value, param) => {
    object({ 'type!': text })(value, param);
    const { type } = value as { type: string };
    if (!types.includes(type)) throw unsupported(`${param}.type`, 'the model reads text');
    object({ [type === 'refusal' ? 'refusal!' : 'text!']: text })(value, param);
  };
  return either(text, list(part));
}

export function textOf(content: WireContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? part.refusal).join('');
}
