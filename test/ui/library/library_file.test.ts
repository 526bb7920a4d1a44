// What an import of conversations tells.

import { expect, test } from 'vitest';
import { exportConversations } from '../../../src/ui/conversation/conversation_file';
import { addTurn, type Conversation, newConversation } from '../../../src/ui/conversation/conversation_tree';
import { importFiles } from '../../../src/ui/library/library_file';

const conversations = ['Why?', 'How?', 'Who?'].map(
  (question) => addTurn(newConversation(), null, question).conversation,
);
const whole = exportConversations(conversations);
const file = (text: string, name: string) => new File([text], name, { type: 'application/json' });

/** A store that holds the first `known` of the conversations. */
const holding = (known: number) => async (given: readonly Conversation[]) => {
  const held = conversations.slice(0, known).map(({ id }) => id);
  const n = given.filter(({ id }) => held.includes(id)).length;
  return { added: given.length - n, known: n };
};

test.each([
  [0, '3 conversations imported.'],
  [1, '2 conversations imported. 1 conversation was here already.'],
  [3, '3 conversations were here already.'],
])('a file of three with %i that are known', async (known, text) => {
  expect(await importFiles([file(whole, 'a.json')], holding(known))).toEqual({ text, isError: false });
});

test('of several files, the refused one is named', async () => {
  const files = [file(whole, 'a.json'), file(whole.slice(0, -9), 'cut.json')];
  expect(await importFiles(files, holding(0))).toEqual({
    text: '3 conversations imported. 1 was refused. cut.json: This file is incomplete or damaged. Export it again, or copy it again.',
    isError: true,
  });
  expect((await importFiles(files.slice(1), holding(0))).text).toMatch(/^This file is incomplete/);
});
