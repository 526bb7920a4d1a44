// A foreign page and the server of the script tag, on two origins. The server sends what a plain CDN sends, byte ranges
// and `Access-Control-Allow-Origin: *` (for missing files, too), and nothing more. Below unread/ it sends the same files
// without that header.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import send from 'send';
import { launchChromium } from '../../../tools/lib/browser/chromium';
import { DIST, ensureBuilt } from '../../../tools/lib/bundle/dist';

export interface HostPage {
  body?: string;
  head?: string;
  /** Attributes of <html>, such as `dir="rtl"`. */
  root?: string;
  csp?: string;
  /** True if neither the page nor the server names a charset. */
  namesNoCharset?: boolean;
}

export interface Hosts {
  browser: Browser;
  /** Origin of embed.js. */
  cdn: string;
  /** Origin of the pages. */
  host: string;
  /** Serves this page of the host. Returns its address. */
  put(page: HostPage): string;
  /** Serves these bytes on the other origin without ranges. Returns their address. */
  putFile(name: string, bytes: Uint8Array): string;
  close(): Promise<void>;
}

async function listen(name: string, listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://${name}:${(server.address() as AddressInfo).port}/`, close };
}

const TYPES: Record<string, string> = { js: 'text/javascript', html: 'text/html; charset=utf-8' };

const sendBuilt: RequestListener = (request, response) => {
  const { pathname: asked } = new URL(request.url ?? '/', 'http://cdn');
  const pathname = asked.replace(/^\/unread\//, '/');
  if (pathname === asked) response.setHeader('access-control-allow-origin', '*');
  send(request, pathname, { root: DIST, etag: false, lastModified: false, cacheControl: false })
    .on('headers', (_, file: string) => {
      const type = TYPES[file.split('.').at(-1) ?? ''];
      if (type) response.setHeader('content-type', type);
    })
    .on('error', ({ status }: { status: number }) => void response.writeHead(status).end())
    .pipe(response);
};

/** Both origins. The host also has the worker's file, for pages that forbid workers from a blob. */
export async function openHosts(): Promise<Hosts> {
  await ensureBuilt();
  const pages = new Map<string, HostPage>();
  const files = new Map<string, Uint8Array>();
  const cdn = await listen('127.0.0.1', (request, response) => {
    const bytes = files.get(request.url ?? '');
    if (!bytes) return sendBuilt(request, response);
    response.setHeader('access-control-allow-origin', '*');
    response.end(bytes);
  });
  const host = await listen('localhost', (request, response) => {
    const found = pages.get(request.url ?? '');
    if (!found) return sendBuilt(request, response);
    response.writeHead(200, {
      'content-type': found.namesNoCharset ? 'text/html' : 'text/html; charset=utf-8',
      ...(found.csp && { 'content-security-policy': found.csp }),
    });
    response.end(
      `<!doctype html><html ${found.root ?? 'lang="en"'}><head>${found.namesNoCharset ? '' : '<meta charset="utf-8">'}<link rel="icon" href="data:,">` +
        `<meta name="viewport" content="width=device-width, initial-scale=1"><title>Host</title>${found.head ?? ''}</head>` +
        `<body>${found.body ?? ''}</body></html>`,
    );
  });
  const browser = await launchChromium({ webgpu: false }); // the cpu backend loads within a second
  return {
    browser,
    cdn: cdn.url,
    host: host.url,
    put(page) {
      pages.set(`/page/${pages.size}`, page);
      return `${host.url}page/${pages.size - 1}`;
    },
    putFile(name, bytes) {
      files.set(`/files/${name}`, bytes);
      return `${cdn.url}files/${name}`;
    },
    async close() {
      await browser.close();
      cdn.close();
      host.close();
    },
  };
}

export interface HostVisit {
  page: Page;
  /** Paths of all requests except the page itself. */
  requests: string[];
  /** Console messages with their types, and uncaught exceptions. */
  said: string[];
}

export async function visitHost(
  hosts: Hosts,
  page: HostPage,
  viewport = { width: 1000, height: 760 },
): Promise<HostVisit> {
  const address = hosts.put(page);
  const context = await hosts.browser.newContext({ viewport, reducedMotion: 'reduce' });
  context.setDefaultTimeout(90_000);
  const opened = await context.newPage();
  const requests: string[] = [];
  const said: string[] = [];
  context.on('request', (request) => {
    if (request.url() !== address && !request.url().startsWith('data:')) requests.push(request.url());
  });
  opened.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  opened.on('pageerror', (error) => said.push(`exception: ${error.message}`));
  await opened.goto(address);
  return { page: opened, requests, said };
}
