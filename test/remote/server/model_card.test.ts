// The kind of a server and the length of its context, by its list of models.

import { expect, test, vi } from 'vitest';
import { RemoteEngine, type RemoteOptions } from '../../../src/remote/remote_engine';
import { CARDS } from '../http_server';

const load = (card: object, options: RemoteOptions = {}) =>
  RemoteEngine.load('http://far', { ...options, fetch: async () => Response.json({ data: [card] }) });

const RAY = { id: 'm', object: 'model', owned_by: 'organization-owner', permission: [] };

test.each([
  ['vllm', 4096, CARDS.vllm],
  ['sglang', 8192, CARDS.sglang],
  ['llama.cpp', 2048, CARDS['llama.cpp']],
  ['openai', 0, CARDS.openai],
  ['vllm', 512, { id: 'm', owned_by: 'me', max_model_len: 512 }],
  ['llama.cpp', 0, { id: 'm', owned_by: 'me', meta: { n_ctx_train: 512 } }],
  ['vllm', 1024, { ...RAY, metadata: { model_id: 'm', max_request_context_length: 1024 } }],
  ['vllm', 0, { ...RAY, metadata: { model_id: 'm', max_request_context_length: null } }],
  ['openai', 0, { id: 'm', owned_by: 'toString', meta: [], metadata: 'x', max_model_len: -1 }],
] as const)('%s with a context of %d', async (kind, contextLength, card) => {
  const { info, kind: found } = await load(card);
  expect([found, info.contextLength, info.model.architecture]).toEqual([kind, contextLength, kind]);
});

test('what the caller says of a server counts more', async () => {
  const said = { kind: 'sglang', contextLength: 99, tools: false, thinking: 'always' } as const;
  const { info, kind } = await load(CARDS.vllm, said);
  expect([kind, info.contextLength, info.tools, info.thinking]).toEqual(['sglang', 99, false, 'always']);
});

test.each(['acceptMs', 'silenceMs', 'retries'])('%s must be a whole number', async (name) => {
  for (const value of [-1, 1.5, Number.NaN, 1e12])
    await expect(load(CARDS.vllm, { [name]: value })).rejects.toMatchObject({ code: 'invalid-request', option: name });
});

test.each(['apikey', 'api_key'])('the option %s is none, and apiKey was meant', async (name) => {
  await expect(RemoteEngine.load('http://localhost:1', { [name]: 'secret' })).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringMatching(`^${name} is no option, but apiKey is. Choose among model, apiKey, .*, signal.$`),
  });
});

test.each(['', '  ', '\n'])('the blank address %j is refused: it would be the page that asks', async (address) => {
  vi.stubGlobal('location', { href: 'https://page.example/' });
  const fetch = vi.fn();
  await expect(RemoteEngine.load(address, { fetch })).rejects.toMatchObject({
    option: 'address',
    message: expect.stringMatching('^The address of a server must be a URL'),
  });
  expect(fetch).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
});

test.each<[object, string]>([
  [{ kind: 'ollama' }, 'kind must be vllm, sglang, llama.cpp, vivace or openai.'],
  [{ kind: 'toString' }, 'kind must be vllm, sglang, llama.cpp, vivace or openai.'],
  [{ model: ['m'] }, 'model must be a text.'],
  [{ tools: 'false' }, 'tools must be true or false.'],
  [{ contextLength: -5 }, 'contextLength must be a whole number of at least 1.'],
  [{ thinking: 'maybe' }, 'thinking must be none, optional or always.'],
  [{ signal: new AbortController() }, 'signal must be an AbortSignal.'],
])('%j is refused before a request', async (options, message) => {
  await expect(RemoteEngine.load('http://localhost:1', options)).rejects.toMatchObject({
    code: 'invalid-request',
    message,
  });
});
