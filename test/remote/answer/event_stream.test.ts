// Events from hostile bytes: every cut, every kind of line end, every bound.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventsOf, type ServerEvent, STREAM_BOUNDS } from '../../../src/remote/answer/event_stream';
import { FakeClock } from '../fake_clock';

const BOUNDS = { ...STREAM_BOUNDS, silenceMs: 1000 };

/** A body that arrives in these pieces, each after so many milliseconds. */
function bodyOf(pieces: readonly Uint8Array[], clock = new FakeClock(), gapMs = 10) {
  const left = [...pieces];
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.shift();
        clock.advance(gapMs);
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, clock, isCancelled: () => isCancelled };
}

async function all(pieces: readonly (Uint8Array | string)[], bounds = BOUNDS): Promise<ServerEvent[]> {
  const { body, clock } = bodyOf(pieces.map((piece) => (typeof piece === 'string' ? bytesOf(piece) : piece)));
  const events: ServerEvent[] = [];
  for await (const event of eventsOf(body, clock, bounds)) events.push(event);
  return events;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const dataOf = async (...pieces: (Uint8Array | string)[]) => (await all(pieces)).map(({ data }) => data);

test('events with the time of their last bytes', async () => {
  const events = await all(['data: a\n', '\ndata: b\n\ndata: c\n\n']);
  expect(events).toEqual([
    { data: 'a', name: '', atMs: 20 },
    { data: 'b', name: '', atMs: 20 },
    { data: 'c', name: '', atMs: 20 },
  ]);
});

test('line ends of all kinds, comments, names, ids, data of several lines, a byte order mark', async () => {
  expect(await dataOf('\ufeff: hello\r\nid: 1\r\nretry: 5\r\ndata: a\r\ndata:b\r\n\r\n')).toEqual(['a\nb']);
  expect(await dataOf('data: a\r\rdata: b\r', '\r', 'data: c\n\n')).toEqual(['a', 'b', 'c']);
  expect(await dataOf('\n\n: ping\n\n\ndata:\n\nfoo: bar\n\n')).toEqual(['']);
  expect(await all(['event: error\ndata: {}\n\n'])).toMatchObject([{ name: 'error', data: '{}' }]);
});

test('an event without its empty line never comes', async () => {
  expect(await dataOf('data: a\n\ndata: {"half', '": 1}\n')).toEqual(['a']);
});

const TEXT = 'data: {"text":"Grüße 🌍 日本"}\r\n\r\n: wait\n\ndata: zwei\ndata: Zeilen\n\ndata: [DONE]\n\n';

test('the events are the same however the bytes are cut, through characters and line ends', async () => {
  const whole = bytesOf(TEXT);
  const expected = await dataOf(whole);
  expect(expected).toEqual(['{"text":"Grüße 🌍 日本"}', 'zwei\nZeilen', '[DONE]']);
  const cuts = fc.array(fc.nat(whole.length), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(cuts, async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      expect(await dataOf(...places.slice(1).map((end, i) => whole.subarray(places[i], end)))).toEqual(expected);
    }),
    { numRuns: 100, seed: 22 },
  );
  expect(await dataOf(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
});

test('bytes that are no UTF-8 are shown as such, and break nothing', async () => {
  expect(await dataOf(Uint8Array.of(...bytesOf('data: '), 0xff, 0xf0, 0x9f, ...bytesOf('\n\n')))).toEqual([
    '\ufffd\ufffd',
  ]);
});

test('a line without an end, an event of many lines, a long event in one read: all are bounded', async () => {
  const bounds = { ...BOUNDS, eventLetters: 10_000 };
  const tooLong = { code: 'server-answer', message: expect.stringContaining('10000 letters') };
  const endless = Array.from({ length: 100 }, () => 'x'.repeat(1000));
  await expect(all(['data: ', ...endless], bounds)).rejects.toMatchObject(tooLong);
  await expect(all(Array(2000).fill('data: 123456\n'), bounds)).rejects.toMatchObject(tooLong);
  await expect(all([`data: ${'x'.repeat(10_001)}\n\n`], bounds)).rejects.toMatchObject(tooLong);
  await expect(all([`: ${'x'.repeat(10_001)}`], bounds)).rejects.toMatchObject(tooLong);
  expect(await all([`data: ${'x'.repeat(9000)}\n\n`], bounds)).toHaveLength(1);
});

test('events and bytes of a stream are bounded', async () => {
  const events = all(['data: a\n\n'.repeat(11)], { ...BOUNDS, events: 10 });
  await expect(events).rejects.toMatchObject({ code: 'server-answer', message: expect.stringContaining('10 events') });
  const bytes = all(Array(200).fill(': ping\n\n'), { ...BOUNDS, bytes: 1000 });
  await expect(bytes).rejects.toMatchObject({ code: 'server-answer', message: expect.stringContaining('1000 bytes') });
});

test('many short lines with one carriage return at their end take no quadratic time', async () => {
  expect(await dataOf(`${'\n'.repeat(4_000_000)}data: a\r\n\r\n`)).toEqual(['a']);
});

test('a silence is an error of its own, each wait by itself, and the body is cancelled', async () => {
  const clock = new FakeClock();
  let isCancelled = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
    },
    cancel() {
      isCancelled = true;
    },
  });
  const events = eventsOf(body, clock, BOUNDS);
  const first = events.next();
  await clock.waits();
  clock.advance(900);
  controller?.enqueue(bytesOf('data: a\n\n'));
  expect((await first).value).toMatchObject({ data: 'a', atMs: 900 });
  const second = events.next();
  await clock.waits();
  clock.advance(900); // 1.8 seconds in all, but none of the waits took one
  expect(clock.waiting).toBe(1);
  clock.advance(101);
  await expect(second).rejects.toMatchObject({ name: 'RemoteError', code: 'server-silent', canRetry: true });
  expect([isCancelled, clock.waiting]).toEqual([true, 0]);
});

test('a broken connection is an error, and its events before it come', async () => {
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(bytesOf('data: a\n\n')),
      pull: (controller) => controller.error(new TypeError('terminated')),
    },
    { highWaterMark: 0 },
  );
  const events = eventsOf(body, new FakeClock(), BOUNDS);
  expect((await events.next()).value).toMatchObject({ data: 'a' });
  await expect(events.next()).rejects.toMatchObject({ code: 'server-cut' });
});

test('who leaves cancels the body', async () => {
  const { body, clock, isCancelled } = bodyOf([bytesOf('data: a\n\n'), bytesOf('data: b\n\n')]);
  for await (const { data } of eventsOf(body, clock, BOUNDS)) if (data === 'a') break;
  expect([isCancelled(), clock.waiting]).toEqual([true, 0]);
});
