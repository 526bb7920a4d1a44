// Reading a URL by ranges, on correct servers and on servers that misbehave.

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ModelFetchError, ModelFileError } from '../../../src/errors';
import { ChangedFileError, get, type HttpTuning } from '../../../src/storage/source/http';
import { urlSource, wholeUrlSource } from '../../../src/storage/source/url_source';
import { cutAfter } from '../fake_hub';
import { type Hook, sendFile, serve } from '../serve';
import { ramp } from '../write_gguf';

const TUNING: HttpTuning = { windowBytes: 1000, retryDelaysMs: [1, 2, 3], stallMs: 60_000 };
const FAST: HttpTuning = { ...TUNING, retryDelaysMs: [0, 0, 0] };
const file = Buffer.from(ramp(4500).map((byte, i) => byte ^ (i >> 8)));
const bytes = (from: number, to: number) => new Uint8Array(file.subarray(from, to));

/** Opens f.bin on a server that misbehaves as `hook` says. */
async function open(hook?: Hook, options = {}, tuning = TUNING) {
  const site = await serve({ 'f.bin': file }, hook);
  return { site, opening: urlSource(`${site.url}f.bin`, options, tuning) };
}

async function failure(promise: Promise<unknown>): Promise<ModelFetchError> {
  const error = await promise.catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ModelFetchError);
  return error as ModelFetchError;
}

