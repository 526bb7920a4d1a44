// llama.cpp's own server, of npm packages alone: its code as wasm in headless Chromium (wllama), behind node:http. What
// it reads and writes is JSON of llama.cpp's; the HTTP around it is ours.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { launchChromium } from '../../tools/lib/browser/chromium';
import { serve } from '../../tools/lib/serve';

const STORYTELLER = path.resolve(import.meta.dirname, '../../public/models/storyteller/storyteller-q8_0.gguf');
const require = createRequire(import.meta.url);
const CONTEXT = 512;

/** Runs in the page: loads the model, and answers the requests of this process. */
const script = (contextLength: number) => `
import { LoggerWithoutDebug, Wllama } from '/wllama/index.js';
const wllama = new Wllama({ default: '/wllama/wasm/wllama.wasm' }, { logger: LoggerWithoutDebug, suppressNativeLog: true });
const options = { useCache: false, n_ctx: ${contextLength}, n_threads: 1, n_gpu_layers: 0, jinja: true };
await wllama.loadModel([await (await fetch('/model.gguf')).blob()], options);
const stops = {};
globalThis.stopAnswer = (id) => stops[id]?.abort();
globalThis.startAnswer = async (id, isChat, body) => {
  stops[id] = new AbortController();
  const request = { ...body, abortSignal: stops[id].signal };
  try {
    const answer = await (isChat ? wllama.createChatCompletion(request) : wllama.createCompletion(request));
    if (body.stream) for await (const chunk of answer) await tell(id, 'chunk', JSON.stringify(chunk));
    else await tell(id, 'chunk', JSON.stringify(answer));
    await tell(id, 'end', '');
  } catch (error) {
    await tell(id, 'error', String(error?.message ?? error));
  }
};
globalThis.isReady = true;
`;

type Sink = (kind: 'chunk' | 'end' | 'error', text: string) => void;

export interface LlamaServer {
  address: string;
  /** How many answers were stopped because their reader left. */
  stopped: number;
  close(): Promise<void>;
}

/** @param model a GGUF file; the storyteller by default */
export async function startLlamaServer(model?: Uint8Array, contextLength = CONTEXT): Promise<LlamaServer> {
  const gguf = model ?? (await readFile(STORYTELLER));
  const html =
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/run.js"></script>';
  const send = (type: string, content: string | Uint8Array) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': type }).end(content);
  const files = await serve({
    mounts: {
      '/wllama/': path.join(path.dirname(require.resolve('@wllama/wllama/package.json')), 'esm'),
    },
    handlers: {
      '/': send('text/html', html),
      '/run.js': send('text/javascript', script(contextLength)),
      '/model.gguf': send('application/octet-stream', gguf),
    },
  });
  const browser = await launchChromium({ webgpu: false });
  const page = await browser.newPage();
  const sinks = new Map<string, Sink>();
  await page.exposeFunction('tell', (id: string, ...said: Parameters<Sink>) => sinks.get(id)?.(...said));
  await page.goto(files.url);
  await page.waitForFunction('globalThis.isReady');
  const call = (name: string, ...given: unknown[]) =>
    page.evaluate(`void ${name}(...${JSON.stringify(given)})`).catch(() => {}); // the page may be gone already

  const started: LlamaServer = {
    address: '',
    stopped: 0,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await browser.close();
      await files.close();
    },
  };

  const http = createServer(async (request, response) => {
    if (request.url === '/v1/models') return sendJson(response, 200, listOf(contextLength));
    let text = '';
    for await (const piece of request) text += piece;
    const id = String(sinks.size);
    sinks.set(id, (kind, said) => write(response, kind, said));
    response.on('close', () => {
      if (response.writableEnded) return;
      started.stopped++;
      void call('stopAnswer', id);
    });
    await call('startAnswer', id, request.url === '/v1/chat/completions', JSON.parse(text));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  started.address = `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
  return started;
}

/** As llama-server lists its model. The wasm has no such route. */
function listOf(contextLength: number) {
  const meta = { n_ctx: contextLength, n_ctx_train: 4096 };
  return { object: 'list', data: [{ id: 'gguf', object: 'model', owned_by: 'llamacpp', meta }] };
}

function write(response: ServerResponse, ...[kind, said]: Parameters<Sink>): void {
  if (response.destroyed) return;
  if (kind === 'error' && !response.headersSent) {
    sendJson(response, 400, { error: { code: 400, message: said, type: 'invalid_request_error' } });
    return;
  }
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (kind === 'chunk') response.write(`data: ${said}\n\n`);
  else response.end(kind === 'end' ? 'data: [DONE]\n\n' : `data: ${JSON.stringify({ error: { message: said } })}\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
