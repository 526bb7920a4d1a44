// Models from URLs and dropped files: every layout opens, and every damaged one fails with its own error.

import { describe, expect, test } from 'vitest';
import { ModelFetchError, ModelFileError } from '../../src/errors';
import { resolveUrl } from '../../src/storage/hub/model_url';
import { openModel } from '../../src/storage/model_file';
import type { ModelLocation } from '../../src/storage/source/byte_source';
import { serve } from './serve';
import { ramp, value, writeGguf } from './write_gguf';
import { writeSafetensors } from './write_safetensors';

const f32 = (n: number) => ({ dtype: 'F32', shape: [n], data: ramp(4 * n) });
const tensors = [{ name: 'w', ne: [4], data: ramp(16) }];
const withTokenizer = writeGguf({ keys: [['tokenizer.ggml.tokens', value.strings(['a'])]], tensors });
const withoutTokenizer = writeGguf({ tensors });
const index = (map: Record<string, string>) => JSON.stringify({ metadata: {}, weight_map: map });

type Files = Record<string, string | Uint8Array<ArrayBuffer>>;
const BASE: Files = {
  'config.json': '{"model_type":"llama"}',
  'generation_config.json': '{"eos_token_id":2}',
  'tokenizer.json': '{"model":{"type":"BPE"}}',
  'tokenizer_config.json': '{"bos_token":"<s>"}',
  'chat_template.jinja': '<|{{ messages }}|>',
};
const SHARDED: Files = {
  ...BASE,
  'model-00001.safetensors': writeSafetensors({ a: f32(1), b: f32(2) }),
  'model-00002.safetensors': writeSafetensors({ c: f32(3) }),
  'model.safetensors.index.json': index({
    c: 'model-00002.safetensors',
    a: 'model-00001.safetensors',
    b: 'model-00001.safetensors',
  }),
};

const dropped = (files: Files, dir = ''): File[] =>
  Object.entries(files).map(([name, content]) => {
    const file = new File([content], name);
    return dir ? Object.defineProperty(file, 'webkitRelativePath', { value: `${dir}/${name}` }) : file;
  });

/** Both ways of opening the same files, which must behave alike. */
const WAYS: [string, (files: Files) => Promise<ModelLocation>][] = [
  ['URL', async (files) => `${(await serve(prefixed(files))).url}tiny`],
  ['dropped files', async (files) => dropped(files, 'tiny')],
];
const prefixed = (files: Files): Files => Object.fromEntries(Object.entries(files).map(([k, v]) => [`tiny/${k}`, v]));

