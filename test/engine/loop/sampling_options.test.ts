// Biases, bans and penalties through the loop: the ids of the GPU are those of the textbook, and of their meaning.

import { describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import type { GenerateOptions } from '../../../src/engine/protocol';
import type { Session } from '../../../src/engine/worker/request/session';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import { readFixture } from '../../cpu/fixtures';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { ask, numberSession, sharedRunAhead, TINY, tinyBackend } from '../doubles/loop_session';

const CONTEXT = 64;
const PROMPT = readFixture(TINY).greedy.promptIds;
const GREEDY = { temperature: 0, maxTokens: 24 };
const TIMEOUT_MS = 200_000; // most of it compiling
const DEPTHS = [16, 'shared'] as const;

let opened: Promise<{ cpu: CpuBackend; webgpu: Backend }> | null = null;

function backends() {
  const open = async () => {
    const files = await openModel(droppedFolder(new URL(`../../fixtures/llama/${TINY}`, import.meta.url).pathname));
    const config = readConfig(files);
    const cpu = new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
    return { cpu, webgpu: await tinyBackend(await testGpu(), CONTEXT) };
  };
  opened ??= open();
  return opened;
}

async function answer(
  backend: Backend,
  options: GenerateOptions,
  eosIds: number[],
  depth: (typeof DEPTHS)[number] | 1,
) {
  const session: Session = numberSession(backend, eosIds);
  if (depth === 'shared') session.runAhead = sharedRunAhead();
  const runAhead = depth === 'shared' ? 'auto' : depth;
  const { ids, done } = await ask(session, { prompt: PROMPT.join(' ') }, { ...GREEDY, ...options, runAhead });
  return { ids, finishReason: done.finishReason };
}

/** The textbook's answer, which the GPU gives at any run-ahead. */
async function everywhere(options: GenerateOptions, eosIds: number[] = []) {
  const { cpu, webgpu } = await backends();
  const wanted = await answer(cpu, options, eosIds, 1);
  for (const depth of DEPTHS) {
    expect(await answer(webgpu, options, eosIds, depth), `run-ahead ${depth}`).toEqual(wanted);
  }
  expect((await testGpu()).failure).toBeNull();
  return wanted;
}

describe('on a tiny model', { timeout: TIMEOUT_MS }, () => {
  test('a bias of -100 keeps a token away, one of 100 makes it the only one', async () => {
    const { ids } = await everywhere({});
    const banned = await everywhere({ logitBias: { [ids[3]]: -100 } });
    expect(banned.ids.slice(0, 3)).toEqual(ids.slice(0, 3));
    expect(banned.ids).not.toContain(ids[3]);
    expect((await everywhere({ logitBias: { 17: 100 } })).ids).toEqual(new Array(24).fill(17));
  });

  test('an end token cannot come before minTokens, and ends the answer after them', async () => {
    const { ids } = await everywhere({});
    const eos = [ids[4]];
    const at = ids.indexOf(eos[0]);
    expect(await everywhere({}, eos)).toEqual({ ids: ids.slice(0, at + 1), finishReason: 'eos' });
    // A bias that makes the end token the likeliest shows the first place where it can come.
    const likely = { logitBias: { [eos[0]]: 100 } };
    for (const minTokens of [1, 9, 23]) {
      const later = await everywhere({ ...likely, minTokens }, eos);
      expect(later.finishReason).toBe('eos');
      expect(later.ids).toHaveLength(minTokens + 1);
      expect(later.ids.indexOf(eos[0])).toBe(minTokens);
      expect((await everywhere({ minTokens }, eos)).ids.slice(0, minTokens)).not.toContain(eos[0]);
    }
    expect((await everywhere({ minTokens: 24 }, eos)).finishReason).toBe('length');
  });

  test('with ignoreEos the end tokens never come', async () => {
    const { ids } = await everywhere({});
    const eos = [ids[4], ids[0]];
    const whole = await everywhere({ ignoreEos: true, minTokens: 2 }, eos);
    expect(whole.finishReason).toBe('length');
    expect(whole.ids).toHaveLength(24);
    for (const id of eos) expect(whole.ids).not.toContain(id);
  });

  test('presence and frequency penalties count the answer alone', async () => {
    const { ids } = await everywhere({ logitBias: { 17: 1.5 } });
    const distinct = (all: readonly number[]) => new Set(all).size;
    const present = await everywhere({ presencePenalty: 2, logitBias: { 17: 1.5 } });
    const often = await everywhere({ frequencyPenalty: 2, logitBias: { 17: 1.5 } });
    expect(present.ids[0]).toBe(ids[0]); // nothing of the answer is there yet
    expect(often.ids[0]).toBe(ids[0]);
    expect(distinct(often.ids)).toBeGreaterThan(distinct(ids));
    const negative = await everywhere({ frequencyPenalty: -2 });
    expect(distinct(negative.ids)).toBeLessThan(distinct(often.ids));
  });

  test('all at once, sampled', async () => {
    const sampled = { temperature: 0.9, topK: 0, topP: 1, minP: 0.02, seed: 3 };
    const penalties = { repetitionPenalty: 1.1, presencePenalty: 0.4, frequencyPenalty: 0.2 };
    await everywhere({ ...sampled, ...penalties, logitBias: { 17: 4, 3: -100 }, minTokens: 8 }, [17, 40]);
  });

  test('a token outside the vocabulary is refused by its number', async () => {
    const { webgpu } = await backends();
    await expect(answer(webgpu, { logitBias: { 259: 1 } }, [], 1)).rejects.toMatchObject({
      code: 'invalid-request',
      message: 'logitBias names token 259, but the model has tokens 0 to 258.',
    });
  });
});
