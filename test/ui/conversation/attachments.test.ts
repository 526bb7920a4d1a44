// Files that come with a question: what the model reads, what is stored, and versions.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentOf, lettersLeft } from '../../../src/ui/conversation/attachments';
import { newTurn, toMessages } from '../../../src/ui/conversation/conversation';
import { exportConversations, importConversations } from '../../../src/ui/conversation/conversation_file';
import { mergeGrown } from '../../../src/ui/conversation/conversation_merge';
import { parseConversation } from '../../../src/ui/conversation/conversation_parse';
import { addTurn, newConversation, replaceTurn } from '../../../src/ui/conversation/conversation_tree';
import { versionsOf } from '../../../src/ui/conversation/versions';

const notes = { name: 'notes.md', text: 'milk\n' };
const question = 'What do I need?';

test('the model reads the name and the fenced text of each file before the question', () => {
  const turn = newTurn(question, null, [notes, { name: 'b.txt', text: 'b' }]);
  const content = 'notes.md:\n```\nmilk\n```\n\nb.txt:\n```\nb\n```\n\nWhat do I need?';
  expect(toMessages([turn], '')).toEqual([{ role: 'user', content }]);
  expect(contentOf(newTurn(question))).toBe(question);
});

test('no text closes its fence, and no name opens one', () => {
  const text = fc.array(fc.constantFrom('`', '``', '```', '\n', ' ', 'a')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (name, text) => {
      const lines = contentOf({ question: 'Q', attachments: [{ name, text }] }).split('\n');
      const fence = lines[1];
      expect(fence).toMatch(/^`{3,}$/);
      expect(lines.slice(2, -3).some((line) => line.includes(fence))).toBe(false);
      expect(lines.slice(-3)).toEqual([fence, '', 'Q']);
      expect(lines[0]).not.toContain('`');
    }),
  );
});

test('files are stored, exported and imported with their question; older copies have none', () => {
  const { conversation } = addTurn(newConversation(), null, question, [notes]);
  const [copy] = importConversations(exportConversations([conversation])).conversations;
  expect(copy.turns[0].attachments).toEqual([notes]);
  const { attachments: _, ...older } = newTurn(question);
  expect(parseConversation({ ...newConversation(), turns: [older] }).turns[0].attachments).toEqual([]);
});

test.each([
  ['no list', 'x', /its list of attachments is not a list/],
  ['too many', Array(11).fill(notes), /11 entries, and 10 are the most/],
  ['a long name', [{ name: 'x'.repeat(201), text: '' }], /the name of an attachment has 201 letters/],
  ['a long text', [{ name: 'x', text: 'x'.repeat(1_000_001) }], /an attachment has 1000001 letters/],
  ['no text', [{ name: 'x', text: 1 }], /an attachment is not text/],
])('a file with %s is refused', (_, attachments, reason) => {
  const turn = { ...newTurn(question), attachments };
  expect(() => parseConversation({ ...newConversation(), turns: [turn] })).toThrow(reason);
});

test('many answers to a question with files stay within what a stored conversation may have', () => {
  const large = [{ name: 'a.txt', text: 'x'.repeat(1_000_000) }];
  let { conversation, turn } = addTurn(newConversation(), null, question, large);
  for (let i = 0; i < 30; i++) {
    turn.answer = 'An answer.';
    ({ conversation, turn } = replaceTurn(conversation, turn, question));
  }
  expect(turn.attachments).toBe(large);
  expect(parseConversation(structuredClone(conversation)).turns).toHaveLength(31);
  expect(lettersLeft(conversation.turns)).toBeGreaterThan(6_900_000);
});

test('a question with other files is another version of the question', () => {
  const among = [[notes], [], [notes]].map((files) => newTurn(question, null, files));
  const shown = among.map((turn) => versionsOf({ turn, among }));
  expect(shown.map(({ question }) => question.place)).toEqual([0, 1, 0]);
  expect(shown.map(({ answer }) => answer.places)).toEqual([2, 1, 2]);
});

test('the text of an answer that was kept while it streamed brings no files, and takes none', () => {
  const { conversation, turn } = addTurn(newConversation(), null, question, [notes]);
  const merged = mergeGrown(conversation, { ...turn, answer: 'Milk.', attachments: [] });
  expect(merged.turns[0]).toMatchObject({ answer: 'Milk.', attachments: [notes] });
});
