// Hashing a whole file from its pieces, in this thread and behind a port.

import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Hasher, portHasher, serveHasher } from '../../../src/storage/source/hash_port';
import { localHasher, WholeHash } from '../../../src/storage/source/whole_hash';

const PIECES = Array.from({ length: 9 }, (_, i) => new Uint8Array(1000 + i).fill(i + 1));
const SHA256 = createHash('sha256').update(Buffer.concat(PIECES)).digest('hex');

function elsewhere(): Hasher {
  const { port1, port2 } = new MessageChannel();
  serveHasher(port2);
  return portHasher(port1);
}

describe.each([
  ['this thread', localHasher],
  ['another thread', elsewhere],
])('in %s', (_, create) => {
  const whole = (expected: string) => new WholeHash('model.gguf', PIECES.length, expected, Promise.resolve(create()));

  test('takes pieces in order, a few ahead of their turn, and repeated ones', async () => {
    const hash = whole(SHA256);
    const order = [0, 2, 1, 1, 3, 6, 4, 5, 0, 7, 8];
    const found = await Promise.all(order.map((i) => hash.add(i, PIECES[i])));
    expect(found).toEqual(order.map((_, at) => at === order.length - 1));
  });

  test('a wrong hash is an error with both hashes, and so is every later piece', async () => {
    const hash = whole('0'.repeat(64));
    for (const [i, piece] of PIECES.slice(0, -1).entries()) expect(await hash.add(i, piece)).toBe(false);
    await expect(hash.add(8, PIECES[8])).rejects.toThrow(`${SHA256} and should have ${'0'.repeat(64)}`);
    await expect(hash.add(0, PIECES[0])).rejects.toThrow(SHA256);
  });

  test('without one of the pieces there is no result', async () => {
    const hash = whole(SHA256);
    for (const i of [0, 1, 3, 4, 5, 6, 7, 8]) expect(await hash.add(i, PIECES[i])).toBe(false);
  });

  test("a piece's buffer may be reused after the promise settles", async () => {
    const hash = whole(SHA256);
    for (const [i, piece] of PIECES.entries()) {
      const bytes = piece.slice();
      expect(await hash.add(i, bytes)).toBe(i === PIECES.length - 1);
      bytes.fill(0);
    }
  });
});

test('a thread that ended is an error, not a wait', async () => {
  vi.useFakeTimers();
  try {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    const hash = new WholeHash('model.gguf', PIECES.length, SHA256, Promise.resolve(portHasher(port1)));
    const added = Promise.allSettled(PIECES.map((piece, i) => hash.add(i, piece)));
    await vi.advanceTimersByTimeAsync(60_000);
    const last = (await added).at(-1);
    expect(last).toMatchObject({ reason: { code: 'worker', message: expect.stringContaining('answers no more') } });
  } finally {
    vi.useRealTimers();
  }
});

test('only a few pieces are in transit to the other thread', async () => {
  const { port1, port2 } = new MessageChannel();
  const asked: unknown[] = [];
  port2.onmessage = ({ data }) => asked.push(data);
  const hasher = portHasher(port1);
  const settled: number[] = [];
  const updates = PIECES.map((piece, i) => hasher.update(piece).then(() => settled.push(i)));
  await expect.poll(() => asked.length).toBe(PIECES.length);
  expect(settled).toEqual([0, 1, 2]);
  for (const _ of PIECES) port2.postMessage(null);
  await Promise.all(updates);
  port1.close();
});
