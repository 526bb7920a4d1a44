// The static server: ranges, conditional requests, other origins, paths that lead nowhere, and ports.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rangeOf, type Served, serve } from '../../tools/lib/serve';

let folder: string;
let server: Served;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vivace-serve-'));
  await mkdir(path.join(folder, 'site'));
  await writeFile(path.join(folder, 'site/index.html'), '<p>hello');
  await writeFile(path.join(folder, 'site/app.js'), 'export {};');
  await writeFile(path.join(folder, 'site/ten.gguf'), '0123456789');
  await writeFile(path.join(folder, 'site/empty.gguf'), '');
  await writeFile(path.join(folder, 'secret.txt'), 'secret');
  server = await serve({
    mounts: { '/': path.join(folder, 'site'), '/model/one.gguf': path.join(folder, 'site/ten.gguf') },
    handlers: { '/made': (_request, response) => response.end('made by code') },
  });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const get = (route: string, headers: Record<string, string> = {}) => fetch(new URL(route, server.url), { headers });

/** The status for a request without a header of fetch's own, and for a path that fetch would change. */
const statusOf = (path: string, headers: Record<string, string> = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request({ port: server.port, path, headers }, (response) => resolve(response.resume().statusCode));
    asked.on('error', reject).end();
  });

for (const [header, expected] of [
  [undefined, null],
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', 'unsatisfiable'],
  ['bytes=9-99', { start: 9, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=-', null],
  ['bytes=5-3', 'unsatisfiable'],
  ['bytes=0-1,3-4', null],
  ['lines=0-1', null],
] as const) {
  test(`range ${header} of ten bytes`, () => {
    expect(rangeOf(header, 10)).toEqual(expected);
  });
}

test('a range answers 206 with just those bytes', async () => {
  const response = await get('/ten.gguf', { range: 'bytes=2-4' });
  expect(response.status).toBe(206);
  expect(response.headers.get('content-range')).toBe('bytes 2-4/10');
  expect(response.headers.get('content-length')).toBe('3');
  expect(await response.text()).toBe('234');
});

test('a range past the end answers 416 with the size', async () => {
  const response = await get('/ten.gguf', { range: 'bytes=10-12' });
  expect(response.status).toBe(416);
  expect(response.headers.get('content-range')).toBe('bytes */10');
});

test('a range of a file that changed since answers the whole file', async () => {
  const etag = (await get('/ten.gguf')).headers.get('etag') ?? '';
  expect((await get('/ten.gguf', { range: 'bytes=0-0', 'if-range': etag })).status).toBe(206);
  expect((await get('/ten.gguf', { range: 'bytes=0-0', 'if-range': '"old"' })).status).toBe(200);
  expect(await statusOf('/ten.gguf', { 'if-none-match': etag })).toBe(304);
});

test('types, index, single-file mounts, handlers and empty files', async () => {
  expect((await get('/')).headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect((await get('/app.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect((await get('/ten.gguf')).headers.get('content-type')).toBe('application/octet-stream');
  expect(await (await get('/model/one.gguf')).text()).toBe('0123456789');
  expect(await (await get('/made')).text()).toBe('made by code');
  const empty = await get('/empty.gguf');
  expect([empty.status, empty.headers.get('content-length')]).toEqual([200, '0']);
});

test('HEAD answers the size and no bytes; other methods are refused', async () => {
  const head = await fetch(new URL('/ten.gguf', server.url), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
  expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405);
});

test('other origins are let in where they are meant to be, with what ranges need, and nowhere else', async () => {
  const open = await serve({ mounts: { '/': path.join(folder, 'site') }, crossOrigin: true });
  try {
    const ask = (init: RequestInit) => fetch(new URL('/ten.gguf', open.url), init);
    for (const [init, status] of [
      [{ headers: { range: 'bytes=2-4' } }, 206],
      [{ headers: { range: 'bytes=10-' } }, 416],
      [{ method: 'HEAD' }, 200],
      [{ method: 'OPTIONS' }, 204],
    ] as const) {
      const { headers, status: got } = await ask(init);
      expect(got).toBe(status);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toMatch(/Content-Range.*ETag/);
      expect(headers.get('access-control-allow-headers')).toMatch(/Range/);
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    }
    expect((await fetch(new URL('/nothing.gguf', open.url))).headers.get('access-control-allow-origin')).toBe('*');
  } finally {
    await open.close();
  }
  expect((await get('/ten.gguf')).headers.get('access-control-allow-origin')).toBe(null);
});

for (const route of [
  '/nothing.gguf',
  '/..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/../secret.txt',
  '/..%2f..%2fetc/passwd',
  '/%00',
  '/%zz',
  '/app.js/',
  '/model/one.gguf/x',
]) {
  test(`404 for ${route}`, async () => {
    expect((await get(route)).status).toBe(404);
  });
}

test('where no port is free, the error says which were tried and what to do', async () => {
  const last = await serve({ mounts: {}, port: 65_535 }).catch(() => null); // null: somebody else has it
  await expect(serve({ mounts: {}, port: 65_535, nextPort: true })).rejects.toThrow(
    'The ports from 65535 to 65535 are taken: choose another one.',
  );
  await last?.close();
});

test('a taken port is passed over when asked to, else it is an error', async () => {
  const first = await serve({ mounts: {}, port: 39_517, nextPort: true });
  const second = await serve({ mounts: {}, port: first.port, nextPort: true });
  expect(second.port).toBeGreaterThan(first.port);
  await expect(serve({ mounts: {}, port: first.port })).rejects.toThrow('EADDRINUSE');
  await Promise.all([first.close(), second.close()]);
});

test('an address that no URL parser takes is answered, and the server goes on', async () => {
  const status = await new Promise((resolve, reject) => {
    request({ port: server.port, path: '//' }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect([200, 404]).toContain(status);
  expect((await get('/app.js')).status).toBe(200);
});
