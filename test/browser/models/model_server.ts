// A server with OpenAI's interface for tests of the page: lists models, answers word by word when the test lets it, and
// fails on request.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ModelServer {
  url: string;
  host: string;
  /** What it heard, without preflights. */
  asked: { path: string; key: string | undefined; referer: string | undefined; body: string }[];
  /** Connections of answers that were closed before their end. */
  closed: number;
  /** How the next requests are answered. `key`: the one that it wants. */
  behavior: {
    status?: number;
    body?: string;
    type?: string;
    key?: string;
    origin?: string | null;
    models?: readonly string[];
    /** Words of the answer. After `cutAfter` words the connection breaks, after `waitAfter` it waits for `go`. */
    words?: readonly string[];
    cutAfter?: number;
    waitAfter?: number;
  };
  /** Lets an answer that waits go on. */
  go(): void;
  close(): void;
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export async function modelServer(): Promise<ModelServer> {
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const it: ModelServer = {
    url: `http://${host}`,
    host,
    asked: [],
    closed: 0,
    behavior: {},
    go() {
      for (const resolve of waiting.splice(0)) resolve();
    },
    close() {
      waiting = [];
      server.closeAllConnections();
      server.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { behavior } = it;
    const { origin = '*' } = behavior;
    if (origin !== null) {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-allow-headers', 'authorization, content-type');
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    let body = '';
    for await (const part of request) body += part;
    const key = request.headers.authorization?.replace('Bearer ', '');
    it.asked.push({ path: request.url ?? '', key, referer: request.headers.referer, body });
    const send = (status: number, text: string, type = 'application/json') =>
      void response.writeHead(status, { 'content-type': type }).end(text);
    if (behavior.status) return send(behavior.status, behavior.body ?? '{"error":{"message":"No."}}', behavior.type);
    if (behavior.key && key !== behavior.key) return send(401, '{"error":{"message":"Who are you?"}}');
    const models = behavior.models ?? ['far-model'];
    if (request.url === '/v1/models')
      return send(200, JSON.stringify({ data: models.map((id) => ({ id, owned_by: 'vllm', max_model_len: 4096 })) }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => {
      if (!response.writableEnded) it.closed++;
    });
    for (const [i, word] of (behavior.words ?? ['Far ', 'away ', 'answer.']).entries()) {
      if (i === behavior.waitAfter) await new Promise<void>((resolve) => waiting.push(resolve));
      if (i === behavior.cutAfter) return void response.destroy();
      response.write(chunk({ content: word }));
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  }
  return it;
}
