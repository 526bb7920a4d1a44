// What products run on: as asked, or as the adapter is. That info says q8 where it runs is held by quality.test.ts.

import { describe, expect, test } from 'vitest';
import { chooseActivations } from '../../src/engine/load_options';
import type { LoadOptions } from '../../src/engine/protocol';
import { loadModel } from '../../src/engine/session';
import { testGpu } from '../gpu/test_device';
import { droppedFolder } from '../model/files';
import { byteLevelJson } from '../text/tiny_vocabulary';

const FOLDER = new URL('../fixtures/llama/f16_group1_hd32_tied', import.meta.url).pathname;

function load(options: LoadOptions) {
  const files = [...droppedFolder(FOLDER), new File([JSON.stringify(byteLevelJson())], 'tokenizer.json')];
  return loadModel(files, { contextLength: 32, ...options }, () => {}, new AbortController().signal);
}

test.each<[LoadOptions['activations'], boolean, 'f32' | 'q8']>([
  [undefined, false, 'q8'],
  ['auto', false, 'q8'],
  ['auto', true, 'f32'],
  ['q8', true, 'q8'],
  ['f32', false, 'f32'],
])('%s where the adapter is software: %s, is %s', (activations, isSoftware, chosen) => {
  expect(chooseActivations({ activations }, isSoftware)).toBe(chosen);
});

describe('refused with a sentence', () => {
  const refuse = async (options: LoadOptions, pattern: RegExp) => {
    const loading = load(options);
    await expect(loading).rejects.toMatchObject({ code: 'invalid-request' });
    await expect(loading).rejects.toThrow(pattern);
  };

  test('q8 where no matrix has integers', () =>
    refuse({ activations: 'q8' }, /need matrices of integers, and those of this model are F16\. .*--quantize/));

  test('q8 on the cpu', () => refuse({ activations: 'q8', quantize: 'q8', backend: 'cpu' }, /need WebGPU/));

  test('a hub or a cache that is none', async () => {
    await refuse({ hubUrl: 'ftp://hub' }, /^hubUrl must be an http or https address, got ftp:\/\/hub\.$/);
    await refuse({ cache: 'always' } as unknown as LoadOptions, /^cache must be true, false or check, got always\.$/);
  });

  test('another value', async () => {
    for (const activations of ['f16', '', null]) {
      const pattern = new RegExp(`^activations must be auto, f32 or q8, got ${activations}\\.$`);
      await refuse({ activations } as unknown as LoadOptions, pattern);
    }
  });
});

test('on the cpu info says f32', async () => {
  const { info } = await load({ backend: 'cpu', quantize: 'q8' });
  expect(info.activations).toBe('f32');
});

test('an adapter of software is known for one', async () => {
  const gpu = await testGpu();
  expect(gpu.isSoftware).toBe(/swiftshader|llvmpipe/i.test(gpu.adapterName));
});
