// Fields of requests: what reaches the engine, what comes back in extension fields, and what is refused by name.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatMessage, EngineEvent } from '../../../../src/api/api_engine';
import { createFetch } from '../../../../src/api/openai/fetch';
import { checkChat } from '../../../../src/engine/worker/request/chat_checks';
import { done, post, type Script, scriptedEngine, start, token, words } from '../../scripted_engine';

const MESSAGES = [{ role: 'user', content: 'hello' }];

async function ask(route: string, body: object, info = {}) {
  const engine = scriptedEngine(undefined, info);
  const answer = await post(createFetch(engine), route, body);
  return { ...answer, ...engine.asked[0] };
}

const chatOptions = async (fields: object) =>
  (await ask('chat/completions', { messages: MESSAGES, ...fields })).options;

for (const [fields, options] of [
  [{ max_tokens: 5 }, { maxTokens: 5 }],
  [{ max_tokens: 5, max_completion_tokens: 6 }, { maxTokens: 6 }],
  [
    { temperature: 0, top_p: 0.5, min_p: 0 },
    { temperature: 0, topP: 0.5, minP: 0 },
  ],
  [
    { top_k: -1, repetition_penalty: 1.1 },
    { topK: 0, repetitionPenalty: 1.1 },
  ],
  [
    { presence_penalty: -2, frequency_penalty: 2 },
    { presencePenalty: -2, frequencyPenalty: 2 },
  ],
  [{ seed: 2 ** 40 + 3 }, { seed: 3 }],
  [{ stop: 'a' }, { stop: ['a'] }],
  [{ stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd', 'e'] }],
  [{ logit_bias: { '17': -100 } }, { logitBias: { 17: -100 } }],
  [{ logprobs: true }, { logprobs: 0 }],
  [{ logprobs: true, top_logprobs: 20 }, { logprobs: 20 }],
  [
    { n: 2, min_tokens: 3, ignore_eos: true },
    { n: 2, minTokens: 3, ignoreEos: true },
  ],
  [{ response_format: { type: 'json_object' } }, { constraint: { kind: 'json_object' } }],
  [
    { response_format: { type: 'json_object', schema: { type: 'null' } } },
    { constraint: { kind: 'json_schema', schema: { type: 'null' } } },
  ],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'null' } } } },
    { constraint: { kind: 'json_schema', schema: { type: 'null' } } },
  ],
  [{ grammar: 'root ::= "a"' }, { constraint: { kind: 'grammar', source: 'root ::= "a"' } }],
  [{ json_schema: { type: 'null' } }, { constraint: { kind: 'json_schema', schema: { type: 'null' } } }],
  [{ response_format: { type: 'text' }, grammar: '', json_schema: null }, { constraint: undefined }],
  [{ reasoning_effort: 'none' }, { thinking: 'off' }],
  [{ reasoning_effort: 'low' }, { thinking: 'on' }],
  [{ chat_template_kwargs: { enable_thinking: false } }, { templateArguments: { enable_thinking: false } }],
  [{ continue_final_message: true, add_generation_prompt: false }, { continueLast: true }],
  [
    {
      user: 'u',
      metadata: {},
      service_tier: 'auto',
      unknown: 1,
      store: false,
      audio: '',
      functions: null,
      temperature: null,
    },
    {},
  ],
] as const) {
  test(`${JSON.stringify(fields)} reaches the engine`, async () => {
    expect(await chatOptions({ ...fields, ...('n' in fields && { stream: true }) })).toMatchObject(options);
  });
}

test('the constraints of responses and completions reach the engine', async () => {
  const schema = { type: 'null' };
  const format = { type: 'json_schema', name: 'n', schema, strict: true };
  const responses = await ask('responses', { input: 'a', text: { format } });
  expect(responses.options.constraint).toEqual({ kind: 'json_schema', schema });
  expect(responses.json.text).toEqual({ format });
  const { options } = await ask('completions', { prompt: 'a', grammar: 'root ::= "a"' });
  expect(options.constraint).toEqual({ kind: 'grammar', source: 'root ::= "a"' });
});

test('a response has the format of its text, also where none was asked for', async () => {
  const format = { type: 'text' };
  for (const text of [undefined, null, {}, { format: null }, { format, verbosity: null }])
    expect((await ask('responses', { input: 'a', text })).json.text.format).toEqual(format);
  expect((await ask('responses', { input: 'a', text: { verbosity: 'medium' } })).json.text).toEqual({
    format,
    verbosity: 'medium',
  });
});

