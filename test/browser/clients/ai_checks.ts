// The AI SDK with its provider of OpenAI-compatible servers, unchanged, over engines in the page. Its useChat is React's;
// its parts without React are here: messages of the interface, an agent and the transport between the two.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateObject, generateText, type LanguageModel, streamText } from 'ai';
import { z } from 'zod';
import { says } from '../../chain/chain_model';
import { assert, BASE_URL, CHAIN, type Checks, equal, failureOf, lastHeard, type Place, STORY } from './place';

const providerOf = ({ fetch }: Place) =>
  createOpenAICompatible({ name: 'vivace', baseURL: BASE_URL, fetch, includeUsage: true });
const chainOf = (place: Place): LanguageModel => providerOf(place)(CHAIN);

const maxRetries = 0;
async function textOf(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of stream) text += part;
  return text;
}

export const AI_CHECKS: Checks = {
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

  async 'AI SDK: an error has its status'(place) {
    const asked = generateText({ model: chainOf(place), prompt: 'x'.repeat(3000), maxRetries });
    equal((await failureOf(APICallError, asked)).statusCode, 400);
  },

  async 'AI SDK: generateObject is refused, since nothing constrains answers'(place) {
    const before = place.heard.length;
    const asked = generateObject({
      model: chainOf(place),
      prompt: 'Hi',
      schema: z.object({ a: z.string() }),
      maxRetries,
    });
    const error = await failureOf(APICallError, asked);
    equal(error.statusCode, 400);
    assert(error.message.includes('response_format'), error.message);
    equal(place.heard.length, before);
  },
};
