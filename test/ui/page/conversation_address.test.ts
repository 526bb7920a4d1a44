// The conversation in the address: which fragments name one, and when the history gets a new entry.

import { expect, test } from 'vitest';
import { newConversation } from '../../../src/ui/conversation/conversation_tree';
import { addressChange, conversationIn } from '../../../src/ui/page/conversation_address';
import { asking } from '../conversation/asking';

test('only an id is one', () => {
  const id = '0123456789abcdef0123456789abcdef';
  expect(conversationIn(`#c=${id}`)).toBe(id);
  for (const other of ['', '#', '#c=', '#c=7', `#c=${id}0`, `#C=${id}`, `#c=${id}&x`, '#c=<script>']) {
    expect(conversationIn(other)).toBeNull();
  }
});

test('another conversation is a new entry, and an entry without one is taken over', () => {
  const { conversation } = asking('Hello');
  const other = asking('Bye').conversation;
  const here = `#c=${conversation.id}`;
  expect(addressChange('', conversation)).toEqual({ how: 'replaceState', fragment: here });
  expect(addressChange('#top', conversation)).toEqual({ how: 'replaceState', fragment: here });
  expect(addressChange(here, conversation)).toBeNull();
  expect(addressChange(here, other)).toEqual({ how: 'pushState', fragment: `#c=${other.id}` });
  expect(addressChange(here, other, true)).toMatchObject({ how: 'replaceState' });
  expect(addressChange(here, newConversation())).toEqual({ how: 'pushState', fragment: '' });
  expect(addressChange('', newConversation())).toBeNull();
});
