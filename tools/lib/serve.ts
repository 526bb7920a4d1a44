// A static file server for the built page and for local models, on this machine only. `send` answers byte ranges,
// If-Range and conditional requests; here are the mounts, the headers for other origins and the choice of a port. It
// knows nothing of the engine.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import readRange from 'range-parser';
import send from 'send';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ServeOptions {
  /** URL prefix to folder (the prefix ends with '/') or to a single file. */
  mounts: Record<string, string>;
  /** URL path to an answer made by code; asked before the mounts. */
  handlers?: Record<string, Handler>;
  /** Pages of every origin may use what is served. */
  crossOrigin?: boolean;
  /** Default 0: any free port. */
  port?: number;
  /** Try the ports after a taken one. */
  nextPort?: boolean;
}

export interface Served {
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * The headers by which a page of another origin may run our scripts, read a model in ranges, and see whether it
 * changed.
 */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'Range, If-Range, If-None-Match',
  'access-control-expose-headers': 'Accept-Ranges, Content-Range, ETag',
  'cross-origin-resource-policy': 'cross-origin',
};

/** The root folder and the path within it that answer a URL path, or null without a mount for it. */
function locate(pathname: string, mounts: Record<string, string>): { root: string; file: string } | null {
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const prefix = prefixes.find((p) => (p.endsWith('/') ? pathname.startsWith(p) : pathname === p));
  if (prefix === undefined) return null;
  const target = path.resolve(mounts[prefix] ?? '');
  if (prefix.endsWith('/')) return { root: target, file: `/${pathname.slice(prefix.length)}` };
  return { root: path.dirname(target), file: `/${path.basename(target)}` };
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/**
 * A strong tag, unlike that of `send`: the engine asks for the later parts of a file with If-Range, which weak tags
 * never match.
 */
const tagOf = ({ size, mtimeMs }: { size: number; mtimeMs: number }) =>
  `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;

function sendFile(request: IncomingMessage, response: ServerResponse, root: string, file: string): void {
  send(request, file.split('/').map(encodeURIComponent).join('/'), {
    root,
    dotfiles: 'allow',
    lastModified: false,
    maxAge: 0,
    cacheControl: false,
  })
    .on('headers', (_: unknown, __: unknown, found: { size: number; mtimeMs: number }) => {
      response.setHeader('cache-control', 'no-cache');
      response.setHeader('etag', tagOf(found));
    })
    .on('directory', () => refuse(response, 404, 'Not found'))
    .on('error', (error: { status?: number; headers?: Record<string, string> }) => {
      if (response.headersSent) response.destroy();
      else if (error.status === 416) response.writeHead(416, error.headers).end();
      else refuse(response, 404, 'Not found');
    })
    .pipe(response);
}

/** Answers requests from handlers and mounts; usable inside another server. */
export function listener({
  mounts,
  handlers = {},
  crossOrigin = false,
}: Pick<ServeOptions, 'mounts' | 'handlers' | 'crossOrigin'>): Handler {
  return (request, response) => {
    if (crossOrigin) {
      for (const [name, value] of Object.entries(CROSS_ORIGIN)) response.setHeader(name, value);
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    }
    const [asked = '/'] = (request.url ?? '/').split(/[?#]/); // a URL parser would throw on '//'
    const handler = handlers[asked];
    if (handler) return handler(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'Only GET and HEAD');
    const found = locate(decoded(asked), mounts);
    if (found) sendFile(request, response, found.root, found.file);
    else refuse(response, 404, 'Not found');
  };
}

/** The path without its escapes; '' for a malformed one. */
function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return '';
  }
}

export interface Span {
  /** The first and the last byte, both inclusive. */
  start: number;
  end: number;
}

/**
 * The bytes that a Range header asks for, for handlers: null is the whole of `size` bytes, 'unsatisfiable' none of
 * them.
 */
export function rangeOf(header: string | undefined, size: number): Span | null | 'unsatisfiable' {
  const ranges = header === undefined ? -2 : readRange(size, header);
  if (ranges === -1) return 'unsatisfiable';
  return ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 ? null : (ranges[0] ?? null);
}

function listen(handle: Handler, port: number, host: string): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer(handle);
    server.once('error', fail);
    server.listen(port, host, () => done(server));
  });
}

const isTaken = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/** `localhost` means 127.0.0.1 to some programs and ::1 to others, so a port counts as free when both are. */
async function listenOnBoth(handle: Handler, port: number): Promise<[Server, ...Server[]]> {
  const server = await listen(handle, port, '127.0.0.1');
  if (port === 0) return [server];
  try {
    return [server, await listen(handle, port, '::1')];
  } catch (error) {
    if (!isTaken(error)) return [server]; // a machine without IPv6
    server.close();
    throw error;
  }
}

const PORTS_TO_TRY = 20;
const LAST_PORT = 65_535;

/** Starts a server. */
export async function serve(options: ServeOptions): Promise<Served> {
  const handle = listener(options);
  const first = options.port ?? 0;
  const last = Math.min(first + PORTS_TO_TRY, LAST_PORT);
  for (let port = first; ; port++) {
    try {
      return served(await listenOnBoth(handle, port));
    } catch (error) {
      if (!isTaken(error) || !options.nextPort) throw error;
      if (port < last) continue;
      const message = `The ports from ${first} to ${last} are taken: choose another one.`;
      throw Object.assign(new Error(message), { code: 'EADDRINUSE' });
    }
  }
}

function served(servers: [Server, ...Server[]]): Served {
  const { port } = servers[0].address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    port,
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
