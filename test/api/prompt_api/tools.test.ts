// Tools: calls that the session executes, calls that the page executes, results, errors, and their bounds.

import { afterEach, expect, test, vi } from 'vitest';
import { readPrompt } from '../../../src/api/prompt_api/input';
import {
  createLanguageModel,
  install,
  type LanguageModelCreateOptions,
  type LanguageModelMessageContent,
  type LanguageModelToolCall,
} from '../../../src/api/prompt_api/language_model';
import type { EngineEvent } from '../../../src/engine/protocol';
import { done, errorOf, type Line, type Script, scriptedEngine, token } from './prompt_engine';

const schema = { type: 'object', properties: { zone: { type: 'string' } } };

function tool(name: string, execute?: (input: never) => unknown) {
  return { name, description: `Tool ${name}.`, inputSchema: schema, execute };
}

/** A call in two parts, as a model streams it. */
function called(name: string, json: string, index = 0, id = `id${index}`): EngineEvent[] {
  return [
    { type: 'tool-call', index, id: id || undefined, name, arguments: json.slice(0, 1) },
    { type: 'tool-call', index, arguments: json.slice(1) },
  ];
}

async function sessionOf(answers: Script['answers'], options: LanguageModelCreateOptions, script: Script = {}) {
  const { engine, asked } = scriptedEngine({ answers, contextLength: 400, ...script });
  return { session: await createLanguageModel(engine).create<Answer>(options), asked };
}

type Answer = string | LanguageModelMessageContent[];

const OPEN = {
  expectedInputs: [{ type: 'tool-response' }],
  expectedOutputs: [{ type: 'tool-call' }],
  tools: [tool('now')],
} as const;

test('a tool is executed, and its result goes back to the model', async () => {
  const execute = vi.fn(async ({ zone }: { zone: string }) => `noon in ${zone}`);
  const answers = [[token('Let me see. '), ...called('now', '{"zone":"UTC"}')], 'It is noon.'];
  const { session, asked } = await sessionOf(answers, { tools: [tool('now', execute)] });
  expect(await session.prompt('What time is it?')).toBe('Let me see. It is noon.');
  expect(execute.mock.calls).toEqual([[{ zone: 'UTC' }]]);
  expect(asked[0].options.tools).toEqual([{ name: 'now', description: 'Tool now.', parameters: schema }]);
  const exchange = [
    { role: 'user', content: 'What time is it?' },
    {
      role: 'assistant',
      content: 'Let me see. ',
      toolCalls: [{ id: 'id0', name: 'now', arguments: '{"zone":"UTC"}' }],
    },
    { role: 'tool', content: 'noon in UTC', toolCallId: 'id0' },
  ];
  expect(asked[1].messages).toEqual(exchange);
  await session.prompt('Thanks');
  expect(asked[2].messages.slice(0, 4)).toEqual([...exchange, { role: 'assistant', content: 'It is noon.' }]);
});

test('several calls of an answer run at once', async () => {
  let running = 0;
  let most = 0;
  const execute = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve));
    running--;
    return { at: 12 };
  };
  const answers = [[...called('now', '{}'), ...called('now', '{}', 1, '')], 'done'];
  const { session, asked } = await sessionOf(answers, { tools: [tool('now', execute)] });
  expect(await session.prompt('go')).toBe('done');
  expect(most).toBe(2);
  expect(asked[1].messages.slice(2)).toEqual([
    { role: 'tool', content: '{"at":12}', toolCallId: 'id0' },
    { role: 'tool', content: '{"at":12}', toolCallId: 'call_1' },
  ]);
});

test.each([
  ['throws', () => Promise.reject(new Error('no clock')), 'Error: no clock'],
  ['throws no Error', () => Promise.reject('no clock'), 'Error: no clock'],
  ['returns what JSON cannot write', () => 1n, 'Error: The value cannot be written as JSON.'],
  ['returns nothing', () => undefined, 'null'],
])('a tool that %s: the model is told', async (_, execute, content) => {
  const answers = [called('now', '{}'), 'sorry'];
  const { session, asked } = await sessionOf(answers, { tools: [tool('now', execute)] });
  expect(await session.prompt('go')).toBe('sorry');
  expect(asked[1].messages.at(-1)).toEqual({ role: 'tool', content, toolCallId: 'id0' });
});

test('a wrong call is in the text, and the model is told what was wrong', async () => {
  const wrong: EngineEvent[] = [
    ...called('now', '{"zone":'),
    { type: 'tool-call-error', index: 0, message: 'No JSON.', text: '<call>{"zone":</call>' },
  ];
  const { session, asked } = await sessionOf([wrong, 'better'], { tools: [tool('now', () => 'noon')] });
  expect(await session.prompt('go')).toBe('<call>{"zone":</call>better');
  expect(asked[1].messages.slice(1)).toEqual([
    { role: 'assistant', content: '<call>{"zone":</call>' },
    { role: 'user', content: 'Error: No JSON.' },
  ]);
});

test('a call cut by the end of the context is text, and the model is not asked again', async () => {
  const execute = vi.fn(() => 'noon');
  const cut = (request: Parameters<typeof done>[0]): EngineEvent[] => [
    token('Let me see. '),
    ...called('now', '{"zone":'),
    { type: 'tool-call-error', index: 0, message: 'The call has no end.', text: '<call>{"zone":' },
    done(request, 400, 'context'),
  ];
  const { session, asked } = await sessionOf(cut, { tools: [tool('now', execute)] });
  expect(await session.prompt('go')).toBe('Let me see. <call>{"zone":');
  expect([asked.length, execute.mock.calls.length]).toEqual([1, 0]);
});

