// Fused steps through the loop: workgroups that hand words to one another, and what becomes of an answer when they
// lose, delay or damage them. Where a machine runs two workgroups one after the other, an honest step gives up, too;
// tests of two workgroups hold whatever honest steps do.

import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { WebGpuBackend } from '../../../src/engine/backend/webgpu_backend';
import { chooseStep } from '../../../src/engine/load/settle';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import type { Session } from '../../../src/engine/worker/request/session';
import type { Llama } from '../../../src/model/llama';
import { GAVE_UP } from '../../../src/sampling/sampling';
import { recheck } from '../../../src/tune/witness';
import { relativeError } from '../../close';
import { testGpu } from '../../gpu/test_device';
import { CONTEXT, type Fault, faultyCpu, faultyLlama, SPINS } from '../doubles/faulty_step';
import { numberSession, sharedRunAhead } from '../doubles/loop_session';

/** A prompt whose likeliest tokens are far ahead of all others, by 7 % of the largest logit. */
const PROMPT = '231 83 30';
/** Position of the first decode step: the prompt's pass brings the token for it. */
const FIRST = 3;
const TOKENS = 30;
const LAST = FIRST + TOKENS - 1;
/** Most times that a step of two workgroups is tried until both run at once. */
const TRIES = 200;
/** Largest error of logits, as a share of that of plain steps. */
const NO_FARTHER = 1.5;
/** Largest difference of log probabilities between fused and plain steps, which round otherwise. */
const NEAR = 0.2;
const TIMEOUT_MS = 180_000; // most of it compiling

async function answer(llama: Llama, runAhead?: number) {
  return answerOf(numberSession(new WebGpuBackend(await testGpu(), llama)), runAhead);
}

async function answerOf(session: Session, runAhead?: number, options: GenerateOptions = {}) {
  const events: EngineEvent[] = [];
  await generate(
    session,
    { prompt: PROMPT },
    { temperature: 0, maxTokens: TOKENS, runAhead, ...options },
    (some) => events.push(...some),
    () => false,
  );
  const [done] = events.filter((event) => event.type === 'done');
  return {
    ids: events.flatMap((event) => (event.type === 'token' ? [event.id] : [])),
    logprobs: events.flatMap((event) => (event.type === 'token' && event.logprobs ? [event.logprobs] : [])),
    warnings: events.flatMap((event) => (event.type === 'warning' ? [event] : [])),
    step: done.metrics.step,
  };
}

async function plainIds(): Promise<number[]> {
  return (await answer((await faultyLlama({ step: 'plain' })).llama)).ids;
}

const always = (kind: Fault['kind'], workgroup = 1): Fault => ({ kind, workgroup, from: 0, to: CONTEXT });

/** Logits after each id, one token a pass. */
async function logitsOf({ llama }: { llama: Llama }, ids: readonly number[]): Promise<Float32Array[]> {
  const logits: Float32Array[] = [];
  for (const position of ids.keys()) {
    llama.writeTokens(Uint32Array.from(ids), 0); // the sampler has overwritten the next one
    await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
    logits.push(await llama.readLogits());
  }
  return logits;
}

test('logits are about as far from f32 as those of plain steps', { timeout: TIMEOUT_MS }, async () => {
  const cpu = await faultyCpu();
  const ids = Array.from({ length: 40 }, (_, i) => i * 6 + 3);
  const exact = ids.map((id, position) => Float32Array.from(cpu.forward(id, position)));
  const worst = (logits: Float32Array[]) => Math.max(...logits.map((each, i) => relativeError(each, exact[i])));
  const plain = worst(await logitsOf(await faultyLlama({ step: 'plain' }), ids));
  const fused = worst(await logitsOf(await faultyLlama({ apart: true }), ids));
  expect(plain).toBeGreaterThan(1e-3); // otherwise nothing was rounded
  expect(fused).toBeGreaterThan(1e-3);
  expect(fused / plain).toBeLessThan(NO_FARTHER);
});