test('what a response can do reaches the engine although it has the fields of what it cannot', async () => {
  const tools = [{ ...TOOL, defer_loading: false, allowed_callers: ['direct'], strict: true }];
  const nothing = { logprobs: false, store: false, return_progress: false, timings_per_token: false };
  const reasoning = { effort: 'low', context: 'auto', mode: 'standard', summary: 'auto' };
  const { status, options } = await ask('responses', { input: 'a', tools, reasoning, ...nothing });
  expect([status, options.thinking, options.tools?.length]).toEqual([200, 'on', 1]);
});

test('a constraint goes beside tools', async () => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  for (const tool_choice of ['none', 'auto', 'required']) {
    const { constraint } = await chatOptions({ tools, tool_choice, response_format: { type: 'json_object' } });
    expect(constraint).toEqual({ kind: 'json_object' });
  }
});

test('tools and the choice of one reach the engine', async () => {
  const parameters = { type: 'object', properties: {} };
  const tools = [{ type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } }];
  const named = { type: 'function', function: { name: 'f' } };
  expect(await chatOptions({ tools, tool_choice: named })).toMatchObject({
    tools: [{ name: 'f', description: 'd', parameters }],
    toolChoice: { name: 'f' },
  });
  expect((await chatOptions({ tools, tool_choice: 'none' })).tools).toBeUndefined();
});

test('messages of every role reach the engine', async () => {
  const { messages } = await ask('chat/completions', {
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: 'c', name: 'Ada' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'r',
        tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', content: 'd', tool_call_id: '1' },
    ],
  });
  expect(messages).toEqual([
    { role: 'system', content: 'ab' },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: '', reasoning: 'r', toolCalls: [{ id: '1', name: 'f', arguments: '{}' }] },
    { role: 'tool', content: 'd', toolCallId: '1' },
  ]);
});

const TOOL = { type: 'function', name: 'f', parameters: {} };
const IMAGE = { type: 'image_url', image_url: { url: 'data:' } };

