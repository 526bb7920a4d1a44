// Checks of conversations: what passes unchanged, and what is refused with the number and the remedy.

import { describe, expect, test } from 'vitest';
import { checkChat } from '../../../../src/engine/worker/request/chat_checks';
import { InvalidRequestError } from '../../../../src/errors';
import type { ChatMessage, ChatSettings } from '../../../../src/text/template/message';

const USER: ChatMessage = { role: 'user', content: 'How warm is it in Oslo?' };
const CALL = { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' };
const CALLING: ChatMessage = { role: 'assistant', content: '', reasoning: 'I ask.', toolCalls: [CALL] };
const RESULT: ChatMessage = { role: 'tool', content: '', toolCallId: 'call_1' };
const TOOL = { name: 'weather', description: 'Of a city.', parameters: { type: 'object', properties: {} } };

const check = (settings: object) => checkChat({ messages: [USER], ...settings } as never);
const checkMessages = (messages: unknown, settings = {}) => checkChat({ messages, ...settings } as never);

function nested(depth: number): object {
  let value = {};
  for (let i = 0; i < depth; i++) value = { value };
  return value;
}

describe('what passes', () => {
  test('a conversation with thinking, calls and an empty result', () => {
    const messages = [{ role: 'system', content: '' }, USER, CALLING, RESULT];
    expect(checkMessages(messages).messages).toEqual(messages);
  });

  test('tools and arguments, without their undefined members', () => {
    const given: ChatSettings = {
      tools: [{ ...TOOL, description: undefined }, { name: 'a.B-c_9' }],
      toolChoice: { name: 'a.B-c_9' },
      templateArguments: { enable_thinking: false, of: [1, null, 'x', { y: undefined }] },
    };
    expect(check(given)).toEqual({
      messages: [USER],
      tools: [{ name: 'weather', parameters: TOOL.parameters }, { name: 'a.B-c_9' }],
      toolChoice: { name: 'a.B-c_9' },
      templateArguments: { enable_thinking: false, of: [1, null, 'x', {}] },
      continueLast: undefined,
    });
    expect(Object.keys(check(given).tools![0])).toEqual(['name', 'parameters']);
  });

  test('an empty list of tools, which counts as none', () => {
    expect(check({ tools: [], toolChoice: 'none' }).tools).toBeUndefined();
  });

  test('a last message of thinking alone, to be continued', () => {
    const begun: ChatMessage = { role: 'assistant', content: '', reasoning: 'I' };
    expect(checkMessages([USER, begun], { continueLast: true }).continueLast).toBe(true);
  });

  test('a message as long as a text may be', () => {
    const long: ChatMessage = { role: 'user', content: 'x'.repeat(4_000_000) };
    expect(checkMessages([long]).messages).toEqual([long]);
  });

  test('tools at the limits', () => {
    const tools = Array.from({ length: 128 }, (_, i) => ({ name: `${i}`.padStart(64, 'x') }));
    expect(check({ tools }).tools).toHaveLength(128);
    expect(check({ templateArguments: nested(63) }).templateArguments).toEqual(nested(63));
    const x = 'x'.repeat(1_000_000 - 4); // the object, the key, and the string count too
    expect(check({ templateArguments: { x } }).templateArguments).toEqual({ x });
  });
});

const cyclic: Record<string, unknown> = {};
cyclic.again = cyclic;
/** 2 ** 60 leaves in 60 objects. */
let shared: unknown = 'leaf';
for (let i = 0; i < 60; i++) shared = [shared, shared];

const assistant = (fields: object) => ({ role: 'assistant', content: '', ...fields });

const messages: [string, unknown, RegExp][] = [
  ['no list', 'hello', /at least one message/],
  ['nothing', undefined, /at least one message/],
  ['an empty list', [], /at least one message/],
  ['holes', new Array(2), /Message 0 needs a role \(system, user, assistant, tool\)/],
  ['null', [USER, null], /Message 1 needs a role/],
  ['another role', [{ role: 'developer', content: 'x' }], /Message 0 needs a role/],
  ['content in parts', [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], /text as its content/],
  ['content that is null', [assistant({ content: null, toolCalls: [CALL] })], /text as its content/],
  ['a tool message without the call', [USER, CALLING, { role: 'tool', content: 'x' }], /Message 2 by tool.*toolCallId/],
  ['a tool message with an empty id', [{ role: 'tool', content: 'x', toolCallId: '' }], /Message 0 by tool/],
  ['a call answered by a user', [{ ...USER, toolCallId: 'call_1' }], /Message 0 by user: toolCallId/],
  ['thinking of a user', [{ ...USER, reasoning: 'x' }], /Message 0 by user: reasoning .* by assistant alone/],
  ['calls of a user', [{ ...USER, toolCalls: [CALL] }], /Message 0 by user: reasoning .* by assistant alone/],
  ['thinking that is no text', [assistant({ reasoning: 7 })], /Message 0 by assistant: reasoning must be text/],
  ['calls that are no list', [assistant({ toolCalls: CALL })], /Message 0 by assistant: .* toolCalls up to 128/],
  [
    'arguments as an object',
    [assistant({ toolCalls: [{ ...CALL, arguments: {} }] })],
    /Message 0 by assistant: .* toolCalls up to 128/,
  ],
  [
    'a call without a name',
    [assistant({ toolCalls: [{ ...CALL, name: '' }] })],
    /Message 0 by assistant: .* toolCalls up to 128/,
  ],
  ['calls that are holes', [assistant({ toolCalls: new Array(2) })], /Message 0 by assistant: .* toolCalls up to 128/],
  ['129 calls', [assistant({ toolCalls: Array(129).fill(CALL) })], /toolCalls up to 128/],
  ['an empty end', [USER, { role: 'user', content: ' \n' }], /empty/],
  [
    'a message of 5 MB',
    [USER, { ...USER, content: 'x'.repeat(5_000_000) }],
    /^The conversation has 5000023 characters, 5000000 of them in message 1 by user; at most 4000000 are read at once\. Shorten/,
  ],
  ['an empty answer', [USER, assistant({ reasoning: ' ', toolCalls: [] })], /empty/],
];

const settings: [string, object, RegExp][] = [
  ['tools that are no list', { tools: {} }, /up to 128, got object/],
  ['129 tools', { tools: Array(129).fill(TOOL) }, /up to 128, got 129/],
  ["tools in OpenAI's form", { tools: [{ type: 'function', function: TOOL }] }, /Tool 0 needs a name of its own/],
  ['a tool without a name', { tools: [TOOL, {}] }, /Tool 1 needs a name/],
  ['a name with a space', { tools: [{ name: 'the weather' }] }, /Tool 0 needs a name of its own/],
  ['a name of 65 letters', { tools: [{ name: 'x'.repeat(65) }] }, /1 to 64/],
  ['a name with a line break', { tools: [{ name: 'weather\n' }] }, /Tool 0 needs a name of its own/],
  ['a name twice', { tools: [TOOL, TOOL] }, /Tool 1 needs a name of its own/],
  ['a description that is no text', { tools: [{ ...TOOL, description: 1 }] }, /Tool 0 needs .* description as text/],
  ['parameters that are a list', { tools: [{ ...TOOL, parameters: [] }] }, /Tool 0 needs .* parameters as an object/],
  ['parameters that are null', { tools: [{ ...TOOL, parameters: null }] }, /Tool 0 needs .* parameters as an object/],
  [
    'parameters with a cycle',
    { tools: [{ ...TOOL, parameters: cyclic }] },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'parameters with a map',
    { tools: [{ ...TOOL, parameters: { x: new Map() } }] },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'parameters with infinity',
    { tools: [{ ...TOOL, parameters: { x: 1 / 0 } }] },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'parameters with a bigint',
    { tools: [{ ...TOOL, parameters: { x: 1n } }] },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'arguments of many shared parts',
    { templateArguments: { shared } },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'arguments of one long text',
    { templateArguments: { x: 'x'.repeat(1_000_000) } },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'arguments of one long key',
    { templateArguments: { ['x'.repeat(1_000_000)]: 1 } },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'arguments of many holes',
    { templateArguments: { x: new Array(2 ** 31) } },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  [
    'arguments that are deep',
    { templateArguments: nested(65) },
    /must be JSON of at most 1000000 characters and values, and 64 levels deep/,
  ],
  ['arguments that are a list', { templateArguments: [] }, /must be an object without/],
  ['arguments that are null', { templateArguments: null }, /must be an object without/],
  ['arguments that replace the messages', { templateArguments: { messages: [] } }, /an object without messages/],
  ['a choice of no kind', { tools: [TOOL], toolChoice: 'always' }, /must be auto, none/],
  ['a choice that is null', { tools: [TOOL], toolChoice: null }, /must be auto, none/],
  ['a choice of another tool', { tools: [TOOL], toolChoice: { name: 'time' } }, /of the 1 tools given/],
  ['a required tool of none', { toolChoice: 'required' }, /of the 0 tools given/],
  ['continuing a question', { continueLast: true }, /true only after a message by assistant, not by user/],
  ['a word for continuing', { continueLast: 'yes' }, /continueLast must be true or false/],
];

describe('what is refused', () => {
  const cases: [string, () => unknown, RegExp][] = [
    ...messages.map(([name, given, why]): [string, () => unknown, RegExp] => [name, () => checkMessages(given), why]),
    ...settings.map(([name, given, why]): [string, () => unknown, RegExp] => [name, () => check(given), why]),
  ];
  test.each(cases)('%s', (_, run, why) => {
    expect(run).toThrow(InvalidRequestError);
    expect(run).toThrow(why);
  });
});
