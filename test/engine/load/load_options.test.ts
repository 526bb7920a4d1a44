// Options of a load: refusals, and the choice of the context. quality.test.ts checks that info reports q8.

import { describe, expect, test } from 'vitest';
import { loadModel } from '../../../src/engine/load/load';
import { chooseContext, resolveLoad } from '../../../src/engine/load/load_options';
import type { LoadOptions, Warning } from '../../../src/engine/protocol';
import type { ModelConfig } from '../../../src/model/config/config';
import { readConfig } from '../../../src/model/config/read';
import type { ModelFiles } from '../../../src/storage/model_files';
import { testGpu } from '../../gpu/test_device';
import { droppedFolder } from '../../model/fixtures/files';
import { PLAIN_MODELS } from '../../model/fixtures/published_plain';
import { SPECIAL_MODELS } from '../../model/fixtures/published_special';
import { byteLevelJson } from '../../text/tiny_vocabulary';

const FOLDER = new URL('../../fixtures/llama/f16_group1_hd32_tied', import.meta.url).pathname;

function load(options: LoadOptions) {
  const files = [...droppedFolder(FOLDER), new File([JSON.stringify(byteLevelJson())], 'tokenizer.json')];
  return loadModel(files, { contextLength: 32, ...options }, () => {}, new AbortController().signal);
}

describe('refused with a sentence', () => {
  const refuse = async (options: LoadOptions, pattern: RegExp, option: string) => {
    const loading = load(options);
    await expect(loading).rejects.toMatchObject({ code: 'invalid-request', option });
    await expect(loading).rejects.toThrow(pattern);
  };

  test('q8 where no matrix has integers', () =>
    refuse(
      { activations: 'q8' },
      /need matrices of integers; those of this model are F16\. .*quantize q8 or q4/,
      'activations',
    ));

  test('the fused step on the cpu', () =>
    refuse(
      { step: 'fused', backend: 'cpu' },
      /^Step "fused" cannot run here: the CPU has no fused step\. Choose/,
      'step',
    ));

  test('q8 on the cpu', () =>
    refuse({ activations: 'q8', quantize: 'q8', backend: 'cpu' }, /need WebGPU/, 'activations'));

  test('the hash of files that are not fetched', () =>
    refuse({ sha256: 'a'.repeat(64) }, /^sha256 needs the address of a model, not a file\.$/, 'sha256'));

  test('a hub or a cache that is none', async () => {
    await refuse({ hubUrl: 'ftp://hub' }, /^hubUrl must be an http or https address, got ftp:\/\/hub\.$/, 'hubUrl');
    const always = { cache: 'always' } as unknown as LoadOptions;
    await refuse(always, /^cache must be true, false or check, got always\.$/, 'cache');
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, '[object Undefined]'],
    ['an empty text', '', 'a blank text'],
    ['a text of spaces', '   ', 'a blank text'],
    ['an empty array', [], 'no file'],
    ['the list of an input', { 0: new File([], 'a.gguf'), [Symbol.toStringTag]: 'FileList' }, '[object FileList]'],
    ['a Blob without a name', new Blob([]), '[object Blob]'],
    ['addresses in an array', [new File([], 'a'), 'b.safetensors'], '[object String]'],
  ])('%s as a model', async (_, model, got) => {
    const loading = loadModel(model as string, {}, () => {}, new AbortController().signal);
    await expect(loading).rejects.toMatchObject({
      code: 'invalid-request',
      option: 'model',
      message:
        'A model is the address of a .gguf file or of a folder, hf:owner/repo, a File or an array of Files, ' +
        `got ${got}. Of an input, pass Array.from(input.files).`,
    });
  });

  test('another value', async () => {
    for (const activations of ['f16', '', null]) {
      const pattern = new RegExp(`^activations must be auto, q8 or f32, got ${activations}\\.$`);
      await refuse({ activations } as unknown as LoadOptions, pattern, 'activations');
    }
  });
});

