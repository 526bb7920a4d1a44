// What a load says of tools, thinking and the end of answers, read off the files, and the answers of a model that has
// both abilities.

import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { type LoadedModel, loadModel } from '../../../src/engine/load/load';
import type { EngineEvent, GenerateInput, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { chainFiles } from '../../chain/chain_model';
import { STORYTELLER } from '../storyteller';

const load = (files: File | File[]) => loadModel(files, { backend: 'cpu' }, () => {}, new AbortController().signal);

let chain: LoadedModel;
beforeAll(async () => {
  chain = await load(chainFiles());
});

async function answer(input: GenerateInput, options: GenerateOptions = {}) {
  const events: EngineEvent[] = [];
  await generate(
    chain.session,
    input,
    { temperature: 0, ...options },
    (some) => void events.push(...some),
    () => false,
  );
  const done = events.at(-1);
  const reasoning = events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('');
  const calls = events.filter((event) => event.type === 'tool-call');
  return { reasoning, calls, finishReason: done?.type === 'done' ? done.finishReason : null };
}

test('a template without tools and thinking has none', async () => {
  const { info } = await load(new File([readFileSync(STORYTELLER)], 'storyteller-q8_0.gguf'));
  expect([info.tools, info.thinking]).toEqual([false, 'none']);
});

test('a template with both has both, and the answers are split by it', async () => {
  expect([chain.info.tools, chain.info.thinking]).toEqual([true, 'optional']);
  const thinks = { messages: [{ role: 'user', content: 'Please think' }] } as const;
  const on = await answer(thinks, { thinking: 'on' });
  expect(on.reasoning.length).toBeGreaterThan(0);
  expect((await answer(thinks, { thinking: 'off' })).reasoning).toBe('');
  const tools = [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }];
  const called = await answer({ messages: [{ role: 'user', content: 'The weather?' }], tools });
  expect([called.calls[0]?.name, called.finishReason]).toEqual(['weather', 'tool-calls']);
});

test('an end of answers that the vocabulary lacks is a warning with its number; the model runs', async () => {
  const { vocabSize } = chain.session.tokenizer;
  const files = (eos: number) => [
    ...chainFiles().filter(({ name }) => name !== 'generation_config.json'),
    new File([JSON.stringify({ eos_token_id: [0, eos] })], 'generation_config.json'),
  ];
  expect((await load(files(vocabSize - 1))).info.warnings).toEqual([]);
  expect((await load(files(vocabSize))).info.warnings).toEqual([
    {
      code: 'end-token',
      message: `Answers end with id ${vocabSize}; the vocabulary has ${vocabSize} ids. Correct eos_token_id or pass stop.`,
      facts: { id: vocabSize, vocabSize },
    },
  ]);
});
