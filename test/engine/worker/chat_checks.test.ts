// Checks of conversations: what passes unchanged, and what is refused with the number and the remedy.

import { describe, expect, test } from 'vitest';
import { checkChat } from '../../../src/engine/worker/chat_checks';
import { InvalidRequestError } from '../../../src/errors';
import type { ChatMessage, ChatSettings } from '../../../src/text/template/message';

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
  ['thinking of a user', [{ ...USER, reasoning: 'x' }], /Message 0 by user: only messages by assistant/],
  ['calls of a user', [{ ...USER, toolCalls: [] }], /Message 0 by user: only messages by assistant/],
  ['thinking that is no text', [assistant({ reasoning: 7 })], /reasoning of message 0 must be text/],
  ['calls that are no list', [assistant({ toolCalls: CALL })], /toolCalls of message 0/],
  ['arguments as an object', [assistant({ toolCalls: [{ ...CALL, arguments: {} }] })], /toolCalls of message 0/],
  ['a call without a name', [assistant({ toolCalls: [{ ...CALL, name: '' }] })], /toolCalls of message 0/],
  ['calls that are holes', [assistant({ toolCalls: new Array(2) })], /toolCalls of message 0/],
  ['129 calls', [assistant({ toolCalls: Array(129).fill(CALL) })], /up to 128 calls/],
  ['an empty end', [USER, { role: 'user', content: ' \n' }], /empty/],
  ['an empty answer', [USER, assistant({ reasoning: ' ', toolCalls: [] })], /empty/],
];

const settings: [string, object, RegExp][] = [
  ['tools that are no list', { tools: {} }, /up to 128, got object/],
  ['129 tools', { tools: Array(129).fill(TOOL) }, /up to 128, got 129/],
  ["tools in OpenAI's form", { tools: [{ type: 'function', function: TOOL }] }, /Tool 0 needs a name/],
  ['a tool without a name', { tools: [TOOL, {}] }, /Tool 1 needs a name/],
  ['a name with a space', { tools: [{ name: 'the weather' }] }, /Tool 0 needs a name/],
  ['a name of 65 letters', { tools: [{ name: 'x'.repeat(65) }] }, /1 to 64/],
  ['a name with a line break', { tools: [{ name: 'weather\n' }] }, /Tool 0 needs a name/],
  ['a name twice', { tools: [TOOL, TOOL] }, /Tool 1 needs a name of its own/],
  ['a description that is no text', { tools: [{ ...TOOL, description: 1 }] }, /description of tool weather/],
  ['parameters that are a list', { tools: [{ ...TOOL, parameters: [] }] }, /parameters of tool weather/],
  ['parameters that are null', { tools: [{ ...TOOL, parameters: null }] }, /parameters of tool weather/],
  ['parameters with a cycle', { tools: [{ ...TOOL, parameters: cyclic }] }, /deeper than 64/],
  ['parameters with a map', { tools: [{ ...TOOL, parameters: { x: new Map() } }] }, /must be JSON, got.*object/],
  ['parameters with infinity', { tools: [{ ...TOOL, parameters: { x: 1 / 0 } }] }, /must be JSON, got.*number/],
  ['parameters with a bigint', { tools: [{ ...TOOL, parameters: { x: 1n } }] }, /must be JSON, got.*bigint/],
  ['arguments of many shared parts', { templateArguments: { shared } }, /more than 1000000/],
  ['arguments of one long text', { templateArguments: { x: 'x'.repeat(1_000_000) } }, /more than 1000000/],
  ['arguments of one long key', { templateArguments: { ['x'.repeat(1_000_000)]: 1 } }, /more than 1000000/],
  ['arguments of many holes', { templateArguments: { x: new Array(2 ** 31) } }, /must be JSON|more than/],
  ['arguments that are deep', { templateArguments: nested(65) }, /deeper than 64/],
  ['arguments that are a list', { templateArguments: [] }, /must be an object/],
  ['arguments that are null', { templateArguments: null }, /must be an object/],
  ['arguments that replace the messages', { templateArguments: { messages: [] } }, /must not have messages/],
  ['a choice of no kind', { tools: [TOOL], toolChoice: 'always' }, /auto, none, required/],
  ['a choice that is null', { tools: [TOOL], toolChoice: null }, /auto, none, required/],
  ['a choice of another tool', { tools: [TOOL], toolChoice: { name: 'time' } }, /not among the 1 given/],
  ['a required tool of none', { toolChoice: 'required' }, /not among the 0 given/],
  ['continuing a question', { continueLast: true }, /last message by the assistant, got one by user/],
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
