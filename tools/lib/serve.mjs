// A static file server for the built page and for local models: byte ranges (models are read in pieces), right types, no cache surprises,
// and other origins where they are let in. It listens on this machine only and knows nothing of the engine.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
};

/**
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 * @typedef {{ start: number, end: number }} Span first and last byte, both inclusive
 * @typedef {(request: Request, response: Response) => void} Handler
 * @typedef {object} ServeOptions
 * @property {Record<string, string>} mounts URL prefix -> folder (prefix ends with '/') or single file
 * @property {Record<string, Handler>} [handlers] URL path -> answer made by code; asked first
 * @property {boolean} [crossOrigin] pages of every origin may use what is served
 * @property {number} [port] 0 or absent: any free one
 * @property {boolean} [nextPort] when the port is taken, try the ones after it
 * @typedef {{ url: string, port: number, close: () => Promise<void> }} Served
 */

/**
 * The bytes that a Range header asks for: null for the whole file, 'unsatisfiable' for none of it.
 * A header that is malformed or asks for several ranges is ignored, as HTTP allows.
 * @param {string | undefined} header @param {number} size
 * @returns {Span | null | 'unsatisfiable'}
 */
export function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== '' && Number(match[2]) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/**
 * The file behind a URL path, or null when no mount has it or the path leaves its folder.
 * @param {string} pathname @param {Record<string, string>} mounts
 */
export function resolveFile(pathname, mounts) {
  let decoded;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (decoded.includes('\0')) return null;
  const prefixes = Object.keys(mounts).sort((a, b) => b.length - a.length);
  const prefix = prefixes.find((p) => (p.endsWith('/') ? decoded.startsWith(p) : decoded === p));
  if (prefix === undefined) return null;
  const target = path.resolve(mounts[prefix] ?? '');
  if (!prefix.endsWith('/')) return target;
  const inside = decoded.slice(prefix.length);
  const file = path.resolve(target, `./${inside.endsWith('/') || inside === '' ? `${inside}index.html` : inside}`);
  return file.startsWith(target + path.sep) ? file : null;
}

/** @param {Response} response @param {number} status @param {string} text */
function answer(response, status, text) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** What a page of another origin needs to run a script of ours, to read a model in ranges, and to see whether the model changed. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'Range, If-Range, If-None-Match',
  'access-control-expose-headers': 'Accept-Ranges, Content-Range, ETag',
  'cross-origin-resource-policy': 'cross-origin',
};

/** @param {Request} request @param {Response} response @param {string} file */
async function sendFile(request, response, file) {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) return answer(response, 404, 'Not found');
  const etag = `"${found.size.toString(36)}-${Math.round(found.mtimeMs).toString(36)}"`;
  const headers = {
    'content-type': TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream',
    'accept-ranges': 'bytes',
    'cache-control': 'no-cache',
    etag,
  };
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end();
  const current = (request.headers['if-range'] ?? etag) === etag;
  const range = current ? parseRange(request.headers.range, found.size) : null;
  if (range === 'unsatisfiable') {
    return void response.writeHead(416, { ...headers, 'content-range': `bytes */${found.size}` }).end();
  }
  const { start, end } = range ?? { start: 0, end: found.size - 1 };
  const length = { 'content-length': end - start + 1 };
  if (range) response.writeHead(206, { ...headers, ...length, 'content-range': `bytes ${start}-${end}/${found.size}` });
  else response.writeHead(200, { ...headers, ...length });
  if (request.method === 'HEAD' || found.size === 0) return void response.end();
  pipeline(createReadStream(file, { start, end }), response, () => {}); // a client that leaves is no error
}

/** @param {Pick<ServeOptions, 'mounts' | 'handlers' | 'crossOrigin'>} options @returns {Handler} */
export function listener({ mounts, handlers = {}, crossOrigin = false }) {
  return (request, response) => {
    if (crossOrigin) {
      for (const [name, value] of Object.entries(CROSS_ORIGIN)) response.setHeader(name, value);
      if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    }
    const [pathname = '/'] = (request.url ?? '/').split(/[?#]/); // a URL parser would throw on '//'
    const handler = handlers[pathname];
    if (handler) return handler(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'Only GET and HEAD');
    const file = resolveFile(pathname, mounts);
    if (!file) return answer(response, 404, 'Not found');
    sendFile(request, response, file).catch(() => response.destroy());
  };
}

/** @param {Handler} handle @param {number} port @param {string} host @returns {Promise<import('node:http').Server>} */
function listen(handle, port, host) {
  return new Promise((done, fail) => {
    const server = createServer(handle);
    server.once('error', fail);
    server.listen(port, host, () => done(server));
  });
}

/** @param {unknown} error */
const errorCode = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;

/**
 * `localhost` means 127.0.0.1 to some programs and ::1 to others, so a port counts as free when both are.
 * @param {Handler} handle @param {number} port
 */
async function listenOnBoth(handle, port) {
  const server = await listen(handle, port, '127.0.0.1');
  if (port === 0) return [server];
  try {
    return [server, await listen(handle, port, '::1')];
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') return [server]; // a machine without IPv6
    server.close();
    throw error;
  }
}

const PORTS_TO_TRY = 20;

/** @param {ServeOptions} options @returns {Promise<Served>} */
export async function serve(options) {
  const handle = listener(options);
  const first = options.port ?? 0;
  for (let port = first; ; port++) {
    try {
      const servers = await listenOnBoth(handle, port);
      const address = /** @type {import('node:net').AddressInfo} */ (servers[0]?.address());
      const close = async () => {
        for (const server of servers) {
          server.close();
          server.closeAllConnections();
        }
      };
      return { url: `http://localhost:${address.port}/`, port: address.port, close };
    } catch (error) {
      const taken = errorCode(error) === 'EADDRINUSE';
      if (!taken || !options.nextPort || port - first >= PORTS_TO_TRY) throw error;
    }
  }
}
