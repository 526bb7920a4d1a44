// Log probabilities through the loop: those of the textbook's logits, at any run-ahead, and no other ids.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { logprobs as textbook } from '../../../src/cpu/logprobs';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import type { GenerateOptions, TokenEvent } from '../../../src/engine/protocol';
import type { Session } from '../../../src/engine/worker/request/session';
import { readConfig } from '../../../src/model/config/read';
import { Llama } from '../../../src/model/llama';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { allocateWeights } from '../../../src/model/weights/weights';
import { LOGPROBS_RING } from '../../../src/sampling/logprobs';
import { openModel } from '../../../src/storage/model_file';
import { readFixture } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { GREEDY } from '../../sampling/params';
import { ask, numberSession, sharedRunAhead, TINY, tinyBackend } from '../doubles/loop_session';
import { openStoryteller } from '../storyteller';

/**
 * Greedy answers with the five likeliest tokens, by llama.cpp (wllama 3.8.1, on the CPU, keys and values in F32) over
 * the storyteller's weights dequantized to F32.
 */
const LLAMA_CPP: readonly {
  prompt: string;
  tokens: readonly { id: number; logprob: number; top: readonly [id: number, logprob: number][] }[];
}[] = JSON.parse(readFileSync(new URL('../../fixtures/storyteller/llama_cpp_logprobs.json', import.meta.url), 'utf8'));

/** Tokens of each of them that are compared, of 24: a step takes long on a GPU in software. */
const COMPARED = 10;

const PROMPT = readFixture(TINY).greedy.promptIds;
const TIMEOUT_MS = 200_000; // most of it compiling
const CLOSE = 1e-4;

type Reported = TokenEvent['logprobs'];

async function tinyCpu(contextLength: number): Promise<CpuBackend> {
  const files = await openModel(droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname));
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), contextLength);
}

function answer(backend: Backend, options: GenerateOptions, depth: number | 'shared' = 1) {
  const session: Session = numberSession(backend);
  if (depth === 'shared') session.runAhead = sharedRunAhead();
  const runAhead = depth === 'shared' ? 'auto' : depth;
  return ask(session, { prompt: PROMPT.join(' ') }, { ...options, runAhead });
}

/** Log probabilities within CLOSE, of the same tokens but for ties within CLOSE. */
function expectClose(found: readonly Reported[], wanted: readonly Reported[]): void {
  const numbers = (all: readonly Reported[]) =>
    all.map((each) => [each?.chosen, ...(each?.top ?? [])].map((token) => token?.logprob ?? Number.NaN));
  const worst = numbers(wanted).map((each, i) => Math.max(...each.map((x, j) => Math.abs(x - numbers(found)[i][j]))));
  expect(found).toHaveLength(wanted.length);
  expect(Math.max(...worst)).toBeLessThan(CLOSE);
  expect(found.map((each) => each?.chosen.id)).toEqual(wanted.map((each) => each?.chosen.id));
}

/** The likeliest tokens hold the chosen one with the same number, where they hold it. */
function expectConsistent(ids: readonly number[], reported: readonly Reported[]): void {
  for (const [i, each] of reported.entries()) {
    expect(each?.chosen.id).toBe(ids[i]);
    const among = each?.top.find(({ id }) => id === ids[i]);
    if (among) expect(among).toEqual(each?.chosen);
    const logprobs = (each?.top ?? []).map(({ logprob }) => logprob);
    expect(logprobs).toEqual([...logprobs].sort((a, b) => b - a));
  }
}

const SAMPLED = { temperature: 1, topK: 0, topP: 1, minP: 0, seed: 5 };
const CHANGED = {
  ...SAMPLED,
  repetitionPenalty: 1.2,
  presencePenalty: 0.5,
  frequencyPenalty: 0.3,
  logitBias: { 195: 3, 7: -100 },
};

describe('a tiny model', { timeout: TIMEOUT_MS }, () => {
  const CONTEXT = 48;
  const LONG = 10 * LOGPROBS_RING;

  test.each<[string, GenerateOptions, readonly (number | 'shared')[]]>([
    ['greedy', { temperature: 0 }, [1, 16]],
    ['sampled', SAMPLED, [8]],
    ['penalized and biased', CHANGED, [1, 'shared']],
  ])("%s: the textbook's, from the first token on, at any run-ahead", async (_title, options, depths) => {
    const gpu = await testGpu();
    const backend = await tinyBackend(gpu, CONTEXT);
    const given = { ...options, logprobs: 5 };
    const wanted = await answer(await tinyCpu(CONTEXT), given);
    expect(wanted.ids).toHaveLength(CONTEXT - PROMPT.length);
    for (const depth of depths) {
      const { ids, logprobs } = await answer(backend, given, depth);
      expect(ids, `run-ahead ${depth}`).toEqual(wanted.ids);
      expectConsistent(ids, logprobs);
      expectClose(logprobs, wanted.logprobs);
      expect((await answer(backend, options, depth)).ids).toEqual(ids);
    }
    expect(gpu.failure).toBeNull();
  });

  test('with the names of tokens, for 0 and 20 of the likeliest, and none unasked', async () => {
    const backend = await tinyBackend(await testGpu(), CONTEXT);
    const [first] = (await answer(backend, { temperature: 0, logprobs: 20, maxTokens: 1 })).logprobs;
    expect(first?.top).toHaveLength(20);
    const { id } = first?.top[3] ?? { id: 0 };
    expect(first?.top[3]).toMatchObject({ token: ` ${id}`, bytes: [...new TextEncoder().encode(` ${id}`)] });
    const [alone] = (await answer(backend, { temperature: 0, logprobs: 0, maxTokens: 1 })).logprobs;
    expect(alone).toEqual({ chosen: first?.chosen, top: [] });
    expect((await answer(backend, { temperature: 0, maxTokens: 2 })).logprobs).toEqual([undefined, undefined]);
  });

  test('through ten rounds of the ring, in rising and falling numbers to a readback', async () => {
    const backend = await tinyBackend(await testGpu(), LONG + PROMPT.length);
    const given = { ...SAMPLED, logprobs: 3 };
    const one = await answer(backend, given, 16);
    expect(one.ids).toHaveLength(LONG);
    expectConsistent(one.ids, one.logprobs);
    const session: Session = numberSession(backend);
    let steps = 0;
    const runAhead = sharedRunAhead();
    session.runAhead = Object.assign(runAhead, {
      depth: 40,
      arrived: () => {
        runAhead.shared = 1 + (steps++ % 16);
      },
    });
    const shared = await ask(session, { prompt: PROMPT.join(' ') }, given);
    expect(shared.ids).toEqual(one.ids);
    expect(shared.logprobs).toEqual(one.logprobs);
  });
});

