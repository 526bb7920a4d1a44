// Answers beside one another on the GPU: a tiny model whose requests take turns after each step and each chunk of a
// prompt. Each has the very ids that it has alone.

import { expect, test } from 'vitest';
import type { EngineEvent, GenerateOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { Branches } from '../../../src/engine/worker/prefix_cache/branches';
import type { Session } from '../../../src/engine/worker/request/session';
import { Turns } from '../../../src/engine/worker/turns/turns';
import { compileConstraint } from '../../../src/grammar/constraint';
import type { Tokenizer } from '../../../src/text/tokenizer';
import { testGpu } from '../../gpu/test_device';
import { numberSession, tinyBackend } from '../doubles/loop_session';

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, i) => (first + 7 * i) % 250);
/** Numbers that begin with a digit, and letters. */
const digits = (digit: number) => ({ kind: 'regex', source: `(${digit}\\d{1,3}[a-f])+` }) as const;

interface Asked {
  ids: readonly number[];
  options: GenerateOptions;
  digit?: number;
}

const SAMPLED = { temperature: 0.9, topK: 0, topP: 1, minP: 0 };
const LONG: Asked = { ids: numbers(3, 516), options: { ...SAMPLED, seed: 5, maxTokens: 4, repetitionPenalty: 1.3 } };
const SHORT: Asked[] = [
  { ids: numbers(5, 20), options: { temperature: 0, seed: 1, maxTokens: 8, logprobs: 2 } },
  { ids: numbers(9, 20), options: { ...SAMPLED, seed: 7, maxTokens: 8, frequencyPenalty: 1 }, digit: 1 },
  { ids: numbers(11, 20), options: { ...SAMPLED, seed: 8, maxTokens: 8, logitBias: { 77: 4 } }, digit: 6 },
  LONG,
];

const letters: Partial<Tokenizer> = {
  eosIds: [258],
  tokenBytes: (id) => (id < 256 ? Uint8Array.of(id) : new Uint8Array()),
  decode: (ids) => String.fromCharCode(...Array.from(ids)),
  tokenText: (id) => String.fromCharCode(id),
};

test('each has the ids and log probabilities that it has alone, also of a long prompt and of constraints', async () => {
  const gpu = await testGpu();
  const session = { ...numberSession(await tinyBackend(gpu, 524)), tokenizer: letters as Tokenizer } as Session;
  session.branches = new Branches(session.backend.parking!, 1e9);
  let ticks = 0;
  const turns = new Turns(0, () => ticks++);
  const order: number[] = [];
  /** What must not depend on others, and the last figures. */
  const run = async ({ ids, options, digit }: Asked, number: number) => {
    const events: EngineEvent[] = [];
    const emit = (more: readonly EngineEvent[]) => {
      events.push(...more);
      if (more.some(({ type }) => type === 'token' || type === 'prefill')) order.push(number);
    };
    const asked = digit ? { ...compileConstraint(digits(digit)), onlyCalls: false } : undefined;
    const turn = await turns.enter({ stopped: () => false });
    const all = { ...options, reuseCache: false, gpuTimes: true };
    await generate(session, { ids }, all, emit, () => false, undefined, asked, turn!).finally(() => turn!.leave());
    const tokens = events.filter((event) => event.type === 'token');
    const done = events.find((event) => event.type === 'done');
    return {
      said: { ids: tokens.map(({ id }) => id), logprobs: tokens.map(({ logprobs }) => logprobs) },
      done,
      gpuMs: events.find((event) => event.type === 'gpuTimes')?.gpuMs,
    };
  };
  const alone: Awaited<ReturnType<typeof run>>[] = [];
  for (const [i, asked] of SHORT.entries()) alone.push(await run(asked, i));
  session.branches.giveUp();
  const before = gpu.allocatedBytes;
  turns.most = 4;
  order.length = 0;
  const beside = await Promise.all(SHORT.map(run));
  expect(beside.map(({ said }) => said)).toEqual(alone.map(({ said }) => said));
  const changes = order.filter((number, i) => i > 0 && number !== order[i - 1]).length;
  expect(changes).toBeGreaterThan(6);
  for (const [i, { done, gpuMs }] of beside.entries()) {
    expect(done?.metrics.othersMs).toBeGreaterThan(0);
    expect(done?.metrics.perToken?.dispatches).toBe(alone[i].done?.metrics.perToken?.dispatches);
    expect(gpuMs?.perToken.length).toBe(alone[i].gpuMs?.perToken.length);
  }
  (session as Required<Session>).branches.giveUp();
  expect([gpu.allocatedBytes, gpu.failure]).toEqual([before, null]); // nothing that was set aside is left
});