describe('a server with ranges', () => {
  test('any range is exact, and onBytes counts the received bytes', async () => {
    let received = 0;
    const { opening } = await open(undefined, { onBytes: (n: number) => (received += n) });
    const source = await opening;
    expect([source.name, source.size]).toEqual(['f.bin', 4500]);
    for (const [from, to] of [
      [0, 4500],
      [999, 1001],
      [4499, 4500],
      [4500, 4500],
      [0, 1],
      [1500, 3500],
    ]) {
      expect(await source.read(from, to - from)).toEqual(bytes(from, to));
    }
    expect(received).toBeGreaterThanOrEqual(4500);
    for (const [offset, length] of [
      [0, 4501],
      [-1, 2],
      [0.5, 1],
      [4501, 0],
      [Number.NaN, 1],
    ]) {
      await expect(source.read(offset, length)).rejects.toThrow(ModelFileError);
    }
  });

  test('many small reads in order cost one request per window; the bytes belong to the caller', async () => {
    const { opening, site } = await open();
    const source = await opening;
    for (let at = 0; at < 4500; at += 50) {
      const part = await source.read(at, 50);
      expect(part).toEqual(bytes(at, at + 50));
      part.fill(0);
    }
    expect(site.requests.sort()).toEqual(
      [0, 1, 2, 3, 4].map((w) => `f.bin bytes=${w * 1000}-${Math.min(w * 1000 + 999, w ? 4499 : 999)}`),
    );
  });

  test('concurrent reads share the window in flight', async () => {
    const { opening, site } = await open();
    const source = await opening;
    const parts = await Promise.all([1, 2, 3, 4].map((i) => source.read(3000 + i, 10)));
    expect(parts[3]).toEqual(bytes(3004, 3014));
    expect(site.requests.filter((r) => r.includes('bytes=3000-'))).toHaveLength(1);
  });

  test('a broken body continues where it broke', async () => {
    let whenRead = () => {};
    const breaks: Hook = (request, response, nth) => {
      if (nth !== 1) return false;
      whenRead = () => request.socket.destroy();
      response.writeHead(206, { etag: '"v1"', 'content-range': 'bytes 1000-1999/4500', 'content-length': '1000' });
      response.write(file.subarray(1000, 1300));
      return true;
    };
    const { opening, site } = await open(breaks, { onBytes: () => whenRead() });
    expect(await (await opening).read(1000, 500)).toEqual(bytes(1000, 1500));
    expect(site.requests).toContain('f.bin bytes=1300-1999');
  });

  test('a line cut every 90 bytes still delivers the file', async () => {
    const { opening } = await open((request, response) => cutAfter(90, request, response, file), {}, FAST);
    expect(await (await opening).read(0, 1500)).toEqual(bytes(0, 1500));
  });

  test('a line always cut before the first byte does not', async () => {
    const { opening, site } = await open((request, response) => cutAfter(0, request, response, file), {}, FAST);
    expect((await failure(opening)).status).toBe(null);
    expect(site.requests).toHaveLength(4);
  });

  test.each([500, 503, 429])('%d, then fine', async (status) => {
    const { opening, site } = await open((_, response, nth) => nth < 2 && !!response.writeHead(status).end());
    expect((await opening).size).toBe(4500);
    expect(site.requests).toHaveLength(3);
  });

  test('a permanent 500 is reported after three more attempts', async () => {
    const { opening, site } = await open((_, response) => !!response.writeHead(500).end());
    expect((await failure(opening)).status).toBe(500);
    expect(site.requests).toHaveLength(4);
  });

  test('the next read requests a failed window again', async () => {
    const { opening } = await open((_, response, nth) => nth > 0 && nth < 5 && !!response.writeHead(502).end());
    const source = await opening;
    expect((await failure(source.read(2000, 1))).status).toBe(502);
    expect(await source.read(2000, 1)).toEqual(bytes(2000, 2001));
  });

  test('a stalled body counts as broken', async () => {
    const stall: Hook = (_, response) => {
      response.writeHead(206, { etag: '"v1"', 'content-range': 'bytes 0-999/4500', 'content-length': '1000' });
      response.flushHeaders();
      return true;
    };
    const { opening } = await open(stall, {}, { ...TUNING, stallMs: 60, retryDelaysMs: [1] });
    expect(String(await failure(opening))).toMatch(/nothing arrived for 60 ms/);
  });

  test('a stalled body is reported as a stall, whatever the next answer is', async () => {
    const stall: Hook = (_, response) => {
      response.writeHead(206, { etag: '"v1"', 'content-range': 'bytes 0-999/4500', 'content-length': '1000' });
      return response.write(file.subarray(0, 300)); // the same start for every range
    };
    const { opening } = await open(stall, {}, { ...TUNING, stallMs: 60, retryDelaysMs: [1] });
    expect(String(await failure(opening))).toMatch(/nothing arrived for 60 ms/);
  });

  test('a reader that takes longer than a stall breaks no connection', async () => {
    const { site } = await open();
    const answer = await get(`${site.url}f.bin`, [0, 999], { ...TUNING, stallMs: 60 });
    let bytesRead = 0;
    await answer.read(async (chunk) => {
      bytesRead += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    });
    expect(bytesRead).toBe(1000);
  });

  test('a connection that stays open after the last byte still delivers the range', async () => {
    const { opening, site } = await open(
      (request, response, nth) => {
        if (nth !== 1) return false;
        const [first, last] = request.headers.range!.slice(6).split('-').map(Number);
        response.writeHead(206, { etag: '"v1"', 'content-range': `bytes ${first}-${last}/4500` });
        return response.write(file.subarray(first, last + 1)) || true;
      },
      {},
      { ...TUNING, stallMs: 1000, retryDelaysMs: [1] },
    );
    expect(await (await opening).read(1000, 500)).toEqual(bytes(1000, 1500));
    expect(site.requests).toEqual(['f.bin bytes=0-999', 'f.bin bytes=1000-1999']);
  });

  test.each(['200', '206'])(
    'one web page instead of a range, with status %s: the range is requested again',
    async (status) => {
      const { opening } = await open((request, response, nth) => {
        if (nth !== 1) return false;
        const page = { 'content-type': 'text/html' };
        if (status === '206')
          return sendFile(request, response, file, { headers: page, body: (part) => part.fill(32) });
        return !!response.writeHead(200, page).end('<!doctype html>');
      });
      expect(await (await opening).read(1000, 500)).toEqual(bytes(1000, 1500));
    },
  );
});

describe('a server without ranges', () => {
  test('is read whole, once, with progress', async () => {
    const steps: number[] = [];
    const { opening, site } = await open((_, response) => !!response.writeHead(200).end(file), {
      onBytes: (n: number) => steps.push(n),
    });
    const source = await opening;
    expect(await source.read(0, 4500)).toEqual(bytes(0, 4500));
    expect(await source.read(4000, 10)).toEqual(bytes(4000, 4010));
    expect(steps.reduce((a, b) => a + b)).toBe(4500);
    expect(site.requests).toHaveLength(1);
  });

  test('a body shorter than announced is an error', async () => {
    const { opening } = await open((request, response) => {
      response.writeHead(200, { 'content-length': '4500' }).write(file.subarray(0, 100));
      setTimeout(() => request.socket.destroy(), 10);
      return true;
    });
    await failure(opening);
  });

  test('a 206 that hides its Content-Range is fetched whole instead', async () => {
    const { opening, site } = await open((request, response) => {
      if (!request.headers.range) return false;
      return !!response.writeHead(206).end(file.subarray(0, 1000));
    });
    expect(await (await opening).read(4000, 500)).toEqual(bytes(4000, 4500));
    expect(site.requests).toEqual(['f.bin bytes=0-999', 'f.bin whole']);
  });
});