describe('the storyteller', { timeout: TIMEOUT_MS }, () => {
  const CONTEXT = 64;
  const STORY = { prompt: 'Once upon a time' };

  async function open(activations: 'f32' | 'q8') {
    const gpu = await testGpu();
    const { files, tokenizer } = await openStoryteller();
    const config = readConfig(files);
    const { weights, read } = await allocateWeights(gpu, resolveTensors(files, config), config);
    const options = { contextLength: CONTEXT, kvType: 'f32', attention: 'fused_decode', activations } as const;
    const llama = await Llama.create(gpu, config, weights, options);
    await read(files);
    llama.start(weights);
    const session = { tokenizer, template: null, vocabSize: config.vocabSize, cachedIds: [] };
    return { gpu, files, config, llama, session };
  }

  /** Compiled once: that is most of a test's time. */
  let exact: ReturnType<typeof open> | undefined;
  function openExact() {
    exact ??= open('f32');
    return exact;
  }

  test("f32: the textbook's, through the loop", async () => {
    const { files, config, gpu, llama, session } = await openExact();
    const cpu = new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
    const given = { temperature: 0, logprobs: 5, maxTokens: 10 };
    const wanted = await ask({ ...session, backend: cpu }, STORY, given);
    const found = await ask({ ...session, backend: new WebGpuBackend(gpu, llama) }, STORY, { ...given, runAhead: 16 });
    expect(found.ids).toEqual(wanted.ids);
    expectConsistent(found.ids, found.logprobs);
    expectClose(found.logprobs, wanted.logprobs);
    const [{ chosen } = { chosen: null }] = found.logprobs;
    expect(chosen?.token).toBe(session.tokenizer.tokenText(chosen?.id ?? 0));
    expect(chosen?.bytes).toEqual([...session.tokenizer.tokenBytes(chosen?.id ?? 0)]);
  });

  test("f32: llama.cpp's, for the same weights in F32", async () => {
    const { gpu, llama, session } = await openExact();
    const backend = new WebGpuBackend(gpu, llama);
    for (const { prompt, tokens: all } of LLAMA_CPP) {
      const tokens = all.slice(0, COMPARED);
      const given = { temperature: 0, logprobs: 5, maxTokens: tokens.length };
      const { ids, logprobs } = await ask({ ...session, backend }, { prompt }, given);
      expect(ids).toEqual(tokens.map(({ id }) => id));
      for (const [i, { logprob, top }] of tokens.entries()) {
        const { chosen, top: found } = logprobs[i] as NonNullable<Reported>;
        expect(found.map(({ id }) => id)).toEqual(top.map(([id]) => id));
        const errors = found.map((each, j) => Math.abs(each.logprob - top[j][1]));
        expect(Math.max(Math.abs(chosen.logprob - logprob), ...errors)).toBeLessThan(1e-3);
      }
    }
  });

  test('q8: the textbook of its own logits', async () => {
    const { gpu, llama, session } = await open('q8');
    expect(llama.activations).toBe('q8');
    const backend = new WebGpuBackend(gpu, llama);
    await backend.begin({ ...GREEDY, logprobs: 20 }, false);
    const prompt = session.tokenizer.encode(STORY.prompt, { addSpecialTokens: true });
    const ignore = () => {};
    let { token } = await backend.prefill(Uint32Array.from(prompt), 0, ignore, () => false);
    for (let position = prompt.length; position < 16; position++) {
      const arrival = await token;
      if (arrival === null || typeof arrival === 'number' || !('ids' in arrival))
        throw new Error('no log probabilities');
      const [{ chosen, top }] = arrival.logprobs;
      const wanted = textbook(await llama.readLogits(), arrival.ids[0], 20);
      expect(top.map(({ id }) => id)).toEqual(wanted.top.map(({ id }) => id));
      const errors = top.map(({ logprob }, i) => Math.abs(logprob - wanted.top[i].logprob));
      expect(Math.max(Math.abs(chosen - wanted.chosen), ...errors)).toBeLessThan(CLOSE);
      token = backend.decode(position);
    }
    await token;
    expect(gpu.failure).toBeNull();
  });
});
