// The part of stored prompts comes when there is something for it to do, and what it missed it is told.

import { expect, test, vi } from 'vitest';
import { LatePrompts, type Prompts } from '../../../../src/engine/worker/prefix_cache/late_prompts';

const session = { cachedIds: [] };
const ids = new Uint32Array(400);
const long = Array.from(ids);
const always = () => true;
const never = () => false;
const turn = <T>(work: () => Promise<T>) => work();

function prompts(hasSome: boolean) {
  const part = {
    restore: vi.fn<Prompts['restore']>(async () => 300),
    note: vi.fn<Prompts['note']>(),
    write: vi.fn<Prompts['write']>(async () => {}),
    distrust: vi.fn<Prompts['distrust']>(async () => {}),
  };
  const open = vi.fn(async (): Promise<Prompts | null> => part);
  return { part, open, late: new LatePrompts(Promise.resolve(hasSome), open) };
}

test('a first visit needs no part until there is a prompt to write', async () => {
  const { part, open, late } = prompts(false);
  expect(await late.restore(session, ids, 7, never)).toBe(7);
  late.note(long.slice(0, 100), () => 100, 2);
  await late.write(session, turn, always);
  await late.distrust();
  expect(open).not.toHaveBeenCalled();
  late.note(long, () => 400, 3);
  late.note(long, () => 390, null); // the time that a prompt took stays known
  await late.write(session, turn, always);
  expect(part.note.mock.calls).toEqual([[long, expect.any(Function), 3]]);
  expect(part.note.mock.calls[0]?.[1]()).toBe(390);
  expect(part.write).toHaveBeenCalledOnce();
  expect(await late.restore(session, ids, 7, never)).toBe(300);
  expect(open).toHaveBeenCalledOnce();
});

test('what an earlier visit left is there for the first answer', async () => {
  const { part, open, late } = prompts(true);
  expect(await late.restore(session, ids, 0, never)).toBe(300);
  await late.distrust();
  expect(part.distrust).toHaveBeenCalledOnce();
  expect(open).toHaveBeenCalledOnce();
});

test('a part that does not come costs no answer, and is asked for again', async () => {
  const { part, open, late } = prompts(true);
  open.mockRejectedValueOnce(new Error('no network'));
  expect(await late.restore(session, ids, 5, never)).toBe(5);
  expect(await late.restore(session, ids, 5, never)).toBe(300);
  expect(part.restore).toHaveBeenCalledOnce();
});
