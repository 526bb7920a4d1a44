// The AI SDK with its provider of OpenAI-compatible servers, unchanged, over engines in the page. Its useChat is React's;
// its parts without React are here: messages of the interface, an agent and the transport between the two.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  convertToModelMessages,
  DirectChatTransport,
  embedMany,
  generateObject,
  generateText,
  type LanguageModel,
  readUIMessageStream,
  stepCountIs,
  streamText,
  ToolLoopAgent,
  tool,
  type UIMessage,
} from 'ai';
import { z } from 'zod';
import { says } from '../../chain/chain_model';
import { assert, BASE_URL, CHAIN, type Checks, equal, failureOf, lastHeard, type Place, STORY } from './place';

const providerOf = ({ fetch }: Place) =>
  createOpenAICompatible({ name: 'vivace', baseURL: BASE_URL, fetch, includeUsage: true });
const chainOf = (place: Place): LanguageModel => providerOf(place)(CHAIN);

const maxRetries = 0;
const tools = {
  weather: tool({
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string(), days: z.number().int().optional() }),
    execute: ({ city }) => Promise.resolve({ city, degrees: 21 }),
  }),
};
const THOUGHT = 'They ask me to think, and I do: 6 times 7 is 42.';

async function textOf(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of stream) text += part;
  return text;
}

const texts: Checks = {
  async 'AI SDK: generateText, with usage and cached tokens'(place) {
    await generateText({ model: chainOf(place), prompt: 'Hi', maxRetries });
    const { text, finishReason, usage } = await generateText({ model: chainOf(place), prompt: 'Hi', maxRetries });
    equal([text, finishReason], [says('hello'), 'stop']);
    equal(usage.inputTokenDetails.cacheReadTokens, usage.inputTokens! - 1);
    assert(usage.outputTokens! > 5, JSON.stringify(usage));
  },

  async 'AI SDK: streamText'(place) {
    const { textStream, finishReason, usage } = streamText({
      model: chainOf(place),
      prompt: 'All letters',
      maxRetries,
    });
    equal([await textOf(textStream), await finishReason], [says('letters'), 'stop']);
    assert((await usage).outputTokens! > 5, JSON.stringify(await usage));
  },

  async 'AI SDK: streamText of the storyteller, repeated by its seed'(place) {
    const request = { model: providerOf(place)(STORY), prompt: 'A story', maxOutputTokens: 6, temperature: 1, seed: 4 };
    const [first, second] = [streamText(request), streamText(request)];
    equal(await textOf(first.textStream), await textOf(second.textStream));
    equal(await first.finishReason, 'length');
  },

  async 'AI SDK: an abort of streamText reaches the engine'(place) {
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    const { textStream } = streamText({ model: chainOf(place), prompt: 'An endless answer', abortSignal, maxRetries });
    let text = '';
    for await (const part of textStream) {
      text += part;
      if (text.length > 20) controller.abort();
    }
    const aborted = lastHeard(place)!;
    equal((await generateText({ model: chainOf(place), prompt: 'Hi', maxRetries })).text, says('hello'));
    assert(['abort', 'left'].includes(aborted.end) && aborted.tokens < 400, JSON.stringify(aborted));
  },

  async 'AI SDK: reasoning has parts of its own'(place) {
    const whole = await generateText({ model: chainOf(place), prompt: 'Please think', maxRetries });
    equal([whole.reasoningText?.trim(), whole.text], [THOUGHT, 'The answer is 42.']);
    const kinds = new Set<string>();
    for await (const { type } of streamText({ model: chainOf(place), prompt: 'Please think' }).fullStream)
      kinds.add(type);
    assert(kinds.has('reasoning-delta') && kinds.has('text-delta'), [...kinds].join());
  },

  async 'AI SDK: an error has its status'(place) {
    const asked = generateText({ model: chainOf(place), prompt: 'x'.repeat(3000), maxRetries });
    equal((await failureOf(APICallError, asked)).statusCode, 400);
  },

  async 'AI SDK: generateObject has an object that fits its schema'(place) {
    const supportsStructuredOutputs = true;
    const provider = createOpenAICompatible({
      name: 'vivace',
      baseURL: BASE_URL,
      fetch: place.fetch,
      supportsStructuredOutputs,
    });
    const schema = z.object({ pet: z.enum(['cat', 'dog']), age: z.number().int().min(1).max(9) });
    const { object } = await generateObject({ model: provider(CHAIN), prompt: 'Hi', schema, maxRetries });
    equal(schema.safeParse(object).success, true);
  },

  async 'AI SDK: embedMany'(place) {
    const model = providerOf(place).embeddingModel(STORY);
    const { embeddings } = await embedMany({ model, values: ['A bear', 'A boat', 'A bear'], maxRetries });
    equal(embeddings.length, 3);
    equal(embeddings[0]!.length, embeddings[1]!.length);
    assert(JSON.stringify(embeddings[0]) !== JSON.stringify(embeddings[1]), 'Two texts have one embedding.');
  },
};

const loops: Checks = {
  async 'AI SDK: a loop of tools, whole'(place) {
    const request = { model: chainOf(place), prompt: 'The weather?', tools, stopWhen: stepCountIs(3), maxRetries };
    const { text, steps } = await generateText(request);
    equal([text, steps.length], [says('result'), 2]);
    equal(
      steps[0]!.toolResults.map(({ output }) => output),
      [{ city: 'Bern', degrees: 21 }],
    );
  },

  async 'AI SDK: a loop of tools, two at once, as a stream'(place) {
    const request = {
      model: chainOf(place),
      prompt: 'The climate of both',
      tools,
      stopWhen: stepCountIs(3),
      maxRetries,
    };
    const { textStream, steps } = streamText(request);
    const text = await textOf(textStream);
    assert(text.startsWith('I ask for both cities.') && text.endsWith(says('result')), text);
    equal(
      (await steps)[0]!.toolCalls.map(({ input }) => (input as { city: string }).city),
      ['Bern', 'Basel'],
    );
  },

  async 'AI SDK: an agent behind the transport of useChat'(place) {
    const agent = new ToolLoopAgent({ model: chainOf(place), tools, stopWhen: stepCountIs(3) });
    const transport = new DirectChatTransport({ agent });
    const asked: UIMessage = { id: '1', role: 'user', parts: [{ type: 'text', text: 'The weather?' }] };
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: '1',
      messageId: undefined,
      messages: [asked as never],
      abortSignal: undefined,
    });
    let answer: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) answer = message;
    const parts = answer!.parts.map(({ type }) => type);
    assert(parts.includes('tool-weather') && parts.includes('text'), parts.join());
    const messages = await convertToModelMessages([
      asked,
      answer!,
      { ...asked, parts: [{ type: 'text', text: 'Hi' }] },
    ]);
    equal(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user'],
    );
    equal((await generateText({ model: chainOf(place), messages, tools, maxRetries })).text, says('hello'));
  },
};

export const AI_CHECKS: Checks = { ...texts, ...loops };