test('rounds are bounded, and the last has no tools', async () => {
  const answers = ({ options }: { options: { toolChoice?: unknown } }): Line =>
    options.toolChoice === 'none' ? 'enough' : called('now', '{}');
  const { session, asked } = await sessionOf(answers, { tools: [tool('now', () => 'noon')] });
  expect(await session.prompt('go')).toBe('enough');
  expect(asked).toHaveLength(11);
});

test('an abort while a tool runs rejects at once and leaves no trace', async () => {
  const controller = new AbortController();
  const execute = () => {
    controller.abort();
    return new Promise(() => {});
  };
  const { session, asked } = await sessionOf([called('now', '{}'), 'fine'], { tools: [tool('now', execute)] });
  expect((await errorOf(session.prompt('go', { signal: controller.signal }))).name).toBe('AbortError');
  expect(await session.prompt('again')).toBe('fine');
  expect(asked[1].messages).toHaveLength(1);
});

test('without execute the page gets the calls, after the text', async () => {
  const { session, asked } = await sessionOf([[token('Look:'), ...called('now', '{"zone":"UTC"}')], 'Noon.'], OPEN);
  const answer = (await session.prompt('go')) as LanguageModelMessageContent[];
  expect(answer[0]).toEqual({ type: 'text', value: 'Look:' });
  const call = answer[1].value as LanguageModelToolCall;
  expect([answer[1].type, call.callId, call.callID, call.name, call.arguments]).toEqual([
    'tool-call',
    'id0',
    'id0',
    'now',
    { zone: 'UTC' },
  ]);
  const value = { callID: call.callID, name: 'now', result: [{ type: 'text', value: 'noon' }] };
  expect(await session.prompt([{ role: 'user', content: [{ type: 'tool-response', value }] }])).toBe('Noon.');
  expect(asked[1].messages.at(-1)).toEqual({ role: 'tool', content: 'noon', toolCallId: 'id0' });
});

test('a call without text is a list of one, and a call without arguments has none', async () => {
  const { session } = await sessionOf([called('now', '')], OPEN);
  const [part, ...others] = (await session.prompt('go')) as LanguageModelMessageContent[];
  expect((part.value as LanguageModelToolCall).arguments).toEqual({});
  expect(others).toEqual([]);
});

test('a stream has the calls as parts', async () => {
  const { session } = await sessionOf([[token('Look:'), ...called('now', '{}')]], OPEN);
  const parts: unknown[] = [];
  for await (const part of session.promptStreaming('go')) parts.push(typeof part === 'string' ? part : part.type);
  expect(parts).toEqual(['Look:', 'tool-call']);
});

test('a clone keeps the tools', async () => {
  const { session } = await sessionOf([called('now', '{}')], OPEN);
  expect(Array.isArray(await (await session.clone()).prompt('go'))).toBe(true);
});

afterEach(() => {
  for (const name of ['', 'ToolCall', 'ToolSuccess', 'ToolError']) {
    delete (globalThis as Record<string, unknown>)[`LanguageModel${name}`];
  }
});

type ValueClass = new (fields: object) => Record<string, unknown>;

/** The value classes that pages use. */
function classes() {
  install(scriptedEngine().engine);
  const global = globalThis as unknown as Record<string, ValueClass>;
  return {
    Call: global.LanguageModelToolCall,
    Success: global.LanguageModelToolSuccess,
    Failure: global.LanguageModelToolError,
  };
}

const TOOLS = new Set(['tool-call', 'tool-response']);
const response = (value: unknown) =>
  readPrompt([{ role: 'user', content: [{ type: 'tool-response', value }] }], TOOLS).messages;
const call = (value: unknown) =>
  readPrompt([{ role: 'assistant', content: [{ type: 'tool-call', value }] }], TOOLS).messages;

test('values of the global classes are read, with either spelling of the id', () => {
  const { Call, Success, Failure } = classes();
  expect(call(new Call({ callId: 'a', name: 'now' }))[0].toolCalls).toEqual([
    { id: 'a', name: 'now', arguments: '{}' },
  ]);
  const success = new Success({
    callID: 'a',
    name: 'now',
    result: [
      { type: 'text', value: 'noon' },
      { type: 'object', value: { at: [12] } },
      { type: 'text', value: [1, 2] },
    ],
  });
  expect(response(success)).toEqual([{ role: 'tool', content: 'noon\n{"at":[12]}\n[1,2]', toolCallId: 'a' }]);
  const failure = new Failure({ callID: 'a', name: 'now', errorMessage: 'no clock' });
  expect(response(failure)[0].content).toBe('Error: no clock');
  expect(() => new Call({ name: 'now' })).toThrow(TypeError);
});

test.each([
  ['a circle', circular()],
  ['a function', () => {}],
  ['a BigInt', 1n],
])('a result with %s is a DataError', (_, value) => {
  expect(nameOf(() => response({ callId: 'a', name: 'now', result: [{ type: 'text', value }] }))).toBe('DataError');
});

test('arguments that are a list or a circle are a DataError', () => {
  for (const given of [[], circular()]) {
    expect(nameOf(() => call({ callId: 'a', name: 'now', arguments: given }))).toBe('DataError');
  }
});

test.each(['image', 'audio'])('a result with %s is a NotSupportedError', (type) => {
  expect(nameOf(() => response({ callId: 'a', name: 'now', result: [{ type, value: {} }] }))).toBe('NotSupportedError');
});

test.each([
  ['no id', { name: 'now', result: [] }],
  ['no result', { callId: 'a', name: 'now' }],
  ['an unknown part', { callId: 'a', name: 'now', result: [{ type: 'soup', value: 'a' }] }],
  ['no object', 'noon'],
])('a result with %s is a TypeError', (_, value) => {
  expect(() => response(value)).toThrow(TypeError);
});

function circular(): object {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  return circle;
}

function nameOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).name;
  }
  return 'none';
}
