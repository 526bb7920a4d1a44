// The engine as a page has it, on the CPU: chats that take turns, several answers, embeddings between them, and the budget.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type ChatMessage, Engine, type EngineChatOptions } from '../../../src/engine/engine';
import type { LoadedModel } from '../../../src/engine/load/load';
import type { LoadOptions } from '../../../src/engine/protocol';
import { chainFiles } from '../../chain/chain_model';
import { engineWorker, type FakeWorker, stubWorkers } from '../doubles/fake_worker';

let load: (options: LoadOptions, signal: AbortSignal) => Promise<LoadedModel>;
vi.mock('../../../src/engine/load/load', () => ({
  loadModel: (_place: unknown, options: LoadOptions, _tell: unknown, signal: AbortSignal) => load(options, signal),
}));

beforeAll(async () => {
  const { loadModel } = await vi.importActual<typeof import('../../../src/engine/load/load')>(
    '../../../src/engine/load/load',
  );
  load = (options, signal) => loadModel(chainFiles(), options, () => {}, signal);
});

let workers: FakeWorker[];
let engine: Engine;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }); // no beats of a real clock
  workers = stubWorkers(engineWorker);
});

afterEach(async () => {
  await engine.unload();
  for (const worker of workers) if (!worker.isTerminated) worker.terminate();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = async (options: LoadOptions = {}) => {
  engine = await Engine.load('https://example.org/model.gguf', { backend: 'cpu', contextLength: 512, ...options });
};

/** Prompt tokens and those of them that were reused, for each answer, and why. */
async function ask(messages: readonly ChatMessage[], options: EngineChatOptions = {}) {
  const ends: [number, number, string | undefined][] = [];
  let text = '';
  for await (const event of engine.chat(messages, { temperature: 0, ...options })) {
    if (event.type === 'token' || event.type === 'done') text += event.text;
    if (event.type !== 'done') continue;
    const { usage, metrics } = event;
    ends.push([usage.promptTokens, usage.cachedTokens, metrics.cache?.report]);
  }
  const [prompt, cached, report] = ends[0];
  return { text, prompt, cached, report, ends };
}

const user = (content: string): ChatMessage => ({ role: 'user', content });
const A = [user('Tell me of ships that sail over the sea')];
const B = [user('And what do they cook in the mountains?')];

test('a chat that comes back has all but the last token of its prompt, also after embeddings', async () => {
  await open();
  const first = await ask(A);
  expect([first.cached, first.report]).toEqual([0, 'new']);
  expect((await ask(B)).report).toBe('new');
  const back = await ask(A);
  expect([back.text, back.cached, back.report]).toEqual([first.text, first.prompt - 1, 'parked']);
  await engine.embed(['some text', 'and another one']);
  const after = await ask(A);
  expect([after.text, after.cached, after.report]).toEqual([first.text, first.prompt - 1, 'parked']);
  const { ends } = await ask(B, { n: 3 });
  expect(ends.map(([prompt, cached]) => prompt - cached)).toEqual([1, 1, 1]);
  expect(engine.info.kvBudgetBytes).toBeGreaterThan(0);
});

test('a budget of 0 works as one chat at a time, and says why', async () => {
  await open({ kvBudgetBytes: 0 });
  const first = await ask(A);
  await ask(B);
  const back = await ask(A);
  expect([back.text, back.cached < first.prompt / 2, back.report]).toEqual([first.text, true, 'evicted']);
  expect((await ask(A)).report).toBe('live');
  expect(engine.info.kvBudgetBytes).toBe(0);
});