describe.each(WAYS)('a folder as %s', (_, place) => {
  const open = async (files: Files) => openModel(await place(files));

  test('one safetensors file', async () => {
    const model = await open({ ...BASE, 'model.safetensors': writeSafetensors({ b: f32(2), a: f32(1) }) });
    expect(model).toMatchObject({
      format: 'safetensors',
      name: 'tiny',
      totalBytes: 12,
      config: { model_type: 'llama' },
      generationConfig: { eos_token_id: 2 },
      tokenizerJson: { model: { type: 'BPE' } },
      tokenizerConfig: { bos_token: '<s>', chat_template: '<|{{ messages }}|>' },
      gguf: null,
    });
    expect([...model.tensors.keys()]).toEqual(['b', 'a']);
    expect(await model.tensors.get('b')?.read(4, 2)).toEqual(ramp(2, 4));
  });

  test('shards, in the order of the files', async () => {
    const model = await open(SHARDED);
    expect([...model.tensors.keys()]).toEqual(['a', 'b', 'c']);
    expect(model.totalBytes).toBe(24);
    expect(await model.tensors.get('c')?.read(0, 12)).toEqual(ramp(12));
  });

  test('a GGUF named by config.json, with the tokenizer beside it', async () => {
    const model = await open({ ...BASE, 'config.json': '{"gguf_file":"w.gguf"}', 'w.gguf': withTokenizer });
    expect([model.format, model.name, model.tokenizerJson !== null]).toEqual(['gguf', 'tiny', true]);
    expect(model.gguf?.get('tokenizer.ggml.tokens')).toEqual(['a']);
  });

  test('only the required files', async () => {
    const model = await open({ 'config.json': '{}', 'model.safetensors': writeSafetensors({ a: f32(1) }) });
    expect(model).toMatchObject({ generationConfig: null, tokenizerJson: null, tokenizerConfig: null });
  });

  test('a template in a file comes before that of tokenizer_config.json', async () => {
    const { 'chat_template.jinja': file, ...others } = SHARDED;
    const config = { 'tokenizer_config.json': '{"chat_template":"own"}' };
    const both = await open({ ...SHARDED, ...config });
    const alone = await open({ ...others, ...config });
    expect([both, alone].map((model) => model.tokenizerConfig?.chat_template)).toEqual([file, 'own']);
  });

  const missing: [string, Files, RegExp][] = [
    ['no config.json', { 'model.safetensors': '' }, /There is no config\.json in /],
    ['no weights', BASE, /looked for model\.safetensors, model\.safetensors\.index\.json/],
    ['the named GGUF missing', { 'config.json': '{"gguf_file":"w.gguf"}' }, /looked for w\.gguf, model\.safetensors/],
    [
      'a shard missing',
      { ...SHARDED, 'model-00002.safetensors': undefined } as unknown as Files,
      /model-00002\.safetensors, one of 2/,
    ],
  ];
  test.each(missing)('%s', async (_, files, message) => {
    const present = Object.fromEntries(Object.entries(files).filter(([, content]) => content !== undefined));
    const error = await open(present).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelFetchError);
    expect(String(error)).toMatch(message);
  });

  const INDEX = 'model.safetensors.index.json';
  const damaged: [string, Files, RegExp][] = [
    ['config.json that does not parse', { ...SHARDED, 'config.json': '{' }, /config\.json: is not valid JSON/],
    ['config.json that is a list', { ...SHARDED, 'config.json': '[]' }, /not an object/],
    [
      'tokenizer.json of bad UTF-8',
      { ...SHARDED, 'tokenizer.json': Uint8Array.of(0x7b, 0xff, 0x7d) },
      /tokenizer\.json.*UTF-8/,
    ],
    ['a GGUF elsewhere', { 'config.json': '{"gguf_file":"../w.gguf"}' }, /must name a \.gguf file in the folder/],
    ['no weight_map', { ...SHARDED, [INDEX]: '{}' }, /no "weight_map"/],
    ['a shard elsewhere', { ...SHARDED, [INDEX]: index({ a: '../x.safetensors' }) }, /no file name/],
    ['a shard on another host', { ...SHARDED, [INDEX]: index({ a: 'https://h/x.safetensors' }) }, /no file name/],
    ['a tensor mapped twice', { ...SHARDED, [INDEX]: '{"weight_map":{"a":"x","a":"y"}}' }, /"a" appears twice/],
    [
      'a tensor not mapped',
      { ...SHARDED, [INDEX]: index({ a: 'model-00001.safetensors', c: 'model-00002.safetensors' }) },
      /model-00001\.safetensors: holds tensor "b", which .* does not name/,
    ],
    [
      'a mapped tensor missing',
      { ...SHARDED, 'model-00002.safetensors': writeSafetensors({}) },
      /model-00002\.safetensors: lacks tensor "c"/,
    ],
    [
      'a tensor in the wrong shard',
      { ...SHARDED, 'model-00002.safetensors': writeSafetensors({ b: f32(3), c: f32(3) }) },
      /holds tensor "b", which .* places in model-00001/,
    ],
    [
      'a truncated shard',
      { ...SHARDED, 'model-00002.safetensors': writeSafetensors({ c: f32(3) }).slice(0, -1) },
      /model-00002\.safetensors: is truncated: tensor "c"/,
    ],
  ];
  test.each(damaged)('%s', async (_, files, message) => {
    const error = await open(files).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelFileError);
    expect(String(error)).toMatch(message);
  });
});

