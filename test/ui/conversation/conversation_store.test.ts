// The store of conversations: several tabs that write to one table, broken indexes, and pages that close in between.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Summary } from '../../../src/ui/conversation/conversation_index';
import { ConversationStore } from '../../../src/ui/conversation/conversation_store';
import {
  type Conversation,
  newConversation,
  removeTurn,
  titleOf,
} from '../../../src/ui/conversation/conversation_tree';
import { type KeyValueTable, memoryTable } from '../../../src/ui/conversation/key_value_table';
import { asking } from './asking';

let table: KeyValueTable;

beforeEach(() => {
  table = memoryTable();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The store of another tab, over the same table. */
const openStore = (over = table) => new ConversationStore(over, null);

const titles = async (store: ConversationStore) => (await store.list()).map(({ title }) => title);
const questions = (conversation: Conversation | null) => conversation?.turns.map(({ question }) => question);

test('saved conversations are listed, newest first, and load unchanged', async () => {
  const store = openStore();
  const old = { ...asking('first').conversation, updatedAt: 1000 };
  const fresh = { ...asking('second').conversation, updatedAt: 2000 };
  await store.save({ ...old, createdAt: 0 });
  await store.save({ ...fresh, createdAt: 0 });
  expect(await openStore().list()).toEqual([
    { id: fresh.id, title: 'second', updatedAt: 2000, turns: 1 },
    { id: old.id, title: 'first', updatedAt: 1000, turns: 1 },
  ]);
  expect(await openStore().load(old.id)).toEqual({ ...old, createdAt: 0 });
});

test('an empty conversation is not stored', async () => {
  const store = openStore();
  await store.save(newConversation());
  expect(await store.list()).toEqual([]);
});

test('two tabs that go on with one conversation lose nothing', async () => {
  const [one, two] = [openStore(), openStore()];
  const { conversation } = asking('start');
  await one.save(conversation);
  two.adopt((await two.load(conversation.id))!);
  const inOne = asking('from one', conversation).conversation;
  const inTwo = asking('from two', conversation).conversation;
  await Promise.all([one.save(inOne), two.save(inTwo)]);
  await one.save(asking('one again', inOne).conversation);
  expect(questions(await openStore().load(conversation.id))!.sort()).toEqual([
    'from one',
    'from two',
    'one again',
    'start',
  ]);
});

test('a replaced turn does not come back, but stays where another tab continued from it', async () => {
  const store = openStore();
  const { conversation, turn } = asking('fails');
  await store.save(conversation);
  const replaced = asking('works', removeTurn(conversation, turn)).conversation;
  await store.save(replaced);
  expect(questions(await store.load(conversation.id))).toEqual(['works']);

  const other = asking('goes on', conversation).conversation;
  await openStore().save(other);
  await store.save(replaced);
  expect(questions(await store.load(conversation.id))!.sort()).toEqual(['fails', 'goes on', 'works']);
});

test('exporting or listing a turn of another tab does not mark it as removed', async () => {
  const [mine, theirs] = [openStore(), openStore()];
  const { conversation } = asking('start');
  await mine.save(conversation);
  await theirs.save(asking('theirs', conversation).conversation);
  await mine.load(conversation.id);
  await mine.list();
  await mine.save(asking('mine', conversation).conversation);
  expect(questions(await mine.load(conversation.id))!.sort()).toEqual(['mine', 'start', 'theirs']);
});

test('a new title survives a save of a copy with the old one', async () => {
  const store = openStore();
  const { conversation } = asking('Why?');
  await store.save(conversation);
  await store.rename(conversation.id, '  Sky  ');
  await store.save(asking('And then?', conversation).conversation);
  expect(await titles(store)).toEqual(['Sky']);
  await store.rename(conversation.id, '');
  expect(await titles(store)).toEqual(['Why?']);
});

test('a removed conversation can be restored', async () => {
  const store = openStore();
  const { conversation } = asking('keep me');
  await store.save(conversation);
  await store.rename(conversation.id, 'Mine');
  const removed = await store.remove(conversation.id);
  expect(await store.list()).toEqual([]);
  expect(await table.keys()).toEqual(['index']);
  await store.add(removed!);
  expect(titleOf((await store.load(conversation.id))!)).toBe('Mine');
  expect(await titles(store)).toEqual(['Mine']);
});

for (const [name, broken] of [
  ['missing', undefined],
  ['no list', { length: 3 }],
  ['of strange entries', [{ id: 7 }, null]],
  ['behind', []],
  ['ahead', [{ id: 'ffffffffffffffffffffffffffffffff', title: 'Gone', updatedAt: 1, turns: 1 } satisfies Summary]],
] as const) {
  test(`an index that is ${name} heals`, async () => {
    const { conversation } = asking('still here');
    await openStore().save(conversation);
    await table.update('index', () => broken);
    expect(await titles(openStore())).toEqual(['still here']);
    const healed = (await table.get('index')) as Summary[];
    expect(healed.map(({ id }) => id)).toEqual([conversation.id]);
  });
}

test('the list does not read the texts', async () => {
  const { conversation } = asking('long');
  await openStore().save(conversation);
  const get = vi.spyOn(table, 'get');
  await openStore().list();
  expect(get.mock.calls).toEqual([['index']]);
});

test('a stored value that is no conversation is left out, and a valid one replaces it', async () => {
  const { conversation } = asking('sound');
  await table.update(`conversation/${conversation.id}`, () => ({ turns: 'none' }));
  const store = openStore();
  expect(await store.list()).toEqual([]);
  expect(await store.load(conversation.id)).toBeNull();
  await store.save(conversation);
  expect(await titles(store)).toEqual(['sound']);
});

test('a merge that would make a circle of turns is refused, and the stored copy stays', async () => {
  const store = openStore();
  const first = asking('first');
  const { conversation, turn } = asking('second', first.conversation);
  await store.save(conversation);
  const [a, b] = conversation.turns;
  const hostile = {
    ...conversation,
    updatedAt: Date.now() + 1,
    turns: [
      { ...turn, parent: null },
      { ...a!, parent: b!.id },
    ],
  };
  const said = vi.fn();
  store.onError = said;
  expect(await store.add(hostile)).toBe(false);
  expect(said.mock.calls[0][0]).toMatch(
    /^This conversation can no longer be kept here\. .*does not come before it\. Start /,
  );
  expect(await store.load(conversation.id)).toEqual(conversation);
});

test('the next listing merges copies that a closing page wrote', async () => {
  const { conversation } = asking('start');
  const store = openStore();
  await store.save(conversation);
  store.saveLate(asking('in haste', conversation).conversation);
  const next = openStore();
  await next.list();
  expect(questions(await next.load(conversation.id))).toEqual(['start', 'in haste']);
  expect((await table.keys()).sort()).toEqual([`conversation/${conversation.id}`, 'index']);
});

test('where storage is refused, conversations stay in memory, and `isKept` is false', async () => {
  const refused: KeyValueTable = { ...table, keys: () => Promise.reject(new DOMException('No', 'SecurityError')) };
  const store = openStore(refused);
  const { conversation } = asking('for now');
  await store.save(conversation);
  expect(await titles(store)).toEqual(['for now']);
  expect(store.isKept).toBe(false);
  expect(await table.keys()).toEqual([]);
  const kept = openStore();
  await kept.list();
  expect(kept.isKept).toBe(true);
});

test('an import of 3,000 conversations takes a few steps of storage and keeps each', async () => {
  const all = Array.from({ length: 3000 }, (_, i) => asking(`question ${i}`).conversation);
  const calls = { get: 0, update: 0, updateMany: 0, putNow: 0, delete: 0, keys: 0 };
  const counted = Object.fromEntries(
    Object.entries(table).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        calls[name as keyof typeof calls] += 1;
        return (call as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  ) as unknown as KeyValueTable;
  const store = openStore(counted);
  const heard = vi.fn();
  store.onChange(heard);
  const steps: number[] = [];
  expect(await store.addAll(all, (done) => steps.push(done))).toBe(3000);
  expect(calls).toEqual({ get: 0, update: 1, updateMany: 30, putNow: 0, delete: 0, keys: 1 });
  expect(steps).toEqual(Array.from({ length: 30 }, (_, i) => 100 * i));
  expect(heard).toHaveBeenCalledOnce();
  expect(await store.list()).toHaveLength(3000);
  expect(questions(await openStore().load(all[2999].id))).toEqual(['question 2999']);
});

test('an import leaves out what cannot be merged, reports once, and loses only the step that storage refuses', async () => {
  const store = openStore();
  const said = vi.fn();
  store.onError = said;
  const first = asking('first');
  const { conversation, turn } = asking('second', first.conversation);
  await store.save(conversation);
  const [a, b] = conversation.turns;
  const turns = [
    { ...turn, parent: null },
    { ...a!, parent: b!.id },
  ];
  const circle = { ...conversation, updatedAt: Date.now() + 1, turns };
  expect(await store.addAll([circle, asking('sound').conversation])).toBe(1);
  expect(await store.load(conversation.id)).toEqual(conversation);
  expect(said).toHaveBeenCalledOnce();

  let step = 0;
  const updateMany: KeyValueTable['updateMany'] = (keys, change) =>
    ++step === 2 ? Promise.reject(new Error('no')) : table.updateMany(keys, change);
  const shaky = openStore({ ...table, updateMany });
  const many = Array.from({ length: 250 }, (_, i) => asking(`${i}`).conversation);
  expect(await shaky.addAll(many)).toBe(150);
  expect(await shaky.list()).toHaveLength(152);
});

test('a full disk is reported with a next step', async () => {
  const full: KeyValueTable = { ...table, update: () => Promise.reject(new DOMException('', 'QuotaExceededError')) };
  const store = openStore(full);
  const said = vi.fn();
  store.onError = said;
  expect(await store.save(asking('too much').conversation)).toBe(false);
  expect(said).toHaveBeenCalledExactlyOnceWith(
    'The browser has no room left for conversations. Export some and delete them here; the newest text is kept while the page is open.',
  );
});

test('a conversation beyond the limits is reported, not lost silently', async () => {
  const store = openStore();
  const said = vi.fn();
  store.onError = said;
  const { conversation, turn } = asking('long');
  turn.answer = 'x'.repeat(10_000_001);
  expect(await store.save(conversation)).toBe(false);
  expect(said.mock.calls[0][0]).toMatch(
    /^This conversation can no longer be kept here\. Turn 1: its answer has 10000001 letters/,
  );
});

test('other tabs are notified of changes', async () => {
  const [near, far] = [new BroadcastChannel('test'), new BroadcastChannel('test')];
  const [here, there] = [new ConversationStore(table, near), new ConversationStore(table, far)];
  const heard = new Promise<void>((resolve) => there.onChange(resolve));
  await here.save(asking('news').conversation);
  await heard;
  here.close();
  there.close();
});

test('a conversation stored under another id is ignored', async () => {
  const { conversation } = asking('elsewhere');
  await table.update(`conversation/${newConversation().id}`, () => conversation);
  expect(await titles(openStore())).toEqual([]);
});

test('a title given by another tab during the repair of the index stays', async () => {
  const [known, missing] = [asking('known').conversation, asking('missing').conversation];
  await openStore().save(known);
  await table.update(`conversation/${missing.id}`, () => missing);
  const get = async (key: string) => {
    if (key.endsWith(missing.id)) await openStore().rename(known.id, 'renamed');
    return table.get(key);
  };
  await openStore({ ...table, get }).list();
  expect((await titles(openStore())).sort()).toEqual(['missing', 'renamed']);
});

test('a failed removal leaves the conversation in place', async () => {
  const { conversation } = asking('still here');
  const store = openStore({ ...table, delete: () => Promise.reject(new Error('no')) });
  const heard: string[] = [];
  store.onError = (sentence) => heard.push(sentence);
  await store.save(conversation);
  expect(await store.remove(conversation.id)).toBeNull();
  expect(heard).toHaveLength(1);
  expect(await titles(store)).toEqual(['still here']);
});
