// The clients of OpenAI's interface that `bench -- sdk` measures, their packages unchanged: a bundle of its own, so
// that a machine without the packages runs them.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import OpenAI from 'openai';
import type { Reader } from './suites/sdk';

/** An address that no server answers: a request that leaves the page fails. */
const BASE_URL = 'http://vivace.invalid/v1';
const MODEL = 'model';

interface Asked {
  fetch: typeof globalThis.fetch;
  prompt: string;
  tokens: number;
}

/** One way to read the same greedy answer each, by name. */
export function openClients(asked: Asked): Record<string, Reader> {
  return { 'OpenAI SDK': openAi(asked), ...aiSdk(asked) };
}

function openAi({ fetch, prompt, tokens }: Asked): Reader {
  const client = new OpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const request = {
    model: MODEL,
    messages: [{ role: 'user' as const, content: prompt }],
    max_tokens: tokens,
    temperature: 0,
    ignore_eos: true,
    stream: true as const,
    stream_options: { include_usage: true },
  };
  return async () => {
    const answer = { text: '', chunks: 0, tokens: 0 };
    for await (const { choices, usage } of await client.chat.completions.create(request)) {
      const text = choices[0]?.delta.content;
      if (text) {
        answer.text += text;
        answer.chunks++;
      }
      if (usage) answer.tokens = usage.completion_tokens;
    }
    return () => answer;
  };
}

/** The two streams of `streamText`. What it promises is left alone: asking for that reads the answer a second time. */
function aiSdk({ fetch, prompt, tokens }: Asked): Record<string, Reader> {
  const model = createOpenAICompatible({ name: 'vivace', baseURL: BASE_URL, fetch, includeUsage: true })(MODEL);
  type Stream = ReturnType<typeof streamText>;
  const read = async (deltas: (stream: Stream, onDelta: (text: string) => void) => Promise<void>) => {
    const answer = { text: '', chunks: 0, tokens: 0 };
    const failures: unknown[] = [];
    const stream = streamText({
      model,
      prompt,
      maxOutputTokens: tokens,
      temperature: 0,
      maxRetries: 0,
      providerOptions: { vivace: { ignore_eos: true } },
      onFinish: ({ totalUsage }) => {
        answer.tokens = totalUsage.outputTokens ?? 0;
      },
      onError: ({ error }) => void failures.push(error),
    });
    await deltas(stream, (text) => {
      answer.text += text;
      answer.chunks++;
    });
    if (failures.length > 0) throw failures[0];
    return () => answer;
  };
  const readParts = async ({ fullStream }: Stream, onDelta: (text: string) => void) => {
    for await (const part of fullStream) if (part.type === 'text-delta') onDelta(part.text);
  };
  const readTexts = async ({ textStream }: Stream, onDelta: (text: string) => void) => {
    for await (const text of textStream) onDelta(text);
  };
  return { 'AI SDK, fullStream': () => read(readParts), 'AI SDK, textStream': () => read(readTexts) };
}
