// Answers that a lost worker began: wherever one was cut, another session says what an undisturbed one would have said.

import { beforeAll, describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { EngineEvent, GenerateInput, GenerateOptions, ResumedAnswer } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { encodeInput } from '../../../src/engine/worker/request/prompt';
import type { Session } from '../../../src/engine/worker/request/session';
import { ContextOverflowError, InvalidRequestError } from '../../../src/errors';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { findChatTemplate } from '../../../src/text/template/find_template';
import { chainFiles } from '../../chain/chain_model';
import { readFixture } from '../../cpu/fixtures';
import { droppedFolder } from '../../model/fixtures/files';
import { numberTokenizer, TINY } from '../doubles/loop_session';
import { ScriptBackend } from '../doubles/script_backend';
import { cutEverywhere, expectRest, run } from '../resumed_runs';

async function cpuBackend(dropped: File[], contextLength: number) {
  const files = await openModel(dropped);
  const config = readConfig(files);
  const weights = await loadCpuWeights(resolveTensors(files, config));
  return { files, backend: new CpuBackend(config, weights, contextLength) };
}

const PROMPT: GenerateInput = { ids: readFixture(TINY).greedy.promptIds };
const SEEDED: GenerateOptions = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.02, seed: 7, maxTokens: 16 };

describe('numbers of a tiny model', () => {
  let session: () => Session;
  beforeAll(async () => {
    const { backend } = await cpuBackend(
      droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname),
      40,
    );
    session = () => ({ backend, tokenizer: numberTokenizer([9]), template: null, vocabSize: 259, cachedIds: [] });
  });

  test.each<[string, GenerateOptions]>([
    ['greedy', { temperature: 0, maxTokens: 16 }],
    ['to the end of the context', { temperature: 0, ignoreEos: true }],
    ['seeded', SEEDED],
    ['with penalties', { ...SEEDED, repetitionPenalty: 1.3, presencePenalty: 0.4, frequencyPenalty: 0.3 }],
    ['with biases and log probabilities', { ...SEEDED, logitBias: { 3: 4, 195: -5, 9: 2 }, logprobs: 3 }],
    ['with an end that may not come before', { ...SEEDED, logitBias: { 9: 100 }, minTokens: 9 }],
  ])('%s', async (_name, options) => {
    await cutEverywhere(session, PROMPT, options);
  });

  test('by a stop string over two tokens', async () => {
    const { ids } = await run(session(), PROMPT, SEEDED);
    const { done } = await cutEverywhere(session, PROMPT, { ...SEEDED, stop: [`${ids[9]} ${ids[10]}`] });
    expect(done.finishReason).toBe('stop');
  });
});

describe('text of the chain model, on the CPU, and goes on by its script', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const user = (content: string): GenerateInput => ({ messages: [{ role: 'user', content }] });
  const tools = (content: string): GenerateInput => ({
    messages: [{ role: 'user', content }],
    tools: [{ name: 'weather', parameters }],
  });
  let session: (backend?: Backend) => Session;
  beforeAll(async () => {
    const { files, backend: cpu } = await cpuBackend(chainFiles(), 512);
    const tokenizer = createTokenizer(files);
    const template = createChatTemplate(findChatTemplate(files) as string, tokenizer);
    session = (backend = cpu) => ({ backend, tokenizer, template, vocabSize: 4096, cachedIds: [] });
  });

  async function cut(input: GenerateInput, options: GenerateOptions = {}) {
    const greedy = { temperature: 0, ...options };
    const whole = await run(session(), input, greedy);
    const script = (position: number) => whole.ids[position - whole.promptIds.length] ?? 0;
    const scripted = () => session(new ScriptBackend(512, script));
    for (let count = 0; count <= whole.ids.length; count++) await expectRest(scripted(), input, greedy, whole, count);
    return whole;
  }

  test.each<[string, GenerateInput, GenerateOptions, string]>([
    ['thinking', user('think'), {}, 'eos'],
    ['thinking as text', user('think'), { reasoning: 'text' }, 'eos'],
    ['thinking that is cut', user('think'), { maxTokens: 9 }, 'length'],
    ['text and two calls', tools('both'), {}, 'tool-calls'],
    ['thinking and a call', tools('plan'), {}, 'tool-calls'],
    ['a call that is cut', tools('weather'), { maxTokens: 12 }, 'length'],
    ['a call that cannot be read', tools('broken'), {}, 'eos'],
    ['a stop string over several tokens', user('hello'), { stop: ['a chain'] }, 'stop'],
    ['a stop string that never comes whole', user('hello'), { stop: ['tokens...'] }, 'eos'],
    ['letters of several bytes', user('letters'), {}, 'eos'],
  ])('%s', async (_name, input, options, finishReason) => {
    expect((await cut(input, options)).done.finishReason).toBe(finishReason);
  });

  test('an answer that ends in half a letter', async () => {
    const { ids } = await run(session(), user('letters'), { temperature: 0 });
    const { tokenizer } = session();
    const half = ids.findIndex((_, i) => i > 8 && tokenizer.decode(ids.slice(0, i)).endsWith('\ufffd'));
    expect((await cut(user('letters'), { maxTokens: half })).done.text).toContain('\ufffd');
  });
});

