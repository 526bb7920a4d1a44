// Prompts of a page: shorthands, roles, prefixes, types of content.

import { expect, test } from 'vitest';
import { inTurns, readPrompt } from '../../../src/api/prompt_api/input';

const NONE = new Set<string>();
const TOOLS = new Set(['tool-call', 'tool-response']);

function errorOf(input: unknown, inputs = NONE, mayPrefix = true): Error {
  try {
    readPrompt(input, inputs, mayPrefix);
  } catch (error) {
    return error as Error;
  }
  throw new Error('It did not throw.');
}

test.each([
  ['hello', 'hello'],
  [null, 'null'],
  [undefined, 'undefined'],
  [{}, '[object Object]'],
  [{ role: 'system', content: 'foo' }, '[object Object]'],
  [7, '7'],
  [[], ''],
])('%j is the text %j by the user', (input, content) => {
  expect(readPrompt(input, NONE)).toEqual({ messages: [{ role: 'user', content }], prefix: false });
});

test('content is a text, a list of texts joined without a space, or the text of another value', () => {
  const content = [
    { type: 'text', value: 'foo' },
    { type: 'text', value: 'bar' },
  ];
  const input = new Set([
    { role: 'system', content: 'be kind' },
    { role: 'user', content },
    { role: 'assistant', content: [] },
    { role: 'user', content: 5 },
  ]);
  expect(readPrompt(input, NONE).messages.map(({ content }) => content)).toEqual(['be kind', 'foobar', '', '5']);
});

test.each([
  ['no object', [null]],
  ['no role', [{ content: 'a' }]],
  ['an unknown role', [{ role: 'tool', content: 'a' }]],
  ['no content', [{ role: 'user' }]],
  ['an unknown type', [{ role: 'user', content: [{ type: 'soup', value: 'a' }] }]],
  ['a part that is no object', [{ role: 'user', content: ['a'] }]],
  ['text that is no string', [{ role: 'user', content: [{ type: 'text', value: new ArrayBuffer(1) }] }]],
  [
    'a late system prompt',
    [
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
    ],
  ],
])('%s is a TypeError', (_, input) => {
  expect(errorOf(input)).toBeInstanceOf(TypeError);
});

test.each(['image', 'audio'])('%s is a NotSupportedError', (type) => {
  expect(errorOf([{ role: 'user', content: [{ type, value: {} }] }]).name).toBe('NotSupportedError');
});

test('a prefix belongs to the last message, by the assistant, of a prompt', () => {
  const prefix = { role: 'assistant', content: 'a', prefix: true };
  expect(readPrompt([prefix], NONE, true).prefix).toBe(true);
  expect(readPrompt([{ ...prefix, prefix: false }], NONE, true).prefix).toBe(false);
  expect(errorOf([{ ...prefix, role: 'user' }]).name).toBe('SyntaxError');
  expect(errorOf([prefix, { role: 'user', content: 'b' }]).name).toBe('SyntaxError');
  expect(errorOf([prefix], NONE, false).name).toBe('SyntaxError');
});

const call = { callId: 'a1', name: 'now', arguments: { zone: 'UTC' } };
const success = { callID: 'a1', name: 'now', result: [{ type: 'text', value: 'noon' }] };
const byAssistant = (value: unknown, text = '') => [
  { role: 'assistant', content: [...(text ? [{ type: 'text', value: text }] : []), { type: 'tool-call', value }] },
];
const byUser = (value: unknown) => [{ role: 'user', content: [{ type: 'tool-response', value }] }];

test('calls and results become messages of the engine', () => {
  expect(readPrompt([...byAssistant(call, 'Let me see.'), ...byUser(success)], TOOLS).messages).toEqual([
    {
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [{ id: 'a1', name: 'now', arguments: '{"zone":"UTC"}' }],
    },
    { role: 'tool', content: 'noon', toolCallId: 'a1' },
  ]);
  const mixed = [{ role: 'user', content: [...byUser(success)[0].content, { type: 'text', value: 'and now?' }] }];
  expect(readPrompt(mixed, TOOLS).messages.map(({ role }) => role)).toEqual(['tool', 'user']);
});

test('calls are by the assistant and results by the user, in sessions that expect them', () => {
  expect(errorOf([{ ...byAssistant(call)[0], role: 'user' }], TOOLS)).toBeInstanceOf(TypeError);
  expect(errorOf([{ ...byUser(success)[0], role: 'assistant' }], TOOLS)).toBeInstanceOf(TypeError);
  expect(errorOf(byAssistant(call)).name).toBe('NotSupportedError');
  expect(errorOf(byUser(success)).name).toBe('NotSupportedError');
});

test('messages by the user in a row become one turn, blank ones vanish in it', () => {
  const user = (content: string) => ({ role: 'user', content }) as const;
  const answer = { role: 'assistant', content: 'x' } as const;
  expect(inTurns([user('a'), user('b'), answer, user(' '), user('c'), user('')])).toEqual([
    user('a\n\nb'),
    answer,
    user('c'),
  ]);
});
