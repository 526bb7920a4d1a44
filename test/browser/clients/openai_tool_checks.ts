// The OpenAI SDK, unchanged, over engines in the page: tools, thinking and the interface of responses.

import type OpenAI from 'openai';
import { says } from '../../chain/chain_model';
import { clientOf } from './openai_checks';
import { assert, CHAIN, type Checks, equal, listOf, user } from './place';

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  },
};
const TOOLS = [{ type: 'function' as const, function: WEATHER }];
const ask = (content: string) => ({ model: CHAIN, messages: [user(content)], tools: TOOLS });

const tools: Checks = {
  async 'tools: a call, whole'(place) {
    const { choices } = await clientOf(place).chat.completions.create(ask('The weather?'));
    const { message, finish_reason } = choices[0]!;
    equal([finish_reason, message.content, message.tool_calls?.length], ['tool_calls', null, 1]);
    const [call] = message.tool_calls as [OpenAI.ChatCompletionMessageFunctionToolCall];
    assert(call.id.length > 4, call.id);
    equal([call.type, call.function.name], ['function', 'weather']);
    equal(JSON.parse(call.function.arguments), { city: 'Bern', days: 2 });
  },

  async 'tools: text and two calls, as a stream'(place) {
    const stream = clientOf(place).chat.completions.stream(ask('The climate of both'));
    const { choices } = await stream.finalChatCompletion();
    const { message, finish_reason } = choices[0]!;
    equal([finish_reason, message.content?.trim()], ['tool_calls', 'I ask for both cities.']);
    const calls = message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
    equal(
      calls.map((call) => JSON.parse(call.function.arguments).city),
      ['Bern', 'Basel'],
    );
    equal(new Set(calls.map(({ id }) => id)).size, 2);
  },

  async 'tools: one call, where parallel calls are off'(place) {
    const request = { ...ask('The climate of both'), parallel_tool_calls: false };
    const { choices } = await clientOf(place).chat.completions.create(request);
    equal(choices[0]!.message.tool_calls?.length, 1);
  },

  async 'tools: a call that is required, of any tool or of one by name'(place) {
    const byName = { type: 'function' as const, function: { name: 'weather' } };
    for (const [tool_choice, city] of [
      ['required', 'Thun'],
      [byName, 'Visp'],
    ] as const) {
      const { choices } = await clientOf(place).chat.completions.create({ ...ask('Hi'), tool_choice });
      const { message, finish_reason } = choices[0]!;
      const [call] = message.tool_calls as [OpenAI.ChatCompletionMessageFunctionToolCall];
      equal([message.content, call.function.name, JSON.parse(call.function.arguments)], [null, 'weather', { city }]);
      equal(finish_reason, 'tool_calls');
    }
  },

  async 'tools: runTools answers with the result'(place) {
    const asked: unknown[] = [];
    const runner = clientOf(place).chat.completions.runTools({
      ...ask('The weather?'),
      tools: [
        {
          type: 'function',
          function: {
            ...WEATHER,
            parse: JSON.parse,
            function: (found: object) => `${asked.push(found)}: 21 degrees`,
          },
        },
      ],
    });
    equal(await runner.finalContent(), says('result'));
    equal(asked, [{ city: 'Bern', days: 2 }]);
  },

  async 'tools: a broken call is told with its text, where arguments are free'(place) {
    for (const words of ['A broken call', 'An unknown tool']) {
      const free = [{ type: 'function' as const, function: { ...WEATHER, strict: false } }];
      const answer = await clientOf(place).chat.completions.create({ ...ask(words), tools: free });
      const { vivace } = answer as object as { vivace: { tool_call_errors?: { message: string; text: string }[] } };
      const errors = vivace.tool_call_errors ?? [];
      equal(errors.length, 1);
      assert(says(words.includes('broken') ? 'broken' : 'unknown').includes(errors[0]!.text.trim()), errors[0]!.text);
    }
  },

  async 'tools: none are called with tool_choice none'(place) {
    const { choices } = await clientOf(place).chat.completions.create({ ...ask('The weather?'), tool_choice: 'none' });
    equal([choices[0]!.message.content, choices[0]!.finish_reason], [says('hello'), 'stop']);
  },
};

