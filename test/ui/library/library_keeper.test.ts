// Saves of the page's conversation: their number, and the copies that remain when storage refuses or the page closes.

import { afterEach, expect, test, vi } from 'vitest';
import type { ConversationStore } from '../../../src/ui/conversation/conversation_store';
import type { Conversation } from '../../../src/ui/conversation/conversation_tree';
import { LibraryKeeper } from '../../../src/ui/library/library_keeper';
import { asking } from '../conversation/asking';

/** A store that stores everything. */
const idle: Pick<ConversationStore, 'save' | 'saveLate' | 'keepGrown' | 'flushGrown'> = {
  save: async () => 'stored',
  saveLate() {},
  keepGrown() {},
  flushGrown() {},
};

afterEach(() => {
  vi.useRealTimers();
});

test('a burst of changes is one save, and a closing page hands over the unsaved copies', async () => {
  vi.useFakeTimers();
  const saved: number[] = [];
  const late: number[] = [];
  const keeper = new LibraryKeeper({
    ...idle,
    save: async ({ turns }) => {
      saved.push(turns.length);
      return 'stored';
    },
    saveLate: ({ turns }) => void late.push(turns.length),
  });
  let { conversation } = asking('1');
  for (const question of ['2', '3']) {
    conversation = asking(question, conversation).conversation;
    keeper.keep(conversation);
  }
  keeper.flushNow();
  expect([saved, late]).toEqual([[], [3]]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(saved).toEqual([3]);
  keeper.flushNow();
  expect(late).toEqual([3]);
});

test('a copy that storage refuses is kept, and tried again with the next one', async () => {
  let hasRoom = false;
  const late: Conversation[] = [];
  const keeper = new LibraryKeeper({
    ...idle,
    save: async () => (hasRoom ? 'stored' : 'refused'),
    saveLate: (copy) => void late.push(copy),
  });
  const [refused, other] = [asking('1').conversation, asking('2').conversation];
  keeper.keep(refused);
  await keeper.flush();
  expect(keeper.newer.get(refused.id)).toBe(refused);
  keeper.flushNow();
  expect(late).toEqual([refused]);
  hasRoom = true;
  keeper.keep(other);
  await keeper.flush();
  expect(keeper.newer.size).toBe(0);
});

test('a deleted conversation does not come back with the end of its last answer', async () => {
  vi.useFakeTimers();
  const save = vi.fn(idle.save);
  const keeper = new LibraryKeeper({ ...idle, save });
  const { conversation } = asking('gone');
  keeper.forget(conversation.id);
  keeper.keep(conversation);
  await vi.advanceTimersByTimeAsync(1000);
  expect(save).not.toHaveBeenCalled();
  keeper.remember(conversation.id);
  keeper.keep(conversation);
  await vi.advanceTimersByTimeAsync(1000);
  expect(save).toHaveBeenCalledOnce();
});

test('an undone deletion has the text that came after it, under its title', () => {
  const keeper = new LibraryKeeper(idle);
  const { conversation, turn } = asking('1');
  const removed = { ...conversation, title: 'Mine' };
  const late = {
    ...conversation,
    turns: [{ ...turn, answer: 'Answer to 1, with its end.' }],
    updatedAt: conversation.updatedAt + 1,
  };
  keeper.forget(removed.id);
  keeper.keep(late);
  expect(keeper.newer.size).toBe(0);
  expect(keeper.recall(removed)).toEqual({ ...late, title: 'Mine' });
  expect(keeper.recall(removed)).toBe(removed);
  keeper.keep(late);
  expect(keeper.newer.size).toBe(1);
});
