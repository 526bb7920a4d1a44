// Loads with broken attention: the storyteller through loadModel, on a GPU with deliberate defects.

import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import type { AttentionName } from '../../../src/attention/attention';
import { loadModel } from '../../../src/engine/load/load';
import type { EngineEvent, GenerateInput, LoadOptions } from '../../../src/engine/protocol';
import { generate } from '../../../src/engine/worker/generate';
import { Gpu } from '../../../src/gpu/device';
import { testGpu } from '../../gpu/test_device';
import { ALL_REFUSED, breakSiblings, type Defect } from '../doubles/broken_gpu';
import { STORYTELLER } from '../storyteller';

const FIXTURE = new URL('../../fixtures/storyteller/greedy.json', import.meta.url);
const [{ prompt, ids: EXPECTED }] = JSON.parse(readFileSync(FIXTURE, 'utf8'));

afterEach(() => vi.restoreAllMocks());

async function load(defects: Partial<Record<AttentionName, Defect>>, options: LoadOptions = {}) {
  const gpu = breakSiblings(await testGpu(), defects);
  vi.spyOn(Gpu, 'request').mockResolvedValue(gpu);
  const file = new File([readFileSync(STORYTELLER)], 'storyteller-q8_0.gguf');
  const given = { contextLength: 128, ...options };
  return loadModel(file, given, () => {}, new AbortController().signal);
}

async function answer({ session }: Awaited<ReturnType<typeof load>>, maxTokens: number) {
  const events: EngineEvent[] = [];
  const input: GenerateInput = { messages: [{ role: 'user', content: prompt }] };
  await generate(
    session,
    input,
    { temperature: 0, maxTokens },
    (some) => events.push(...some),
    () => false,
  );
  return events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
}

test('a sibling that is wrong is a warning with its successor, the story the same', { timeout: 200_000 }, async () => {
  const loaded = await load({ flash_prefill: 'wrong' });
  const { info } = loaded;
  expect(info).toMatchObject({ backend: 'webgpu', activations: 'f32' }); // the choice for a software GPU
  expect(info.attention).toMatchObject({ prefill: 'chunked', decode: 'fused_decode' });
  expect(info.warnings).toHaveLength(1);
  expect(info.warnings[0].code).toBe('attention-fallback');
  expect(info.warnings[0].message).toMatch(
    /^The attention kernel flash_prefill is not used: .*its outputs.*\. chunked runs instead\.$/,
  );
  expect(await answer(loaded, 6)).toEqual(EXPECTED.slice(0, 6));
});

test('where no attention runs on the GPU the CPU takes over, with a warning', async () => {
  const loaded = await load(ALL_REFUSED);
  expect(loaded.info).toMatchObject({ backend: 'cpu', adapter: null, kvCache: 'f32', activations: 'f32' });
  expect(loaded.info.gpuBytes).toBeNull();
  expect(loaded.info.attention).toMatchObject({ prefill: 'textbook', decode: 'textbook' });
  expect(loaded.info.step).toEqual({ name: 'plain', reason: 'the CPU has no fused step', gain: null, giveUps: 0 });
  expect(loaded.info.warnings).toHaveLength(1);
  const [{ code, message }] = loaded.info.warnings;
  expect(code).toBe('attention-fallback');
  expect(message).toMatch(/flash_prefill: .*cpu: .* Running on the CPU, which is much slower\.$/);
  expect(message).not.toContain('Use "auto"');
  expect(await answer(loaded, 3)).toEqual(EXPECTED.slice(0, 3));
  await expect(
    loaded.session.backend.tune(
      () => {},
      () => false,
    ),
  ).rejects.toMatchObject({ code: 'invalid-request' });
});

test.each<[string, Partial<Record<AttentionName, Defect>>, LoadOptions]>([
  ['the GPU was asked for', ALL_REFUSED, { backend: 'webgpu' }],
  ['the sibling was asked for', { eager: 'refused' }, { attention: 'eager' }],
])('but where %s it is a typed error', async (_, defects, options) => {
  await expect(load(defects, options)).rejects.toMatchObject({ code: 'attention-unavailable' });
});