for (const [fields, param, code = 'invalid_value'] of [
  [{ messages: undefined }, 'messages', 'missing_required_parameter'],
  [{ messages: [] }, 'messages'],
  [{ messages: [{ role: 'king', content: '' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'missing_required_parameter'],
  [{ messages: [{ role: 'user', content: [IMAGE] }] }, 'messages[0].content[0].type', 'unsupported_parameter'],
  [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].tool_call_id', 'missing_required_parameter'],
  [{ model: 7 }, 'model'],
  [{ stream: 'yes' }, 'stream'],
  [{ stream_options: {} }, 'stream_options'],
  [{ temperature: '1' }, 'temperature'],
  [{ temperature: -1 }, 'temperature'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ max_tokens: 1.5 }, 'max_tokens'],
  [{ n: 129 }, 'n'],
  [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
  [{ top_logprobs: 2 }, 'top_logprobs'],
  [{ stop: [''] }, 'stop[0]'],
  [{ logit_bias: { x: 1 } }, 'logit_bias'],
  [{ logit_bias: { '1': 101 } }, 'logit_bias'],
  [{ logit_bias: JSON.parse('{"__proto__": 1}') }, 'logit_bias'],
  [{ tools: [{ type: 'custom' }] }, 'tools[0].type', 'unsupported_parameter'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name', 'missing_required_parameter'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [{ response_format: 'json' }, 'response_format'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema', 'missing_required_parameter'],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
    'response_format.json_schema.schema',
    'missing_required_parameter',
  ],
  [{ response_format: { type: 'json_schema', json_schema: { schema: [] } } }, 'response_format.json_schema.schema'],
  [{ response_format: { type: 'json_object' }, grammar: 'root ::= "a"' }, 'grammar'],
  [{ grammar: 'root ::= "a"', json_schema: {} }, 'json_schema'],
  [{ grammar: 5 }, 'grammar'],
  [{ modalities: ['text', 'audio'] }, 'modalities[1]', 'unsupported_parameter'],
  [{ audio: { voice: 'v' } }, 'audio', 'unsupported_parameter'],
  [{ store: true }, 'store', 'unsupported_parameter'],
  [{ functions: [{}] }, 'functions', 'unsupported_parameter'],
  [{ functions: [] }, 'functions', 'unsupported_parameter'],
  [{ function_call: 'none' }, 'function_call', 'unsupported_parameter'],
  [{ function_call: '' }, 'function_call', 'unsupported_parameter'],
  [{ reasoning_effort: 'some' }, 'reasoning_effort'],
  [{ chat_template_kwargs: [] }, 'chat_template_kwargs'],
  [{ continue_final_message: true, add_generation_prompt: true }, 'add_generation_prompt'],
] as const) {
  test(`chat: ${JSON.stringify(fields)} is refused as ${param}`, async () => {
    const { status, json, messages } = await ask('chat/completions', { messages: MESSAGES, ...fields });
    expect([status, json.error?.param, json.error?.code]).toEqual([400, param, code]);
    expect(messages).toBeUndefined();
  });
}

test('chat: an old call in an earlier answer is refused, and null counts as absent', async () => {
  const send = (function_call: unknown) =>
    ask('chat/completions', {
      messages: [...MESSAGES, { role: 'assistant', content: 'a', function_call }, ...MESSAGES],
    });
  expect((await send({ name: 'f', arguments: '{}' })).json.error).toMatchObject({
    message: 'messages[1].function_call is not supported here: send tool_calls.',
    param: 'messages[1].function_call',
  });
  expect((await send(null)).status).toBe(200);
});

for (const [route, body, param] of [
  ['completions', { prompt: null }, 'prompt'],
  ['completions', { prompt: [1, 'a'] }, 'prompt[1]'],
  ['completions', { prompt: 'a', logprobs: 21 }, 'logprobs'],
  ['completions', { prompt: 'a', best_of: 3 }, 'best_of'],
  ['completions', { prompt: 'a', suffix: 'b' }, 'suffix'],
  ['completions', { prompt: 'a', echo: true, logprobs: 1 }, 'echo'],
  ['completions', { prompt: 'a', logprobs: 1, top_logprobs: 2 }, 'top_logprobs'],
  ['embeddings', { input: [1, 2] }, 'input[0]'],
  ['embeddings', { input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ['embeddings', { input: 'a', dimensions: 0 }, 'dimensions'],
  ['responses', { input: 'a', previous_response_id: 'r' }, 'previous_response_id'],
  ['responses', { input: 'a', text: { format: { type: 'json_schema' } } }, 'text.format.schema'],
  ['responses', { input: 'a', text: { format: { type: 'grammar' } } }, 'text.format.type'],
  ['completions', { prompt: 'a', grammar: 'root ::= "a"', response_format: { type: 'json_object' } }, 'grammar'],
  ['responses', { input: 'a', text: { verbosity: 'low' } }, 'text.verbosity'],
  ['responses', { input: 'a', background: true }, 'background'],
  ['responses', { input: 'a', n: 2 }, 'n'],
  ['responses', { input: 'a', reasoning: { effort: 1 } }, 'reasoning.effort'],
  ['responses', { input: [{ type: 'image_generation_call' }] }, 'input[0].type'],
  ['responses', { input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
  ['responses', { input: 'a', tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  ['responses', { input: 'a', tools: [{ ...TOOL, defer_loading: true }] }, 'tools[0].defer_loading'],
  ['responses', { input: 'a', tools: [{ ...TOOL, allowed_callers: ['programmatic'] }] }, 'tools[0].allowed_callers[0]'],
  ['responses', { input: 'a', reasoning: { context: 'all_turns' } }, 'reasoning.context'],
  ['responses', { input: 'a', reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  ['responses', { input: 'a', return_progress: true }, 'return_progress'],
  ['responses', { input: 'a', timings_per_token: true }, 'timings_per_token'],
  ['responses', { input: 'a', response_format: { type: 'json_object' } }, 'response_format'],
  ['responses', { input: 'a', reasoning_effort: 'low' }, 'reasoning_effort'],
  ['responses', { input: 'a', verbosity: 'low' }, 'verbosity'],
  ['responses', { input: 'a', logprobs: true }, 'logprobs'],
] as const) {
  test(`${route}: ${JSON.stringify(body)} is refused as ${param}`, async () => {
    const { status, json } = await ask(route, body);
    expect([status, json.error?.param]).toEqual([400, param]);
  });
}

for (const names of [['f'], ['a-b_c.D9'], ['f'.repeat(64)], ['f'.repeat(65)], ['a b'], ['é'], [''], ['f', 'f']]) {
  test(`names of tools, as the engine takes them: ${names}`, async () => {
    const of = (name: string) => ({ name, parameters: {} });
    let isRefused = false;
    try {
      checkChat({ messages: MESSAGES as ChatMessage[], tools: names.map(of) });
    } catch {
      isRefused = true;
    }
    const chat = { messages: MESSAGES, tools: names.map((name) => ({ type: 'function', function: of(name) })) };
    const response = { input: 'a', tools: names.map((name) => ({ type: 'function', ...of(name) })) };
    for (const [route, body, inner] of [
      ['chat/completions', chat, '.function.name'],
      ['responses', response, '.name'],
    ] as const) {
      const { status, json } = await ask(route, body);
      const param = names.length > 1 ? 'tools' : `tools[0]${inner}`;
      expect([status, json.error?.param]).toEqual(isRefused ? [400, param] : [200, undefined]);
    }
  });
}

test('at most 128 tools, as the engine takes them', async () => {
  const tools = Array.from({ length: 129 }, (_, i) => ({ type: 'function', function: { name: `f${i}` } }));
  expect((await ask('chat/completions', { messages: MESSAGES, tools })).json.error.param).toBe('tools');
  expect((await ask('chat/completions', { messages: MESSAGES, tools: tools.slice(1) })).status).toBe(200);
});

test('a model without tools or a switch for thinking refuses what it cannot do', async () => {
  const info = { tools: false, thinking: 'none' as const };
  const tools = [{ type: 'function', function: { name: 'f' } }];
  expect((await ask('chat/completions', { messages: MESSAGES, tools }, info)).json.error.param).toBe('tools');
  const effort = { messages: MESSAGES, reasoning_effort: 'high' };
  expect((await ask('chat/completions', effort, info)).json.error.param).toBe('reasoning_effort');
  expect((await ask('chat/completions', { ...effort, reasoning_effort: 'none' }, info)).status).toBe(200);
});

const LOGPROBS = {
  chosen: { id: 4, token: 'a', bytes: [97], logprob: -0.5 },
  top: [{ id: 5, token: '__proto__', bytes: [98], logprob: -0.25 }],
};

test('of tokens with the same text, no log probability of a completion is lost', async () => {
  const top = [
    { id: 1, token: '\ufffd', bytes: [0xe2, 0x82], logprob: -1 },
    { id: 2, token: '\ufffd', bytes: [0x0a, 0xf0], logprob: -2 },
    { id: 3, token: 'a', bytes: [97], logprob: -3 },
    { id: 4, token: 'a', bytes: [97], logprob: -4 },
  ];
  const fetch = createFetch(
    scriptedEngine(() => [start(), token('', 1, { logprobs: { chosen: top[0], top } }), done()]),
  );
  const { json } = await post(fetch, 'completions', { prompt: 'x', logprobs: 4 });
  expect(json.choices[0].logprobs).toMatchObject({
    tokens: ['bytes:\\xe2\\x82'],
    top_logprobs: [{ 'bytes:\\xe2\\x82': -1, 'bytes:\\x0a\\xf0': -2, a: -3, 'token_id:4': -4 }],
  });
});

test('log probabilities, in the form of each route', async () => {
  const script = [start(), token('a', 4, { logprobs: LOGPROBS }), token('a', 4, { logprobs: LOGPROBS }), done()];
  const fetch = createFetch(scriptedEngine(() => script));
  const chat = await post(fetch, 'chat/completions', { messages: MESSAGES, logprobs: true, top_logprobs: 1 });
  expect(chat.json.choices[0].logprobs.content).toHaveLength(2);
  expect(chat.json.choices[0].logprobs.content[0]).toEqual({ ...LOGPROBS.chosen, top_logprobs: LOGPROBS.top });
  const text = await post(fetch, 'completions', { prompt: 'x', logprobs: 1 });
  expect(text.text).toContain('"top_logprobs":[{"__proto__":-0.25},{"__proto__":-0.25}]');
  expect(text.json.choices[0].logprobs).toMatchObject({ tokens: ['a', 'a'], token_logprobs: [-0.5, -0.5] });
  const include = ['message.output_text.logprobs'];
  const response = await post(fetch, 'responses', { input: 'x', include });
  expect(response.json.output[0].content[0].logprobs).toHaveLength(2);
});

test('log probabilities of tokens without a text come in a stream, too, however it is cut', async () => {
  const more = { logprobs: LOGPROBS };
  const script: Script = [start(), token('a', 4, more), 'task', token('', 5, more), 'task', token('', 6, more), done()];
  const fetch = createFetch(scriptedEngine(() => script));
  const chat = await post(fetch, 'chat/completions', { messages: MESSAGES, logprobs: true, stream: true });
  expect(chat.events.flatMap(({ choices }) => choices[0].logprobs?.content ?? [])).toHaveLength(3);
  const text = await post(fetch, 'completions', { prompt: 'x', logprobs: 1, stream: true });
  expect(text.events.flatMap(({ choices }) => choices[0].logprobs?.tokens ?? [])).toHaveLength(3);
  const include = ['message.output_text.logprobs'];
  const response = await post(fetch, 'responses', { input: 'x', include, stream: true });
  expect(response.events.at(-1).response.output[0].content[0].logprobs).toHaveLength(3);
  const deltas = response.events.filter(({ type }) => type === 'response.output_text.delta');
  expect(deltas.flatMap(({ logprobs }) => logprobs)).toHaveLength(3);
});

test('several answers are told apart, whole and streamed, and the prompt counts once', async () => {
  const script = [0, 1].flatMap((choice) => [start(choice), ...words(`answer ${choice}`), done({ seed: 7 + choice })]);
  const fetch = createFetch(scriptedEngine(() => script));
  const body = { messages: MESSAGES, n: 2 };
  const { json } = await post(fetch, 'chat/completions', body);
  expect(json.choices.map((choice: { message: { content: string } }) => choice.message.content)).toEqual([
    'answer 0',
    'answer 1',
  ]);
  expect(json.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 });
  const { events } = await post(fetch, 'chat/completions', { ...body, stream: true });
  const second = events.map((event) => event.choices[0]).filter(({ index }) => index === 1);
  expect(second.map(({ delta }) => delta.content ?? '').join('')).toBe('answer 1');
  expect(second.at(0).delta.role).toBe('assistant');
  expect(second.at(-1).finish_reason).toBe('stop');
});

test('several prompts of a completion, with echo', async () => {
  const { json } = await post(createFetch(scriptedEngine()), 'completions', { prompt: ['a', 'b'], echo: true });
  expect(json.choices.map(({ index, text }: { index: number; text: string }) => [index, text])).toEqual([
    [0, 'aAfter a'],
    [1, 'bAfter b'],
  ]);
  expect(json.usage.prompt_tokens).toBe(10);
});

test('progress of the prompt and timings come if they are asked for', async () => {
  const script: EngineEvent[] = [start(0, 12, 2), { type: 'prefill', done: 5, total: 10 }, ...words('a b c'), done()];
  const fetch = createFetch(scriptedEngine(() => script));
  const body = { messages: MESSAGES, stream: true };
  const { events } = await post(fetch, 'chat/completions', { ...body, return_progress: true, timings_per_token: true });
  expect(events[0].prompt_progress).toMatchObject({ total: 12, cache: 2, processed: 7 });
  expect(events.at(-1).timings).toEqual({
    cache_n: 2,
    prompt_n: 10,
    prompt_ms: 2,
    prompt_per_second: 5000,
    predicted_n: 3,
    predicted_ms: 2,
    predicted_per_second: 1000,
  });
  const plain = await post(fetch, 'chat/completions', body);
  expect(plain.text).not.toMatch(/prompt_progress|timings/);
});

const call = (index: number, more: object = {}): EngineEvent => ({
  type: 'tool-call',
  index,
  arguments: '{}',
  ...more,
});

test('a call that fails before it begins is text, and leaves no gap between calls', async () => {
  const error: EngineEvent = { type: 'tool-call-error', index: 0, message: 'No such tool.', text: '<call>x</call>' };
  const script = [start(), error, call(1, { id: 'c', name: 'f' }), done({ finishReason: 'tool-calls' })];
  const { json } = await post(createFetch(scriptedEngine(() => script)), 'chat/completions', { messages: MESSAGES });
  expect(json.choices[0]).toMatchObject({ message: { content: '<call>x</call>' }, finish_reason: 'tool_calls' });
  expect(json.choices[0].message.tool_calls).toMatchObject([{ id: 'c', function: { name: 'f', arguments: '{}' } }]);
  expect(json.vivace.tool_call_errors).toEqual([{ index: 0, message: 'No such tool.', text: '<call>x</call>' }]);
});

test('parallel_tool_calls: false leaves out calls after the first', async () => {
  const script = [start(), call(0, { id: 'a', name: 'f' }), call(1, { id: 'b', name: 'f' }), done()];
  const fetch = createFetch(scriptedEngine(() => script));
  const body = { messages: MESSAGES, parallel_tool_calls: false };
  expect((await post(fetch, 'chat/completions', body)).json.choices[0].message.tool_calls).toHaveLength(1);
});

test('parallel_tool_calls: false leaves out a later call that fails, too', async () => {
  const script: Script = [
    start(),
    { type: 'tool-call', index: 0, id: 'c1', name: 'f', arguments: '{}' },
    { type: 'tool-call-error', index: 1, message: 'No such tool.', text: '<tool_call>{</tool_call>' },
    done({ finishReason: 'tool-calls' }),
  ];
  const fetch = createFetch(scriptedEngine(() => script));
  const { json } = await post(fetch, 'chat/completions', { messages: MESSAGES, parallel_tool_calls: false });
  const { content, tool_calls } = json.choices[0].message;
  expect([content, tool_calls.length]).toEqual([null, 1]);
});

test('a field of null has its default in a response', async () => {
  const nulls = { tools: null, tool_choice: null, parallel_tool_calls: null, text: null, metadata: null };
  const { json } = await post(createFetch(scriptedEngine()), 'responses', { input: 'x', ...nulls });
  const { json: plain } = await post(createFetch(scriptedEngine()), 'responses', { input: 'x' });
  const fieldsOf = ({ tools, tool_choice, parallel_tool_calls, text, metadata }: Record<string, unknown>) => {
    return { tools, tool_choice, parallel_tool_calls, text, metadata };
  };
  expect(fieldsOf(json)).toEqual(fieldsOf(plain));
});

test('a body that is no JSON object, too deep, or too large is refused', async () => {
  const fetch = createFetch(scriptedEngine());
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  for (const body of ['', '{', 'null', '[]', '"a"', `{"messages":${deep}}`, `{"tools":${deep.slice(0, 50)}`])
    expect((await post(fetch, 'chat/completions', body)).status).toBe(400);
  const huge = await post(fetch, 'chat/completions', `"${'a'.repeat(64e6)}"`);
  expect([huge.status, huge.json.error.code]).toEqual([413, 'request_too_large']);
});

const FIELDS = [
  'model',
  'messages',
  'prompt',
  'input',
  'stream',
  'stream_options',
  'temperature',
  'max_tokens',
  'n',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'text',
  'include',
  'store',
  'echo',
  'best_of',
  'dimensions',
  'encoding_format',
  'chat_template_kwargs',
  '__proto__',
  'constructor',
  'modalities',
  'parallel_tool_calls',
  'instructions',
  'metadata',
  'top_k',
  'verbosity',
];

/** More with VIVACE_RUNS. */
const RUNS = Number(process.env.VIVACE_RUNS ?? 1500);

test('each malformed body gets an answer with a type, and the engine still answers', async () => {
  const engine = scriptedEngine();
  const fetch = createFetch(engine);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.array(fc.record({ role: fc.string(), type: fc.string(), content: fc.jsonValue(), text: fc.jsonValue() })),
    fc.constantFrom('user', 'text', -1, 2 ** 60, true, [[1]], { type: 'function' }),
  );
  const body = fc.oneof(fc.dictionary(fc.constantFrom(...FIELDS), value, { noNullPrototype: true }), fc.jsonValue());
  const route = fc.constantFrom('chat/completions', 'completions', 'responses', 'embeddings');
  let answers = 0;
  const answerIsTyped = async (route: string, json: unknown) => {
    const response = await fetch(`http://x/v1/${route}`, { method: 'POST', body: JSON.stringify(json) });
    if (response.status !== 200) {
      const { error } = await response.json();
      expect([400, 404]).toContain(response.status);
      expect(error).toMatchObject({
        type: 'invalid_request_error',
        message: expect.any(String),
        code: expect.any(String),
      });
    } else await response.body?.cancel();
    answers++;
  };
  await fc.assert(fc.asyncProperty(route, body, answerIsTyped), { numRuns: RUNS, seed: 16 });
  expect(answers).toBe(RUNS);
  expect((await post(fetch, 'chat/completions', { messages: MESSAGES })).status).toBe(200);
});

test('a whole answer has the failed calls of all its choices', async () => {
  const error = (text: string): EngineEvent => ({ type: 'tool-call-error', index: 0, message: 'No such tool.', text });
  const choice = (n: number) => [start(n), error(`<${n}>`), done()];
  const asked = { messages: MESSAGES, n: 2 };
  const engine = scriptedEngine(() => [...choice(0), ...choice(1)]);
  const { json } = await post(createFetch(engine), 'chat/completions', asked);
  expect(json.vivace.tool_call_errors).toMatchObject([{ text: '<0>' }, { text: '<1>' }]);
});
