// LanguageModel over the engine's own loop, chat template and tokenizer, with a tiny model that says prescribed texts.

import { expect, test } from 'vitest';
import {
  createLanguageModel,
  type LanguageModelMessageContent,
  type LanguageModelToolCall,
  type PromptEngine,
} from '../../../src/api/prompt_api/language_model';
import { loadModel } from '../../../src/engine/load/load';
import type { EngineEvent } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { encodeInput } from '../../../src/engine/worker/request/prompt';
import { chainFiles, says } from '../../chain/chain_model';
import { errorOf } from './prompt_engine';

const CONTEXT = 160;

/** The chain model in this process, without a worker. */
async function chainEngine(contextLength = CONTEXT): Promise<PromptEngine> {
  const options = { backend: 'cpu', contextLength, cache: false } as const;
  const { session, info } = await loadModel(chainFiles(), options, () => {}, new AbortController().signal);
  return {
    info,
    async *chat(messages, { signal, tools, toolChoice, continueLast, ...options } = {}) {
      const events: EngineEvent[] = [];
      let wake = () => {};
      const input = { messages, tools, toolChoice, continueLast };
      const emit = (arrived: readonly EngineEvent[]) => {
        events.push(...arrived);
        wake();
      };
      let ended = false;
      const running = generate(session, input, options, emit, () => signal?.aborted ?? false).finally(() => {
        ended = true;
        wake();
      });
      running.catch(() => {}); // thrown below
      while (!ended || events.length > 0) {
        const event = events.shift();
        if (event) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      await running;
    },
    async countTokens(messages, { thinking, ...settings } = {}) {
      return (await encodeInput({ messages, ...settings }, thinking, session)).ids.length;
    },
  };
}

test('prompts are answered and stay in the context', async () => {
  const session = await createLanguageModel(await chainEngine()).create({
    initialPrompts: [{ role: 'system', content: 'Be brief.' }],
  });
  const before = session.contextUsage;
  expect(before).toBeGreaterThan(0);
  expect(await session.prompt('hi')).toBe(says('hello'));
  expect(session.contextUsage).toBeGreaterThan(before);
  let text = '';
  for await (const chunk of session.promptStreaming('letters, please')) text += chunk;
  expect(text).toBe(says('letters'));
});

test('an endless answer can be aborted, and the session goes on', async () => {
  const session = await createLanguageModel(await chainEngine()).create();
  const controller = new AbortController();
  const stream = session.promptStreaming('endless', { signal: controller.signal });
  const reader = stream.getReader();
  await reader.read();
  controller.abort();
  expect((await errorOf(reader.read().then(() => reader.closed))).name).toBe('AbortError');
  expect(session.contextUsage).toBe(0);
  expect(await session.prompt('hi')).toBe(says('hello'));
});

test('a context that overflows drops the oldest exchanges by the tokens of the template', async () => {
  const session = await createLanguageModel(await chainEngine()).create();
  let overflows = 0;
  session.addEventListener('contextoverflow', () => overflows++);
  for (let i = 0; i < 8; i++) expect(await session.prompt(`Hello, number ${i}!`)).toBe(says('hello'));
  expect(overflows).toBeGreaterThan(0);
  expect(session.contextUsage).toBeLessThan(CONTEXT);
  const long = 'word '.repeat(CONTEXT);
  const error = await errorOf(session.prompt(long));
  expect([error.name, error.requested, error.quota]).toEqual([
    'QuotaExceededError',
    await session.measureContextUsage(long),
    CONTEXT,
  ]);
});

test('an empty prompt is refused with the words of the engine', async () => {
  const session = await createLanguageModel(await chainEngine()).create();
  const error = await errorOf(session.prompt(''));
  expect([error.name, error.message]).toEqual(['NotSupportedError', expect.stringContaining('empty')]);
});

/** A session with the tool of the chain model's scripts. Answers are longer with its definition. */
async function withWeather(execute?: (input: { city: string }) => unknown, contextLength = 800) {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
  const tools = [{ name: 'weather', description: 'The weather of a city.', inputSchema, execute }];
  const types = [{ type: 'tool-call' }, { type: 'tool-response' }] as const;
  return createLanguageModel(await chainEngine(contextLength)).create<string | LanguageModelMessageContent[]>({
    tools,
    expectedInputs: types,
    expectedOutputs: types.slice(0, 1),
  });
}

test.each([
  ['the weather', ['Bern'], ''],
  ['both cities', ['Bern', 'Basel'], 'I ask for both cities.'],
])('calls are read off %s, executed, and answered', async (prompt, cities, text) => {
  const asked: string[] = [];
  const session = await withWeather(({ city }) => {
    asked.push(city);
    return '21 degrees';
  });
  const answer = (await session.prompt(prompt)) as string;
  expect(asked).toEqual(cities);
  expect(answer.replace(/\n/g, '')).toBe(text + says('result'));
});

test('a broken call stays in the text, and the model answers again', async () => {
  const session = await withWeather(() => 'never');
  const answer = (await session.prompt('broken')) as string;
  expect(answer).toContain('<tool_call>');
  expect(answer.trim().endsWith(says('hello'))).toBe(true);
});

test('the page executes a call, and answers it', async () => {
  const session = await withWeather();
  const [{ type, value }] = (await session.prompt('the weather')) as LanguageModelMessageContent[];
  const { callId, name, arguments: given } = value as LanguageModelToolCall;
  expect([type, name, given]).toEqual(['tool-call', 'weather', { city: 'Bern', days: 2 }]);
  const response = { callId, name, result: [{ type: 'text', value: '21 degrees' }] };
  expect(await session.prompt([{ role: 'user', content: [{ type: 'tool-response', value: response }] }])).toBe(
    says('result'),
  );
});

test('the model thinks where the session asks for it, and its thinking is not in the answer', async () => {
  const LanguageModel = createLanguageModel(await chainEngine());
  const thinking = await LanguageModel.create({ thinking: { effort: 'low' } });
  expect(await thinking.prompt('think')).toBe('The answer is 42.');
  const session = await LanguageModel.create();
  expect(await session.prompt('think')).toBe(says('hello'));
});