test('a file of an extension, which calls a range the whole file, is fetched whole', async () => {
  const asked: (string | null)[] = [];
  vi.stubGlobal('fetch', async (_: string, { headers }: RequestInit = {}) => {
    const range = new Headers(headers).get('range');
    asked.push(range);
    return new Response(range ? file.slice(0, 1000) : file.slice());
  });
  const source = await urlSource('chrome-extension://abc/f.bin', {}, TUNING);
  expect(await source.read(4000, 500)).toEqual(bytes(4000, 4500));
  expect(asked).toEqual([null]);
  vi.unstubAllGlobals();
});

describe('the version that later ranges must match', () => {
  async function conditions(etag: string, origin?: string): Promise<unknown[]> {
    const seen: unknown[] = [];
    const { opening, site } = await open((request, response) => {
      seen.push(request.headers['if-range']);
      return sendFile(request, response, file, { headers: { etag } });
    });
    if (origin) vi.stubGlobal('location', new URL(origin === 'own' ? site.url : origin));
    await (await opening).read(1000, 500);
    vi.unstubAllGlobals();
    return seen.slice(0, 2); // without the read-ahead
  }

  test("is the strong ETag, on the page's own origin only, since others need a preflight", async () => {
    expect(await conditions('"v1"', 'own')).toEqual([undefined, '"v1"']);
    expect(await conditions('W/"v1"', 'own')).toEqual([undefined, undefined]);
    expect(await conditions('"v1"', 'https://page.example')).toEqual([undefined, undefined]);
  });

  test('is gone: the file changed, and a new load succeeds', async () => {
    const { opening } = await open((request, response) => {
      if (!request.headers['if-range']) return false;
      return !!response.writeHead(200, { etag: '"v2"' }).end(file.subarray(1));
    });
    const error = await failure(opening.then((source) => source.read(4000, 10)));
    expect(error).toBeInstanceOf(ChangedFileError);
    expect(error.message).toMatch(/changed while it was read \(version "v1", then "v2"\)/);
  });
});

