// A web server on localhost for tests: plain files with ranges, and a hook per request to misbehave.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Site {
  url: string;
  /** "path range" of every request, in order. */
  requests: string[];
}

/** Answers the request itself and returns true, or leaves it to the file server. `nth` counts the path's requests. */
export type Hook = (request: IncomingMessage, response: ServerResponse, nth: number) => boolean | undefined;

/** Serves until the running test ends. */
export async function serve(files: Record<string, string | Uint8Array>, hook?: Hook): Promise<Site> {
  const byPath = new Map(Object.entries(files));
  const requests: string[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://h').pathname.slice(1));
    requests.push(`${path} ${request.headers.range ?? 'whole'}`);
    const nth = counts.get(path) ?? 0;
    counts.set(path, nth + 1);
    if (hook?.(request, response, nth)) return;
    const file = byPath.get(path);
    if (file === undefined) response.writeHead(404).end('not found');
    else sendFile(request, response, Buffer.from(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
}

/** Sends 206 for a range, as a correct server does. `over` replaces headers, `body` the sent bytes. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: Buffer,
  over: { headers?: Record<string, string>; body?: (part: Buffer) => Buffer } = {},
): true {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  const first = range ? Number(range[1]) : 0;
  const last = Math.min(range ? Number(range[2]) : file.length, file.length - 1);
  let part = file.subarray(first, last + 1);
  if (over.body) part = over.body(part);
  response.writeHead(range ? 206 : 200, {
    etag: '"v1"',
    'content-length': String(part.length),
    ...(range ? { 'content-range': `bytes ${first}-${last}/${file.length}` } : {}),
    ...over.headers,
  });
  response.end(part);
  return true;
}
