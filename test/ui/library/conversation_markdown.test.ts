// A conversation as Markdown: what is in it, and that code stays as it is.

import { expect, test } from 'vitest';
import { addTurn, newConversation } from '../../../src/ui/conversation/conversation_tree';
import { toMarkdown } from '../../../src/ui/library/conversation_markdown';

const at = Date.UTC(2026, 10, 23, 12);

test('has title, date, system prompt, and the visible questions and answers without the thinking', () => {
  const first = addTurn({ ...newConversation('Be brief.'), createdAt: at }, null, 'Sum?\n\n  indented');
  Object.assign(first.turn, {
    reasoning: 'Hm.',
    answer: '\n```js\na  +  b;\n\n```\n',
    writers: [{ model: 'tiny\nmodel', endedAt: null }],
  });
  const second = addTurn(first.conversation, first.turn.id, 'No answer');
  const other = addTurn(second.conversation, first.turn.id, 'More');
  other.turn.answer = 'Yes.';
  expect(toMarkdown(other.conversation, 'en')).toBe(
    '# Sum? indented\n\n*November 23, 2026*\n\n## System prompt\n\nBe brief.\n\n## You\n\nSum?\n\n  indented\n\n' +
      '## Assistant (tiny model)\n\n```js\na  +  b;\n\n```\n\n## You\n\nMore\n\n## Assistant\n\nYes.\n',
  );
});

test('titles, names of files and names of models read as their text', () => {
  const given = '# a *b* [c](d) __e__ f_g <h> &amp; R&D `i` \\ ~~j~~ $k$ C#';
  const { conversation, turn } = addTurn({ ...newConversation(), title: given }, null, 'Q');
  Object.assign(turn, {
    attachments: [{ name: '_my_*notes*.md', text: 'x' }],
    answer: 'Yes.',
    writers: [{ model: 'tiny_model <1B>', endedAt: null }],
  });
  const [title, , question, , names, answer] = toMarkdown(conversation, 'en').split('\n\n');
  expect(title).toBe(
    '# \\# a \\*b\\* \\[c\\](d) \\_\\_e\\_\\_ f_g \\<h\\> \\&amp; R&D \\`i\\` \\\\ \\~\\~j\\~\\~ \\$k\\$ C\\#',
  );
  expect([question, names, answer]).toEqual([
    '## You',
    '*\\_my\\_\\*notes\\*.md*',
    '## Assistant (tiny_model \\<1B\\>)',
  ]);
});

test('a code block that was cut is closed, and one that holds fences is not', () => {
  const answered = (answer: string) => {
    const { conversation, turn } = addTurn({ ...newConversation(), createdAt: at }, null, 'Q');
    turn.answer = answer;
    return toMarkdown(conversation, 'en').split('## Assistant\n\n')[1];
  };
  expect(answered('Look:\n```py\nx = 1')).toBe('Look:\n```py\nx = 1\n```\n');
  expect(answered('~~~~\n```\n~~~\n~~~~~')).toBe('~~~~\n```\n~~~\n~~~~~\n');
  expect(answered('```inline``` code')).toBe('```inline``` code\n');
});
