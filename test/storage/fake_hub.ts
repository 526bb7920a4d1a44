// A model hub on localhost that behaves like the public one: a listing with sizes and hashes, small files from the hub
// itself, weights by a redirect to a store on another origin with an expiring address. Can misbehave in every way seen
// in practice.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendFile } from './serve';

export type HubFiles = Record<string, string | Uint8Array>;

/** Faults to inject. May be changed at any time. */
interface Faults {
  /** The hub has no API: a mirror that is a plain folder. */
  noListing?: boolean;
  /** The listing gives a wrong hash for this path. */
  wrongHash?: string;
  /** Range requests get the whole file. */
  noRanges?: boolean;
  /** Uses of a store address before it answers 403. */
  uses?: number;
  /** Answers the request itself and returns true. `nth` counts the requests of this path. */
  hook?: (request: IncomingMessage, response: ServerResponse, nth: number, file: Buffer | null) => boolean;
}

export interface FakeHub {
  url: string;
  /** "hub path range" or "store path range" in order, without secrets. */
  requests: string[];
  /** Bytes of files sent. */
  sent: number;
  faults: Faults;
  /** Makes a new commit of `main` with only these files. Returns its 40 digits. */
  push(repository: string, files: HubFiles): string;
  close(): void;
}

const WEIGHTS = /\.(gguf|safetensors)$/i;
const CORS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag, Content-Range' };
export const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Closes the connection after `n` bytes of the body. */
export function cutAfter(n: number, request: IncomingMessage, response: ServerResponse, file: Buffer): true {
  const [first, last] = /(\d+)-(\d+)$/
    .exec(request.headers.range ?? '')
    ?.slice(1)
    .map(Number) ?? [0, file.length - 1];
  const part = file.subarray(first, Math.min(last, file.length - 1) + 1);
  response.writeHead(206, {
    ...CORS,
    etag: '"v1"',
    'content-length': part.length,
    'content-range': `bytes ${first}-${first + part.length - 1}/${file.length}`,
  });
  response.flushHeaders();
  response.write(part.subarray(0, n), () => setTimeout(() => request.socket.destroy(), 2));
  return true;
}

export async function fakeHub(): Promise<FakeHub> {
  const commits = new Map<string, HubFiles>();
  const heads = new Map<string, string>();
  const counts = new Map<string, number>();
  const uses = new Map<string, number>();

  const [hubServer, hubPort] = await listen((request, response) => answer('hub', request, response));
  const [storeServer, storePort] = await listen((request, response) => answer('store', request, response));
  const hub: FakeHub = {
    url: `http://127.0.0.1:${hubPort}`,
    requests: [],
    sent: 0,
    faults: {},
    push(repository, files) {
      const commit = createHash('sha1')
        .update(JSON.stringify([repository, Object.entries(files).map(([path, content]) => [path, sha256(content)])]))
        .digest('hex');
      commits.set(`${repository} ${commit}`, files);
      heads.set(repository, commit);
      return commit;
    },
    close() {
      for (const server of [hubServer, storeServer]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };

  function answer(where: 'hub' | 'store', request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://h');
    hub.requests.push(`${where} ${decodeURIComponent(pathname).slice(1)} ${request.headers.range ?? 'whole'}`);
    const nth = counts.get(pathname) ?? 0;
    counts.set(pathname, nth + 1);
    const [, owner, name, revision, path] =
      /^\/([^/]+)\/([^/]+)\/resolve\/([^/]+)\/(.*)$/.exec(pathname)?.map(decodeURIComponent) ?? [];
    const file = owner ? fileOf(`${owner}/${name}`, revision, path) : null;
    if (hub.faults.hook?.(request, response, nth, file)) return;
    const api = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)$/.exec(pathname);
    if (api && where === 'hub') return void list(response, api[1], decodeURIComponent(api[2]));
    if (!file) return void response.writeHead(404, CORS).end('Entry not found');
    if (where === 'hub' && WEIGHTS.test(path)) {
      const location = `http://localhost:${storePort}${pathname}?signature=${crypto.randomUUID()}`;
      return void response.writeHead(302, { ...CORS, location }).end();
    }
    const signature = searchParams.get('signature') ?? '';
    uses.set(signature, (uses.get(signature) ?? 0) + 1);
    if (where === 'store' && uses.get(signature)! > (hub.faults.uses ?? Number.POSITIVE_INFINITY)) {
      return void response.writeHead(403, CORS).end('Request has expired');
    }
    send(request, response, file);
  }

  function fileOf(repository: string, revision: string, path: string): Buffer | null {
    const commit = revision === 'main' ? heads.get(repository) : revision;
    const content = commits.get(`${repository} ${commit}`)?.[path];
    return content === undefined ? null : Buffer.from(content);
  }

  function list(response: ServerResponse, repository: string, revision: string): void {
    const commit = revision === 'main' ? heads.get(repository) : revision;
    const files = commits.get(`${repository} ${commit}`);
    if (hub.faults.noListing || !files) return void response.writeHead(404, CORS).end('{"error":"not found"}');
    const siblings = Object.entries(files).map(([path, content]) => {
      const hash = hub.faults.wrongHash === path ? 'f'.repeat(64) : sha256(content);
      return { rfilename: path, size: content.length, ...(WEIGHTS.test(path) && { lfs: { sha256: hash } }) };
    });
    response
      .writeHead(200, { ...CORS, 'content-type': 'application/json' })
      .end(JSON.stringify({ sha: commit, siblings }));
  }

  function send(request: IncomingMessage, response: ServerResponse, file: Buffer): void {
    if (hub.faults.noRanges) delete request.headers.range;
    const count = (part: Buffer) => {
      hub.sent += part.length;
      return part;
    };
    sendFile(request, response, file, { headers: { ...CORS, etag: `"${sha256(file).slice(0, 12)}"` }, body: count });
  }
  return hub;
}

async function listen(listener: Parameters<typeof createServer>[1]) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [server, (server.address() as AddressInfo).port] as const;
}
