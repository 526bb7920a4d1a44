// A server that writes anything: each answer ends, with typed errors alone.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../src/engine/protocol';
import { RemoteEngine } from '../../src/remote/remote_engine';
import { HELLO } from './collect';
import { CARDS, stream } from './http_server';

/** The events of an answer of these bytes, and the error at its end. */
async function answerOf(body: Uint8Array | string) {
  const fetch = async (address: string) =>
    address.endsWith('/models')
      ? Response.json({ data: [CARDS['llama.cpp']] })
      : new Response(body as BodyInit, { headers: { 'content-type': 'text/event-stream' } });
  const engine = await RemoteEngine.load('http://far', { fetch });
  const events: EngineEvent[] = [];
  try {
    for await (const event of engine.chat(HELLO, { tools: [{ name: 'weather' }] })) events.push(event);
  } catch (error) {
    return { events, error: error as { name: string; code?: string } };
  }
  return { events, error: null };
}

const CODES = /^(server-(answer|cut|failed)|context-overflow|invalid-request)$/;

/** Whatever came, what is told is well formed. */
function expectSane(events: readonly EngineEvent[], error: { code?: string } | null): void {
  if (error) expect(error.code).toMatch(CODES);
  else expect(events.at(-1)?.type).toBe('done');
  for (const event of events) {
    if ('text' in event) expect(typeof event.text).toBe('string');
    if (event.type === 'token') expect(event.tbtMs === null || event.tbtMs >= 0).toBe(true);
    if (event.type === 'prefill') expect(event.done >= 0 && event.done <= event.total).toBe(true);
    if (event.type === 'done')
      for (const count of Object.values(event.usage)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
  }
}

const KEYS = ['content', 'reasoning', 'tool_calls', 'function', 'name', 'arguments', 'index', 'delta', 'finish_reason'];
const MORE = ['choices', 'usage', 'timings', 'predicted_n', 'completion_tokens', 'prompt_progress', 'total', 'vivace'];
const OTHERS = [
  'error',
  'message',
  'logprobs',
  'tokens',
  'token_logprobs',
  'top_logprobs',
  'bytes',
  'text',
  '__proto__',
];
const key = fc.constantFrom(...KEYS, ...MORE, ...OTHERS);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, -1, 0, 3, 0.5, 1e9, 1e308, '', 'stop', 'weather', '\ud800'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6 }),
  ),
}));
const chunk = fc.record({ choices: fc.array(fc.record({ delta: value, logprobs: value, finish_reason: value })) });

test('any JSON in the place of chunks', async () => {
  const body = fc.array(fc.oneof(value, chunk, fc.dictionary(key, value)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(body, async (chunks) => {
      const text = [...chunks, { choices: [{ delta: {}, finish_reason: 'stop' }] }];
      const { events, error } = await answerOf(text.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
      expectSane(events, error);
    }),
    { numRuns: 300, seed: 22 },
  );
});

test('streams of servers with changed bytes', async () => {
  const streams = ['vllm_chat', 'vllm_tools', 'sglang_chat', 'llamacpp_chat'].map((name) => stream(name));
  const changes = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...streams), changes, async (bytes, changes) => {
      const changed = Uint8Array.from(bytes);
      for (const [place, byte] of changes) changed[place % changed.length] = byte;
      const { events, error } = await answerOf(changed);
      expectSane(events, error);
    }),
    { numRuns: 300, seed: 22 },
  );
});

const counted = (completion_tokens: number) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content: 'a' } }], usage: { completion_tokens } })}\n\n`;

test('counts of tokens that cannot be are bounded', async () => {
  const { events } = await answerOf(`${counted(1e9)}data: [DONE]\n\n`);
  expect(events.filter(({ type }) => type === 'token')).toHaveLength(4096);
  const { error } = await answerOf(counted(1e9).repeat(70));
  expect(error).toMatchObject({ code: 'server-answer' });
});

test('calls without end, names without end', async () => {
  const call = (index: number) => ({ index, function: { name: 'x'.repeat(10_000), arguments: '{}' } });
  const calls = Array.from({ length: 5000 }, (_, index) => call(index));
  const parts = [calls.slice(0, 50), calls.slice(4000, 4050)];
  const { events } = await answerOf(
    [
      ...parts.map((tool_calls) => `data: ${JSON.stringify({ choices: [{ delta: { tool_calls } }] })}`),
      'data: [DONE]\n\n',
    ].join('\n\n'),
  );
  const begun = events.flatMap((event) => (event.type === 'tool-call' && event.name !== undefined ? [event] : []));
  expect(begun).toHaveLength(50); // numbers beyond 127 are none
  expect(Math.max(...begun.map(({ name = '' }) => name.length))).toBe(256);
});

test('lists of models with anything in them', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (list) => {
      const fetch = async () => Response.json(list);
      const error = await RemoteEngine.load('http://far', { fetch }).catch((error) => error);
      if (error instanceof Error) expect(error).toMatchObject({ code: 'server-answer' });
    }),
    { numRuns: 200, seed: 22 },
  );
});
