// vivace/remote in a real browser: a page asks a server of another origin, one that allows it, one that does not, and
// one that redirects.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';
import { type Served, serve } from '../../../tools/lib/serve';

const KEY = 'sk-secret-0123456789';
const TEXT = 'data: {"choices":[{"delta":{"content":"Grüße 🌍"}}]}\n\n';
const END = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

let site: Served;
let browser: Browser;
let page: Page;
const servers: Server[] = [];

/** A server that lists a model, and the headers of the requests that it heard. */
async function start(answer: (response: ServerResponse) => unknown, headers = {}) {
  const heard: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    heard.push(request);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else if (request.url === '/v1/models') response.end(JSON.stringify({ data: [{ id: 'm' }] }));
    else answer(response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const ALLOWED = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type',
  'content-type': 'application/json',
};

/** Runs in the page: the text of an answer, or the code and the message of its error. */
const SCRIPT = `
import { RemoteEngine } from '/lib/remote.js';
globalThis.ask = async (address, apiKey) => {
  try {
    const engine = await RemoteEngine.load(address, { apiKey });
    let text = '';
    for await (const event of engine.chat([{ role: 'user', content: 'Hi' }])) text += event.text ?? '';
    return text;
  } catch ({ name, code, message }) {
    return name + ' ' + code + ': ' + message;
  }
};
`;

const ask = (address: string): Promise<string> => page.evaluate(`ask(${JSON.stringify(address)}, '${KEY}')`);

const send = (type: string, text: string) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(text);

beforeAll(async () => {
  await ensureBuilt();
  site = await serve({
    mounts: { '/lib/': `${DIST}/lib` },
    handlers: {
      '/': send('text/html', '<title>a page</title><script type="module" src="/ask.js"></script>'),
      '/ask.js': send('text/javascript', SCRIPT),
    },
  });
  browser = await launchChromium({ webgpu: false });
  page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction('globalThis.ask');
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

test('a server that allows the page answers, and gets the key as a header alone', async () => {
  const bytes = Buffer.from(TEXT + END);
  const cut = Buffer.byteLength(TEXT) - 9; // inside the globe
  const { url, heard } = await start((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(bytes.subarray(0, cut), () => response.end(bytes.subarray(cut)));
  }, ALLOWED);
  expect(await ask(url)).toBe('Grüße 🌍');
  const asked = heard.filter(({ method }) => method !== 'OPTIONS');
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/models', 'POST /v1/chat/completions']);
  for (const { headers } of asked) {
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect([headers.referer, headers.cookie]).toEqual([undefined, undefined]);
  }
});

test('a server that does not allow the page never sees the key, and the error says what to do', async () => {
  const { url, heard } = await start(() => {});
  const said = await ask(url);
  expect(said).toMatch(/^RemoteError server-unreachable: No answer from 127\.0\.0\.1:\d+ reached this page\./);
  expect(said).toContain(`pages of ${new URL(site.url).origin} (CORS`);
  expect(JSON.stringify(heard.map(({ headers }) => headers))).not.toContain(KEY);
});

test('a redirect to another server is not followed', async () => {
  const other = await start(() => {}, ALLOWED);
  const { url } = await start((response) => {
    response.writeHead(307, { location: `${other.url}/v1/chat/completions` }).end();
  }, ALLOWED);
  expect(await ask(url)).toMatch(/^RemoteError server-unreachable: .* does not redirect/);
  expect(other.heard).toEqual([]);
});