/** The thinking of a message or delta, a field that the SDK passes on. */
const reasoningOf = (part: object | undefined) => (part as { reasoning_content?: string })?.reasoning_content ?? '';
const THOUGHT = 'They ask me to think, and I do: 6 times 7 is 42.';
const THINK = { model: CHAIN, messages: [user('Please think')] };

const thinking: Checks = {
  async 'thinking: apart from the answer, whole'(place) {
    const { choices, usage } = await clientOf(place).chat.completions.create(THINK);
    equal([reasoningOf(choices[0]!.message).trim(), choices[0]!.message.content], [THOUGHT, 'The answer is 42.']);
    assert(usage!.completion_tokens_details!.reasoning_tokens! > 5, JSON.stringify(usage));
  },

  async 'thinking: apart from the answer, as a stream'(place) {
    const chunks = await listOf(await clientOf(place).chat.completions.create({ ...THINK, stream: true }));
    const deltas = chunks.map(({ choices }) => choices[0]?.delta);
    equal(deltas.map(reasoningOf).join('').trim(), THOUGHT);
    equal(deltas.map((delta) => delta?.content ?? '').join(''), 'The answer is 42.');
  },

  async 'thinking: off by reasoning_effort and by the template'(place) {
    const off = [{ reasoning_effort: 'none' as const }, { chat_template_kwargs: { enable_thinking: false } } as object];
    for (const how of off) {
      const { choices } = await clientOf(place).chat.completions.create({ ...THINK, ...how });
      equal([reasoningOf(choices[0]!.message), choices[0]!.message.content], ['', says('hello')]);
    }
  },

  async 'thinking: before a call'(place) {
    const { choices } = await clientOf(place).chat.completions.create(ask('A plan'));
    const { message } = choices[0]!;
    equal([reasoningOf(message).trim(), message.tool_calls?.length], ['A plan needs the weather first.', 1]);
  },
};

const RESPONSE_TOOLS = [{ type: 'function' as const, ...WEATHER, strict: false }];

const responses: Checks = {
  async 'responses, whole'(place) {
    const response = await clientOf(place).responses.create({ model: CHAIN, input: 'Hi', instructions: 'Be brief.' });
    equal([response.output_text, response.status], [says('hello'), 'completed']);
    assert(response.usage!.input_tokens > 10 && response.usage!.output_tokens > 5, JSON.stringify(response.usage));
  },

  async 'responses, as a stream'(place) {
    const stream = clientOf(place).responses.stream({ model: CHAIN, input: [user('All letters')] });
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    equal([text, (await stream.finalResponse()).output_text], [says('letters'), says('letters')]);
  },

  async 'responses: the thinking is an item of its own'(place) {
    const { output } = await clientOf(place).responses.create({ model: CHAIN, input: 'Please think' });
    equal(
      output.map(({ type }) => type),
      ['reasoning', 'message'],
    );
  },

  async 'responses: a tool is called and its result answered'(place) {
    const client = clientOf(place);
    const input: OpenAI.Responses.ResponseInput = [user('The weather?')];
    const first = await client.responses.create({ model: CHAIN, input, tools: RESPONSE_TOOLS, store: false });
    const call = first.output.find((item) => item.type === 'function_call');
    equal([call?.name, JSON.parse(call!.arguments)], ['weather', { city: 'Bern', days: 2 }]);
    input.push(call!, { type: 'function_call_output', call_id: call!.call_id, output: '21 degrees' });
    const second = await client.responses.create({ model: CHAIN, input, tools: RESPONSE_TOOLS, store: false });
    equal(second.output_text, says('result'));
  },
};

export const OPENAI_TOOL_CHECKS: Checks = { ...tools, ...thinking, ...responses };