describe('a URL', () => {
  test('of a GGUF with its own tokenizer is one request', async () => {
    const site = await serve({ 'dir/m.gguf': withTokenizer, 'dir/tokenizer.json': '{}' });
    const model = await openModel(`${site.url}dir/m.gguf?download=true`);
    expect(model).toMatchObject({ format: 'gguf', name: 'm.gguf', totalBytes: 16, config: null, tokenizerJson: null });
    expect(site.requests).toHaveLength(1);
  });

  test('of a GGUF without a tokenizer uses the files beside it, and keeps the query', async () => {
    const site = await serve(
      { 'dir/m.GGUF': withoutTokenizer, 'dir/tokenizer.json': '{"a":1}' },
      (request, response) => (request.url?.endsWith('?key=1') ? false : !!response.writeHead(401).end()),
    );
    const model = await openModel(`${site.url}dir/m.GGUF?key=1`);
    expect(model).toMatchObject({ tokenizerJson: { a: 1 }, config: null, generationConfig: null });
  });

  test('on a server that answers every path with its start page', async () => {
    const page = (files: Files) =>
      serve(files, (request, response) => {
        if (decodeURIComponent(request.url ?? '').slice(1) in files) return false;
        return !!response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
      });
    const full = await page({ 'm/config.json': '{}', 'm/model.safetensors': writeSafetensors({ a: f32(1) }) });
    expect(await openModel(`${full.url}m/`)).toMatchObject({ tokenizerJson: null, totalBytes: 4 });
    await expect(openModel(`${(await page({})).url}m`)).rejects.toThrow(/config\.json answered with a web page/);
  });

  test('that is none', async () => {
    await expect(openModel('models/tiny')).rejects.toThrow(ModelFetchError);
  });

  test('aborts with the reason, and counts every byte', async () => {
    const site = await serve(prefixed(SHARDED));
    const reason = new Error('stop');
    await expect(openModel(`${site.url}tiny`, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    let received = 0;
    await openModel(`${site.url}tiny`, { onBytes: (n) => (received += n) });
    expect(received).toBe(Object.values(SHARDED).reduce((sum, content) => sum + content.length, 0));
  });

  test.each([
    ['https://huggingface.co/org/model', 'https://huggingface.co/org/model/resolve/main/'],
    ['https://huggingface.co/org/model/tree/v2', 'https://huggingface.co/org/model/resolve/v2/'],
    ['https://hf.co/org/model/blob/main/q8.gguf', 'https://huggingface.co/org/model/resolve/main/q8.gguf'],
    ['hf:org/model@v2/sub/q8.gguf', 'https://huggingface.co/org/model/resolve/v2/sub/q8.gguf'],
    ['hf:org/model:q4_k_m', 'https://huggingface.co/org/model/resolve/main/#q4_k_m'],
    ['https://example.org/org/model', 'https://example.org/org/model'],
  ])('%s reads %s', (from, to) => {
    expect(resolveUrl(from).href).toBe(to);
  });
});

describe('a repository without hf:', () => {
  test.each([
    ['a server of files', () => serve({})],
    [
      'a server that answers any path with its page',
      () =>
        serve({}, (_, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
          return true;
        }),
    ],
  ])('from %s is told that hf: is missing', async (_, start) => {
    const { url } = await start();
    const opened = openModel(new URL('owner/name', url).href);
    await expect(opened).rejects.toThrow(/or hf:owner\/name for a repository of Hugging Face\.$/);
    await expect(opened).rejects.toBeInstanceOf(ModelFetchError);
  });
});

describe('dropped files', () => {
  test('one GGUF', async () => {
    const model = await openModel(new File([withTokenizer], 'm.gguf'));
    expect([model.name, await model.tensors.get('w')?.read(0, 16)]).toEqual(['m.gguf', ramp(16)]);
  });

  test('a GGUF without a tokenizer and the files beside it', async () => {
    const model = await openModel([new File([withoutTokenizer], 'm.gguf'), new File(['{}'], 'tokenizer.json')]);
    expect(model.tokenizerJson).toEqual({});
  });

  test('a file changed after it was dropped', async () => {
    const file = new File([withTokenizer], 'm.gguf');
    const broken = Object.defineProperty(file, 'slice', {
      value: () => ({ arrayBuffer: () => Promise.reject(new DOMException('changed', 'NotReadableError')) }),
    });
    await expect(openModel(broken)).rejects.toThrow(/could not be read.*Choose the file again/);
  });

  test('of two equal names the upper file counts; side by side they are an error', async () => {
    const weights = { 'model.safetensors': writeSafetensors({ a: f32(1) }) };
    const upper = dropped({ ...weights, 'config.json': '{"upper":1}' }, 'tiny');
    const lower = dropped({ 'config.json': '{"lower":1}' }, 'tiny/onnx');
    expect((await openModel([...lower, ...upper])).config).toEqual({ upper: 1 });
    await expect(openModel([...upper, ...upper])).rejects.toThrow(/config\.json: was dropped more than once/);
  });

  test.each([
    [
      'two GGUFs',
      [new File([], 'a.gguf'), new File([], 'b.gguf')],
      ModelFileError,
      /holds 2 models in \.gguf files \("a.gguf", "b.gguf"\)/,
    ],
    ['none', [], ModelFetchError, /There is no config\.json in /],
    ['weights alone', new File([], 'model.safetensors'), ModelFetchError, /There is no config\.json in /],
  ] as [string, ModelLocation, new (...args: never[]) => Error, RegExp][])('%s', async (_, files, type, message) => {
    const error = await openModel(files).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(type);
    expect(String(error)).toMatch(message);
  });
});
