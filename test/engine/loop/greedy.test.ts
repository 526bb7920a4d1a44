// The storyteller's greedy ids on the GPU and on the CPU, against transformers on the same dequantized weights.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { testGpu } from '../../gpu/test_device';
import { expectRest, run } from '../resumed_runs';
import { openStoryteller } from '../storyteller';

interface GreedyFixture {
  prompt: string;
  promptIds: number[];
  ids: number[];
  /** Difference of the two largest logits at each step. Two backends may differ only where it is tiny. */
  margins: number[];
}

const FIXTURE = new URL('../../fixtures/storyteller/greedy.json', import.meta.url);
const cases: GreedyFixture[] = JSON.parse(readFileSync(FIXTURE, 'utf8'));
const CONTEXT = 256;

/**
 * The prompts of a backend. Because a prompt takes seconds here, only those with the smallest margins, and some that
 * end before their limit. VIVACE_ALL_PROMPTS=1 runs all.
 */
const closest = cases.toSorted((a, b) => Math.min(...a.margins) - Math.min(...b.margins));
const ending = cases.filter(({ ids }) => ids.length < Math.max(...cases.map((each) => each.ids.length)));
const some = (nClosest: number, nEnding: number) =>
  process.env.VIVACE_ALL_PROMPTS ? cases : [...closest.slice(0, nClosest), ...ending.slice(0, nEnding)];
const TIMEOUT_MS = 300_000;

const SAMPLED = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0, repetitionPenalty: 1.1, seed: 3 };

async function cpuBackend(): Promise<Backend> {
  const { files } = await openStoryteller();
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

async function gpuBackend(): Promise<Backend> {
  const gpu = await testGpu();
  const { files } = await openStoryteller();
  const config = readConfig(files);
  const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
  const exact = { contextLength: CONTEXT, kvType: 'f32', attention: 'auto', activations: 'f32' } as const;
  const llama = await Llama.create(gpu, config, weights, exact);
  await read(files);
  llama.start(weights);
  return new WebGpuBackend(gpu, llama);
}

const BACKENDS = [
  { name: 'cpu', create: cpuBackend, prompts: some(2, 1) },
  { name: 'webgpu, f32 KV', create: gpuBackend, prompts: some(1, 1) },
];

for (const { name, create, prompts } of BACKENDS) {
  describe(name, () => {
    let session: Promise<Session> | null = null;
    const open = async (): Promise<Session> => {
      const { tokenizer, template } = await openStoryteller();
      return { backend: await create(), tokenizer, template, vocabSize: 4096, cachedIds: [] };
    };
    for (const { prompt, promptIds, ids } of prompts) {
      test(`${ids.length} ids of "${prompt}"`, { timeout: TIMEOUT_MS }, async () => {
        session ??= open();
        const made: number[] = [];
        let asked: number[] = [];
        await generate(
          await session,
          { messages: [{ role: 'user', content: prompt }] },
          { temperature: 0, maxTokens: ids.length },
          (events) => {
            for (const event of events) {
              if (event.type === 'token') made.push(event.id);
              if (event.type === 'start') asked = event.promptIds;
            }
          },
          () => false,
        );
        expect(asked).toEqual(promptIds);
        expect(made).toEqual(ids);
      });
    }
    if (name === 'cpu') return;
    test('a sampled answer goes on in a session that has not seen it', { timeout: TIMEOUT_MS }, async () => {
      session ??= open();
      const opened = await session;
      const given = { ...SAMPLED, maxTokens: 8, runAhead: 4 };
      const whole = await run({ ...opened, cachedIds: [] }, { prompt: 'Once upon a time' }, given);
      await expectRest({ ...opened, cachedIds: [] }, { prompt: 'Once upon a time' }, given, whole, 5);
    });
    // loop.test.ts has the other ends and depths. Here text consists of bytes of tokens.
    test(
      'a late stop within a token, sampled and penalized, is found at the same one at depth 8',
      async () => {
        session ??= open();
        const opened = await session;
        const answer = async (options: GenerateOptions) => {
          const made: number[] = [];
          let text = '';
          const hear = (events: readonly EngineEvent[]) => {
            for (const event of events) {
              if (event.type === 'token') made.push(event.id);
              if (event.type === 'token' || event.type === 'done') text += event.text;
            }
          };
          const given = { ...SAMPLED, maxTokens: 7, ...options };
          await generate(opened, { prompt: 'Once upon a time' }, given, hear, () => false);
          return { ids: made, text };
        };
        const whole = await answer({ runAhead: 1 });
        const [fourth, fifth] = whole.ids.slice(3, 5).map((id) => opened.tokenizer.decode([id]));
        const stop = [fourth.slice(-1) + fifth.slice(0, 2)];
        const first = await answer({ runAhead: 1, stop });
        expect(first.ids).toEqual(whole.ids.slice(0, 5));
        expect(await answer({ runAhead: 8, stop })).toEqual(first);
      },
      TIMEOUT_MS,
    );
  });
}