describe('two workgroups', { timeout: TIMEOUT_MS }, () => {
  test.skipIf(availableParallelism() < 2).each<Fault['kind']>(['none', 'late'])(
    'decode the ids of the same step apart; fault: %s (skipped on one core)',
    async (kind) => {
      const apart = await faultyLlama({ apart: true });
      const expected = await answer(apart.llama);
      expect(expected.warnings).toEqual([]);
      expect(new Set(expected.ids).size).toBeGreaterThan(3);
      const { llama, gpu } = await faultyLlama({ fault: always(kind) });
      const prompt = Uint32Array.from(PROMPT.split(' '), Number);
      llama.writeTokens(prompt, 0);
      await llama.pass(FIRST, 'sample', 0).run({ position: 0, nTokens: FIRST });
      for (let position = FIRST; position < LAST; position++) {
        for (let tries = 1; ; tries++) {
          await llama.pass(1, 'sample', position).run({ position, nTokens: 1 });
          const [id] = new Uint32Array(await gpu.read({ buffer: llama.tokens, offset: 4 * (position + 1), size: 4 }));
          if (id !== GAVE_UP) break;
          expect(tries, `position ${position}`).toBeLessThan(TRIES);
          llama.stepped.fused?.reset(SPINS);
        }
      }
      const ids = new Uint32Array(await gpu.read({ buffer: llama.tokens, offset: 4 * FIRST, size: 4 * TOKENS }));
      expect([...ids]).toEqual(expected.ids);
    },
  );

  test('answer as plain steps do, whatever gives up', async () => {
    const { llama } = await faultyLlama({});
    const { ids, warnings, step } = await answer(llama);
    expect(ids).toEqual(await plainIds());
    expect(step.giveUps).toBe(warnings.length);
    expect(step.name).toBe(warnings.length < 3 ? 'fused' : 'plain');
  });

  test.each<[Fault['kind'], number | undefined]>([
    ['lost', undefined],
    ['lost', 1],
    ['wrong epoch', undefined],
  ])('%s words at each step, run-ahead %s: three warnings, then plain to the end', async (kind, runAhead) => {
    const { llama } = await faultyLlama({ fault: always(kind) });
    const { ids, warnings, step } = await answer(llama, runAhead);
    expect(ids).toEqual(await plainIds());
    expect(warnings.map(({ code }) => code)).toEqual(Array(3).fill('step-gave-up'));
    const gaveUp = (position: number) => `A fused decode step gave up waiting at position ${position}, and ran again`;
    expect(warnings.map(({ message }) => message)).toEqual([
      `${gaveUp(FIRST)} as a plain step (1 of 3 before it is turned off).`,
      `${gaveUp(FIRST + 1)} as a plain step (2 of 3 before it is turned off).`,
      `${gaveUp(FIRST + 2)} as a plain step. It has done so 3 times, and stays off until the next load.`,
    ]);
    expect(step).toEqual({ name: 'plain', reason: 'the fused step gave up 3 times', gain: null, giveUps: 3 });
    const next = await answer(llama);
    expect(next).toMatchObject({ ids, warnings: [], step: { name: 'plain', giveUps: 3 } });
  });
});

describe('one workgroup', { timeout: TIMEOUT_MS }, () => {
  test('runs every step, without a give-up', async () => {
    const { llama } = await faultyLlama({ groups: 1 });
    const { ids, warnings, step } = await answer(llama);
    expect(ids).toEqual(await plainIds());
    expect(warnings).toEqual([]);
    expect(step).toMatchObject({ name: 'fused', giveUps: 0 });
  });

  test.each<Fault['kind']>(['lost', 'wrong epoch'])(
    '%s words at one step: one warning, then fused again',
    async (kind) => {
      const { llama } = await faultyLlama({ groups: 1, fault: { kind, workgroup: 0, from: 8, to: 9 } });
      const { ids, warnings, step } = await answer(llama);
      expect(ids).toEqual(await plainIds());
      expect(warnings.map(({ message }) => message)).toEqual([
        'A fused decode step gave up waiting at position 8, and ran again as a plain step (1 of 3 before it is turned off).',
      ]);
      expect(step).toEqual({ name: 'fused', reason: 'a test', gain: null, giveUps: 1 });
    },
  );
});