describe('wrong answers', () => {
  const always =
    (over: Parameters<typeof sendFile>[3]): Hook =>
    (request, response) =>
      sendFile(request, response, file, over);
  const later =
    (over: Parameters<typeof sendFile>[3]): Hook =>
    (request, response, nth) =>
      nth > 0 && sendFile(request, response, file, over);
  const cases: [string, Hook, RegExp][] = [
    ['short parts', always({ body: (part) => part.subarray(0, -1) }), /sent 999 of 1000 bytes at 0/],
    ['long parts', always({ body: (part) => Buffer.concat([part, part]) }), /more than the 1000 bytes/],
    ['another range', always({ headers: { 'content-range': 'bytes 1-1000/4500' } }), /"bytes 0-999\/4500" was due/],
    ['a longer range', always({ headers: { 'content-range': 'bytes 0-1999/4500' } }), /was due/],
    ['an unknown length', always({ headers: { 'content-range': 'bytes 0-999/*' } }), /unknown length/],
    ['a length of 0', always({ headers: { 'content-range': 'bytes 0-999/0' } }), /unknown length/],
    ['a petabyte', always({ headers: { 'content-range': 'bytes 0-999/999999999999999' } }), /at most/],
    ['nonsense for a range', always({ headers: { 'content-range': 'rows 1' } }), /unknown length/],
    ['another length later', later({ headers: { 'content-range': 'bytes 4000-4499/4600' } }), /was due/],
    [
      'another ETag later',
      later({ headers: { etag: '"v2"' } }),
      /changed while it was read \(version "v1", then "v2"\)/,
    ],
    ['no ETag later', later({ headers: { etag: '' } }), /changed while it was read/],
    ['the whole file later', (_, response, nth) => nth > 0 && !!response.writeHead(200).end(file), /parts before/],
    ['a web page by its type', (_, r) => !!r.writeHead(200, { 'content-type': 'text/html' }).end('hi'), /web page/],
    ['a web page by its start', (_, r) => !!r.writeHead(200).end(' <!DOCTYPE html><p>'), /web page/],
    ['a part of a web page', always({ body: (part) => Buffer.from('<html>'.padEnd(part.length)) }), /web page/],
  ];
  test.each(cases)('%s', async (_, hook, message) => {
    const { opening } = await open(hook);
    const error = await failure(opening.then((source) => source.read(4000, 10)));
    expect(String(error)).toMatch(message);
    expect(error.url).toMatch(/^http.*f\.bin$/);
  });

  test.each([
    [404, /not found.*Check the address/],
    [410, /not found/],
    [401, /private, gated or misspelled/],
    [403, /private, gated or misspelled/],
    [416, /416/],
    [418, /418/],
  ])('status %d', async (status, message) => {
    const { opening, site } = await open((_, response) => !!response.writeHead(status).end('<html>'));
    const error = await failure(opening);
    expect(error.status).toBe(status);
    expect(error.message).toMatch(message);
    expect(site.requests).toHaveLength(1);
  });

  test('no server', async () => {
    const error = await failure(urlSource('http://127.0.0.1:9/model.gguf?token=secret', {}, TUNING));
    expect(error.status).toBe(null);
    expect(error.message).toMatch(/could not be fetched/);
    expect(error.message).not.toMatch(/secret/);
  });

  test("without CORS headers the error names CORS, except on the page's own server", async () => {
    onTestFinished(() => void vi.unstubAllGlobals());
    const complaint = async (origin: string) => {
      vi.stubGlobal('location', new URL(origin));
      return (await failure(urlSource('http://127.0.0.1:9/model.gguf', {}, TUNING))).message;
    };
    expect(await complaint('https://page.example')).toMatch(/127\.0\.0\.1:9 lets pages of other origins.*\(CORS\)/);
    expect(await complaint('http://127.0.0.1:9')).not.toMatch(/CORS/);
  });
});

describe('text read whole', () => {
  test('one request without a range', async () => {
    const site = await serve({ 'a.json': '{"a":1}' });
    const source = await wholeUrlSource(`${site.url}a.json`, 'json', {}, TUNING);
    expect(new TextDecoder().decode(await source.read(0, source.size))).toBe('{"a":1}');
    expect(site.requests).toEqual(['a.json whole']);
  });

  test('JSON cannot begin with "<", a template can', async () => {
    const site = await serve({ 'a.json': '<|im_start|>' });
    await expect(wholeUrlSource(`${site.url}a.json`, 'json', {}, TUNING)).rejects.toThrow(/web page/);
    expect((await wholeUrlSource(`${site.url}a.json`, 'text', {}, TUNING)).size).toBe(12);
  });

  test('endless text is refused past 64 MB', async () => {
    const block = Buffer.alloc(1 << 20, ' ');
    const site = await serve({}, (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(block));
      };
      response.writeHead(200).on('drain', more);
      more();
      return true;
    });
    await expect(wholeUrlSource(`${site.url}a.json`, 'json', {}, TUNING)).rejects.toThrow(/at most 67108864/);
  });
});

describe('abort', () => {
  const reason = new Error('the person left');

  test('before, during the request, during the body, between attempts, and before a read', async () => {
    const silent: Hook = () => true;
    const dripping: Hook = (_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-999/4500' });
      return response.write('x');
    };
    const failing: Hook = (_, response) => !!response.writeHead(500).end();
    const slow = { ...TUNING, retryDelaysMs: [60_000] };
    for (const hook of [silent, dripping, failing]) {
      const aborter = new AbortController();
      const { opening } = await open(hook, { signal: aborter.signal }, slow);
      setTimeout(() => aborter.abort(reason), 50);
      await expect(opening).rejects.toBe(reason);
    }
    const aborter = new AbortController();
    const source = await (await open(undefined, { signal: aborter.signal })).opening;
    aborter.abort(reason);
    await expect(source.read(0, 1)).rejects.toBe(reason);
    await expect((await open(undefined, { signal: aborter.signal })).opening).rejects.toBe(reason);
  });
});
