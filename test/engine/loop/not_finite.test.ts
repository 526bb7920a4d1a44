// A NaN or an infinity in the weights is a typed error, and the next request starts afresh. loop.test.ts tests the GPU.

import { describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/engine/backend/backend';
import { CpuBackend, loadCpuWeights } from '../../../src/engine/backend/cpu_backend';
import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { NO_TOKEN } from '../../../src/sampling/sampling';
import { openModel } from '../../../src/storage/model_file';
import { ask, damagedFiles, numberSession } from '../doubles/loop_session';
import { ScriptBackend } from '../doubles/script_backend';

const CONTEXT = 48;
const SAMPLED = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0, seed: 7, maxTokens: 4 };
const GREEDY = { temperature: 0, maxTokens: 4 };

async function cpuBackend(dropped: File[]): Promise<Backend> {
  const files = await openModel(dropped);
  const config = readConfig(files);
  return new CpuBackend(config, await loadCpuWeights(resolveTensors(files, config)), CONTEXT);
}

async function expectError(backend: Backend): Promise<void> {
  for (const options of [GREEDY, SAMPLED, { ...SAMPLED, repetitionPenalty: 1.2 }]) {
    const session = numberSession(backend);
    const error = { code: 'not-finite', canRetry: false, position: 3 };
    await expect(ask(session, { prompt: '10 20 30' }, options)).rejects.toMatchObject(error);
    expect(session.cachedIds).toEqual([]); // keys and values are damaged, too
  }
}

describe('the cpu backend', () => {
  for (const tensor of [
    'model.layers.0.input_layernorm.weight',
    'model.layers.0.self_attn.v_proj.weight',
    'model.layers.1.mlp.down_proj.weight',
    'model.norm.weight',
  ]) {
    test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(`${tensor} with %d`, async (value) => {
      await expectError(await cpuBackend(await damagedFiles(tensor, value)));
    });
  }
});

test('a token that is none ends the answer after those before it, and the next request begins anew', async () => {
  let bad = true;
  const backend = new ScriptBackend(CONTEXT, (position) => (bad && position === 6 ? NO_TOKEN : position));
  const session = numberSession(backend);
  let tokens = 0;
  const onToken = () => tokens++;
  await expect(ask(session, { prompt: '1 2 3' }, { runAhead: 4 }, { onToken })).rejects.toMatchObject({ position: 6 });
  expect(tokens).toBe(3);
  bad = false;
  const { done } = await ask(session, { prompt: '1 2 3 3' }, { maxTokens: 4 });
  expect(done).toMatchObject({ finishReason: 'length', usage: { cachedTokens: 0 } });
});