describe('one workgroup that loses words', { timeout: TIMEOUT_MS }, () => {
  const lostAt = async (position: number) => {
    const fault: Fault = { kind: 'lost', workgroup: 0, from: position, to: position + 1 };
    const { llama, gpu } = await faultyLlama({ groups: 1, fault });
    return new WebGpuBackend(gpu, llama);
  };

  test('in a step that shares its readback: the same text, one warning', async () => {
    const session = { ...numberSession(await lostAt(10)), runAhead: sharedRunAhead() };
    const { ids, warnings } = await answerOf(session);
    expect(ids).toEqual(await plainIds());
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('at position 10,')]);
  });

  test('its log probabilities are those of the steps that ran again', async () => {
    const { llama, gpu } = await faultyLlama({ step: 'plain' });
    const options = { logprobs: 3, frequencyPenalty: 0.01 };
    const plain = await answerOf(numberSession(new WebGpuBackend(gpu, llama)), undefined, options);
    const chosenOnes = plain.logprobs.map(({ chosen }) => chosen.logprob);
    expect(Math.max(...chosenOnes) - Math.min(...chosenOnes)).toBeGreaterThan(4 * NEAR);
    for (const runAhead of [sharedRunAhead(), undefined]) {
      const session = { ...numberSession(await lostAt(10)), runAhead };
      const { ids, warnings, logprobs } = await answerOf(session, undefined, options);
      expect(ids).toEqual(plain.ids);
      expect(warnings).toHaveLength(1);
      expect(logprobs.map(({ chosen }) => chosen.id)).toEqual(ids);
      for (const [i, { chosen, top }] of logprobs.entries()) {
        expect(top[0]).toEqual(chosen); // far ahead of all others
        expect(Math.abs(chosen.logprob - plain.logprobs[i].chosen.logprob), `token ${i}`).toBeLessThan(NEAR);
      }
    }
  });

  test('while a load warms up: the first answer is right', async () => {
    const backend = await lostAt(0);
    await backend.warmUp();
    const { ids, warnings, step } = await answerOf(numberSession(backend));
    expect(ids).toEqual(await plainIds());
    expect(warnings).toEqual([]);
    expect(step).toMatchObject({ name: 'fused', giveUps: 1 });
  });

  test('in the pass of a prompt whose last token alone is new: the same text, one warning', async () => {
    const session = numberSession(await lostAt(FIRST - 1));
    const expected = await plainIds();
    expect(await answerOf(session)).toMatchObject({ ids: expected, warnings: [] }); // a pass of three tokens is plain
    const { ids, warnings, step } = await answerOf(session);
    expect(ids).toEqual(expected);
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(`at position ${FIRST - 1},`)]);
    expect(step).toMatchObject({ name: 'fused', giveUps: 1 });
  });
});

describe('a load', { timeout: TIMEOUT_MS }, () => {
  const NOT_AT_ONCE = 'its 2 workgroups did not all run at once';
  const OFF = /the fused step is \d+\.\d% off plain steps, more than 5%/;
  const choose = async (loaded: Awaited<ReturnType<typeof faultyLlama>>, asked: 'auto' | 'fused') => {
    const { gpu, llama, config, weights } = loaded;
    const rest = { kvType: 'f32', contextLength: CONTEXT, activations: 'q8', profile: null } as const;
    await chooseStep(gpu, llama, { asked, config, weights, ...rest });
    return llama.step;
  };

  test.each<[string, Fault['kind'], string | RegExp]>([
    ['gives up', 'lost', NOT_AT_ONCE],
    ['is wrong', 'damaged', OFF],
  ])('takes plain steps where the fused one %s, and they answer', async (_title, kind, reason) => {
    // Apart, nothing gives up by itself.
    const loaded = await faultyLlama({ fault: always(kind), apart: kind === 'damaged' });
    expect(await choose(loaded, 'auto')).toEqual({
      name: 'plain',
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
      gain: null,
      giveUps: 0,
    });
    const { ids, warnings, step } = await answer(loaded.llama);
    expect(ids).toEqual(await plainIds());
    expect(warnings).toEqual([]);
    expect(step.name).toBe('plain');
  });

  test('refuses by name a fused step that is wrong here', async () => {
    const loaded = await faultyLlama({ fault: always('damaged'), apart: true });
    await expect(choose(loaded, 'fused')).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(
        new RegExp(`^Step "fused" cannot run here: ${OFF.source}\\. Choose step auto or plain\\.$`),
      ),
    });
  });

  test('takes by name a fused step that is right', async () => {
    const loaded = await faultyLlama({ apart: true });
    expect(await choose(loaded, 'fused')).toMatchObject({ name: 'fused', reason: 'asked for by name', giveUps: 0 });
    expect((await answer(loaded.llama)).ids).toEqual(await plainIds());
  });
});

test('a step that gives up in a check of the GPU runs again as a plain step: nothing computes other numbers', {
  timeout: TIMEOUT_MS,
}, async () => {
  const fault: Fault = { kind: 'none', workgroup: 0, from: 0, to: CONTEXT };
  const { gpu, llama } = await faultyLlama({ groups: 1, spins: 64, fault });
  const { fused } = llama.stepped;
  const again = async (witness: Float32Array) => recheck({ gpu, llama, witness, decoder: () => '' }, () => false);
  const witness = await llama.witnessed.runWitness();
  fault.kind = 'lost';
  fused?.reset(64);
  expect(await again(witness)).toBeNull();
  expect(llama.step.giveUps).toBe(1);
  expect(await fused?.gaveUp()).toBe(false);
  expect(await again(await llama.witnessed.runWitness())).toBeNull();
});
