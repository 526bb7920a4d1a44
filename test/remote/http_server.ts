// A server on this machine that answers as a test says.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll } from 'vitest';
import { RemoteEngine, type RemoteOptions } from '../../src/remote/remote_engine';

interface Heard {
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into at any depth
  body: any;
}

type Answer = (response: ServerResponse, heard: Heard) => unknown;

export const CARDS = {
  vllm: { id: 'qwen', object: 'model', created: 1, owned_by: 'vllm', root: 'qwen', max_model_len: 4096 },
  sglang: { id: 'qwen', object: 'model', created: 1, owned_by: 'sglang', root: 'qwen', max_model_len: 8192 },
  'llama.cpp': {
    id: 'storyteller.gguf',
    object: 'model',
    created: 1,
    owned_by: 'llamacpp',
    meta: { vocab_type: 2, n_vocab: 512, n_ctx: 2048, n_ctx_train: 4096, n_embd: 64, n_params: 1e6, size: 2e6 },
  },
  openai: { id: 'gpt', object: 'model', created: 1, owned_by: 'someone' },
} as const;

const open: ReturnType<typeof createServer>[] = [];

afterAll(() => {
  for (const server of open) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that lists a model of a kind, and answers all else by `answer`. */
export async function serve(answer: Answer, card: object = CARDS.vllm) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const asked = { path: request.url ?? '', headers: request.headers, body: text ? JSON.parse(text) : null };
    heard.push(asked);
    if (asked.path.endsWith('/models')) sendJson(response, { object: 'list', data: [card] });
    else await answer(response, asked);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { address, heard, server };
}

/** A server and its engine. */
export async function connect(answer: Answer, options: RemoteOptions = {}, card: object = CARDS.vllm) {
  const server = await serve(answer, card);
  return { ...server, engine: await RemoteEngine.load(server.address, options) };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

export function stream(name: string): Buffer {
  return readFileSync(path.join(import.meta.dirname, 'streams', `${name}.txt`));
}

/** Answers with a stream in pieces of so many bytes. */
export function play(bytes: Buffer, size = bytes.length): Answer {
  return async (response) => {
    begin(response);
    for (let i = 0; i < bytes.length; i += size) {
      response.write(bytes.subarray(i, i + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}

export const chunkOf = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
