// The word before work that blocks the worker's thread: with its measure, taken back afterwards, and none for little.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { GenerateInput } from '../../../../src/engine/protocol';
import { patiently } from '../../../../src/engine/worker/request/patience';
import { encodeInput } from '../../../../src/engine/worker/request/prompt';
import type { Session } from '../../../../src/engine/worker/request/session';
import { ScriptBackend } from '../../doubles/script_backend';
import { openStoryteller } from '../../storyteller';

let session: Session;
beforeAll(async () => {
  const { tokenizer, template } = await openStoryteller();
  session = { backend: new ScriptBackend(100, () => 5), tokenizer, template, vocabSize: 4096, cachedIds: [] };
});

let told: unknown[];
beforeEach(() => {
  told = [];
  vi.stubGlobal('postMessage', (message: unknown) => told.push(message));
});
afterEach(() => void vi.unstubAllGlobals());

const STORY = 'Once upon a time there was a brave cat. '.repeat(1000); // 40,000 characters

const chat = (content: string, count = 1): GenerateInput => ({
  messages: Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })),
});
const tools = Array.from({ length: 8 }, (_, i) => ({ name: `tool_${i}`, description: 'x'.repeat(1000) }));

test.each<[string, GenerateInput, number]>([
  ['a long prompt', { prompt: STORY }, 10_000],
  ['a long message', chat(STORY), 10_000],
  ['many short messages', chat('Hi', 99), 2500],
  ['the arguments of a template', { ...chat('Hi'), templateArguments: { note: 'x'.repeat(8000) } }, 2000],
])('%s is announced in proportion, once, and taken back', async (_what, input, leastMs) => {
  await encodeInput(input, 'auto', session);
  expect(told).toHaveLength(2);
  const [{ patienceMs }] = told as { patienceMs: number }[];
  expect(patienceMs).toBeGreaterThanOrEqual(leastMs);
  expect(patienceMs).toBeLessThan(1.1 * leastMs);
  expect(told[1]).toEqual({ patienceMs: 0 });
});

test.each<[string, GenerateInput]>([
  ['a short prompt', { prompt: 'Once upon a time' }],
  ['a page of text', chat(STORY.slice(0, 4000))],
  ['ids', { ids: Array(90).fill(5) }],
])('%s is not', async (_what, input) => {
  await encodeInput(input, 'auto', session);
  expect(told).toEqual([]);
});

test('work that throws takes its word back, too', () => {
  const work = () => {
    throw new Error('a test');
  };
  expect(() => patiently(40_000, work)).toThrow('a test');
  expect(told).toEqual([{ patienceMs: 10_000 }, { patienceMs: 0 }]);
});

test('tools count', async () => {
  await expect(encodeInput({ ...chat('Hi'), tools } as GenerateInput, 'auto', session)).rejects.toThrow('tools');
  expect(told).toHaveLength(2);
});