test('a quantized checkpoint is named as one, not by the types of its tensors', async () => {
  const header = JSON.stringify({
    'model.layers.0.mlp.down_proj.qweight': { dtype: 'I32', shape: [1], data_offsets: [0, 4] },
  });
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const weights = new File([BigUint64Array.of(BigInt(padded.length)), padded, new Uint8Array(4)], 'model.safetensors');
  const config = { model_type: 'llama', quantization_config: { quant_method: 'gptq', bits: 4 } };
  const files = [new File([JSON.stringify(config)], 'config.json'), weights];
  const loading = loadModel(files, {}, () => {}, new AbortController().signal);
  await expect(loading).rejects.toThrow(/quantized by gptq .*GGUF/);
});

test('on the cpu info says f32', async () => {
  const { info } = await load({ backend: 'cpu', quantize: 'q8' });
  expect(info.activations).toBe('f32');
  expect(info.arithmetic).toMatchObject({ decode: 'f32', prefill: 'f32', cause: 'cpu', race: null });
});

describe('the context', () => {
  const published = (name: string): ModelConfig => {
    const { config } = [...PLAIN_MODELS, ...SPECIAL_MODELS].find((model) => model.name.endsWith(name)) ?? {};
    return readConfig({ gguf: null, tensors: new Map(), config } as unknown as ModelFiles);
  };
  const choose = (config: ModelConfig, options: LoadOptions = {}, bindingLimit: number | null = 2 ** 31) => {
    const warnings: Warning[] = [];
    const contextLength = chooseContext(config, resolveLoad(options), bindingLimit, warnings);
    return [contextLength, ...warnings.map(({ message }) => message)];
  };

  test('is all that the model was made for, where that is modest', () => {
    expect(choose(published('TinyLlama-1.1B-Chat-v1.0'))).toEqual([2048]);
  });

  test('of longrope and dynamic scaling is that of the training, so that short chats are exact; more if asked for', () => {
    const phi = published('Phi-4-mini-instruct');
    expect(choose(phi)).toEqual([4096, expect.stringMatching(/4096 tokens instead of 131072: .*ask for more/)]);
    expect(choose(phi, { contextLength: 10_000 })).toEqual([10_000]);
    const scaling = { type: 'dynamic', factor: 4, originalContextLength: 2048 } as const;
    const dynamic = { ...published('TinyLlama-1.1B-Chat-v1.0'), ropes: [{ theta: 1e4, scaling }], contextLength: 8192 };
    expect(choose(dynamic)).toEqual([2048, expect.stringMatching(/2048 tokens instead of 8192/)]);
  });

  test('of scaling that is the same at any length is not held back by it', () => {
    // 16 layers x 8 heads x 64 x 2 x 2 bytes of keys and values, 256 of the rope table.
    const limit = Math.floor(2 ** 30 / (32_768 + 256));
    expect(choose(published('Llama-3.2-1B-Instruct'))).toEqual([
      limit,
      expect.stringMatching(/too much memory \(33024 bytes a token\)/),
    ]);
  });

  test('counts a table for each of two ropes, and layers with a window up to their ring', () => {
    // 1 head x 256 x 2 x 2 bytes a layer, of which 4 of 26 see all keys, and 2 x 1024 of tables.
    const gemma = { ...published('gemma-3-1b-it'), contextLength: 2 ** 20 };
    const [contextLength, message] = choose(gemma, { kvCache: 'f16' });
    expect(contextLength).toBe(2 ** 17);
    expect(message).toMatch(/\(6144 bytes a token\)/);
  });

  test('stops at what a binding holds, and at what the model was made for', () => {
    const llama = published('TinyLlama-1.1B-Chat-v1.0'); // 512 bytes of keys a token and layer
    expect(choose(llama, {}, 512 * 100)).toEqual([100, expect.stringMatching(/too much memory/)]);
    expect(choose(llama, { contextLength: 4096 })).toEqual([2048, expect.stringMatching(/made for no more/)]);
    expect(choose(llama, { contextLength: 2000 }, null)).toEqual([2000]);
  });
});

test('an adapter of software is known for one', async () => {
  const gpu = await testGpu();
  expect(gpu.isSoftware).toBe(/swiftshader|llvmpipe/i.test(gpu.adapterName));
});
