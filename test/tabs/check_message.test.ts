// What other tabs send: a whole message of the protocol, or nothing.

import { expect, test } from 'vitest';
import { readMessage } from '../../src/tabs/check_message';
import type { TabMessage } from '../../src/tabs/wire';
import { randomSource } from '../random';
import { INFO } from './simulation';

const [FROM, TERM, ID] = ['a', 'b', 'c'].map((digit) => digit.repeat(32));
const AT = { tbtMs: null, atMs: 1.5, inFlightMs: 1, workerMs: null };
const failure = { type: 'error', name: 'WorkerError', code: 'worker', message: 'm', details: { n: 1 } } as const;
const progress = { stage: 'weights', loadedBytes: 1, totalBytes: 2, bytesPerSecond: null, secondsLeft: 3 } as const;
const post = { type: 'post', to: FROM, term: TERM, id: ID, n: 0, failure: null } as const;

const LEGAL: TabMessage[] = [
  { type: 'hello', from: FROM },
  { type: 'ping', from: FROM, term: TERM, ids: [ID] },
  { type: 'heard', from: FROM, term: TERM, id: ID, posts: 256 },
  { type: 'stop', from: FROM, term: TERM, id: ID, isOver: true },
  {
    ...{ type: 'ask', from: FROM, term: TERM, id: ID },
    request: {
      kind: 'generate',
      body: { input: { prompt: 'Hi' }, options: { seed: 1 }, resumed: { promptIds: [1], ids: [2, 3] } },
    },
  },
  { type: 'ask', from: FROM, term: TERM, id: ID, request: { kind: 'embed', body: { texts: ['a'], options: {} } } },
  {
    type: 'pong',
    to: FROM,
    term: TERM,
    posts: [
      { id: ID, posts: 3 },
      { id: TERM, posts: null },
    ],
  },
  { type: 'state', term: TERM, state: { kind: 'loading', progress } },
  { type: 'state', term: TERM, state: { kind: 'recovering', cause: failure, loss: 1, progress: null } },
  { type: 'state', term: TERM, state: { kind: 'ready', info: INFO, form: null, news: '', nextTryAt: null } },
  { type: 'state', term: TERM, state: { kind: 'gone' } },
  { ...post, messages: [], failure },
  {
    ...post,
    messages: [
      { type: 'start', choice: 0, promptIds: [1, 2], cachedTokens: 0 },
      { type: 'token', id: 5, text: ' a', position: 2, ...AT },
    ],
  },
  { ...post, messages: [{ vectors: [Float32Array.of(1)], promptTokens: 1 }] },
  { ...post, messages: [{ ids: Uint32Array.of(1) }] },
];

/** All places of a value, as paths. */
function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))];
}

function changed(message: TabMessage, path: readonly string[], to: unknown): unknown {
  const copy = structuredClone(message) as Record<string, unknown>;
  let place = copy;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>;
  place[path[path.length - 1]] = to;
  return copy;
}

test('all messages of the protocol are read', () => {
  for (const message of LEGAL) expect(readMessage(structuredClone(message)), JSON.stringify(message)).toEqual(message);
});

test('a message with a field of another kind is none', () => {
  /** What no client reads without a look of its own, or may be absent. */
  const free =
    /^state,info,(?:gpuBytes|bytesPerToken|step,g)|(?:input|options|details),|,(?:resumed|form|failure|news)$|,isOver/;
  for (const message of LEGAL) {
    for (const path of pathsOf(message).slice(1)) {
      const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], message);
      if (value === null || free.test(path.join())) continue;
      const other = typeof value === 'number' ? 'x' : 7.5;
      expect(readMessage(changed(message, path, other)), `${message.type} ${path}`).toBeNull();
      if (typeof value !== 'number') continue;
      expect(readMessage(changed(message, path, Number.NaN)), `${message.type} ${path}`).toBeNull();
    }
  }
});

test('anything else is none, and takes no long look', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle, cycle, cycle);
  const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`);
  const hello = { type: 'hello', from: FROM };
  for (const other of [
    ...[null, undefined, 1, 'hello', [], {}, new Map(), new Date(0), cycle, deep, new Error('x')],
    ...[{ type: 'constructor' }, { type: '__proto__', from: FROM }, { type: ['hello'], from: FROM }],
    ...[
      { ...hello, from: 'g'.repeat(32) },
      { ...hello, from: `${FROM}\n` },
      { ...hello, more: cycle },
    ],
    { ...hello, more: 'x'.repeat(2 ** 26 + 1) },
    { type: 'ping', from: FROM, term: TERM, ids: new Array(2 ** 20 + 1).fill(ID) },
    Object.assign(Object.create({ type: 'hello' }), { from: FROM }),
  ])
    expect(readMessage(other)).toBeNull();
});

test('4,000 damaged messages: none throws, and what is read has its ids', () => {
  const draw = randomSource(22);
  const one = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)];
  const values = [null, undefined, -1, 0.5, 2 ** 60, '', 'x', [], {}, [[]], true, Number.POSITIVE_INFINITY, FROM];
  for (let i = 0; i < 4000; i++) {
    let message: unknown = one(LEGAL);
    for (let n = 0; n < 1 + 2 * draw(); n++) {
      const paths = pathsOf(message).slice(1);
      if (paths.length > 0) message = changed(message as TabMessage, one(paths), one(values));
    }
    const read = readMessage(message);
    for (const key of ['from', 'to', 'term', 'id'] as const) {
      const id = read && (read as unknown as Record<string, unknown>)[key];
      if (id) expect(id).toMatch(/^[0-9a-f]{32}$/);
    }
  }
});