describe('a resumed request', () => {
  const scripted = (contextLength = 100) => {
    const backend = new ScriptBackend(contextLength, (position) => position % 100);
    const session: Session = {
      backend,
      tokenizer: numberTokenizer([50]),
      template: null,
      vocabSize: 259,
      cachedIds: [],
    };
    const ask = async (resumed: unknown, options: GenerateOptions = {}, stopped = () => false) => {
      const events: EngineEvent[] = [];
      const emit = (some: readonly EngineEvent[]) => void events.push(...some);
      await generate(session, { prompt: '1 2 3' }, options, emit, stopped, resumed as ResumedAnswer);
      return events;
    };
    return { backend, session, ask };
  };
  const RESUMED = { promptIds: [1, 2, 9], ids: [3, 4] };

  test('keeps its prompt, whatever the input says by now', async () => {
    const { ask, backend } = scripted();
    const events = await ask(RESUMED, { maxTokens: 4 });
    expect(events[0]).toEqual({ type: 'start', choice: 0, promptIds: [1, 2, 9], cachedTokens: 0 });
    expect(backend.prefills).toEqual([{ position: 0, length: 3 }]); // and two steps again
    const tokens = events.filter((event) => event.type === 'token');
    expect(tokens.map(({ id, position }) => [id, position])).toEqual([[5, 5], [6, 6]]); // biome-ignore format: pairs
    expect(tokens[0]).toMatchObject({ tbtMs: null, workerMs: null });
    expect(events.at(-1)).toMatchObject({
      finishReason: 'length',
      usage: { promptTokens: 3, cachedTokens: 0, completionTokens: 4 },
    });
  });

  test.each<[string, number[], GenerateOptions, string]>([
    ['its end token', [3, 50], {}, 'eos'],
    ['a stop string', [3, 4], { stop: ['3 4'] }, 'stop'],
    ['its number of tokens', [3, 4], { maxTokens: 2 }, 'length'],
    ['the end of the context', [3, 4, 5, 6, 7], {}, 'context'],
    ['the end of a context that is shorter by now', [3, 4, 5, 6, 7, 8, 9], {}, 'context'],
  ])('that had come to %s is done without a pass', async (_end, ids, options, finishReason) => {
    const { ask, backend, session } = scripted(8);
    const events = await ask({ promptIds: [1, 2, 3], ids }, options);
    expect(events.map(({ type }) => type)).toEqual(['start', 'done']);
    expect(events[1]).toMatchObject({ finishReason, usage: { completionTokens: ids.length } });
    expect([backend.prefills, session.cachedIds]).toEqual([[], []]);
  });

  test('stopped before its prompt has run keeps what was told', async () => {
    const { ask, session } = scripted();
    let asked = 0;
    const events = await ask(RESUMED, {}, () => ++asked > 1);
    expect(events.at(-1)).toMatchObject({ finishReason: 'abort', usage: { completionTokens: 2 } });
    expect(session.cachedIds.length).toBeLessThan(5);
  });

  test.each<[string, unknown]>([
    ['no ids', { promptIds: [1, 2, 3] }],
    ['no prompt', { promptIds: [], ids: [3] }],
    ['no lists', { promptIds: '123', ids: '4' }],
    ['an id past the vocabulary', { promptIds: [1, 2, 3], ids: [259] }],
    ['an id of the prompt past the vocabulary', { promptIds: [1, 2, -3], ids: [4] }],
    ['numbers that are not whole', { promptIds: [1, 2, 3], ids: [4.5] }],
    ['ids after an end token', { promptIds: [1, 2, 3], ids: [50, 4] }],
  ])('with %s is refused', async (_what, resumed) => {
    const { ask, backend } = scripted();
    await expect(ask(resumed)).rejects.toThrow(InvalidRequestError);
    expect(backend.prefills).toEqual([]);
  });

  test('whose prompt fills the context is refused', async () => {
    const { ask } = scripted(3);
    await expect(ask({ promptIds: [1, 2, 9], ids: [] })).rejects.toThrow(ContextOverflowError);
  });

  test('fits by its own prompt, though the input has grown', async () => {
    const { ask, session } = scripted(5);
    expect((await encodeInput({ prompt: '1 2 3' }, 'auto', session)).ids).toHaveLength(3);
    const events = await ask({ promptIds: [1, 2], ids: [3] });
    expect(events.at(-1)).toMatchObject({ finishReason: 'context', usage: { completionTokens: 3 } });
  });
});
