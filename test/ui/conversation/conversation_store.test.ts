// The store of conversations: several tabs that write to one table, broken indexes, and pages that close in between.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type KeyValueTable, memoryTable, openTable } from '../../../src/shared/key_value_table';
import type { Summary } from '../../../src/ui/conversation/conversation_index';
import { ConversationStore } from '../../../src/ui/conversation/conversation_store';
import {
  type Conversation,
  newConversation,
  removeTurn,
  shownSteps,
  titleOf,
} from '../../../src/ui/conversation/conversation_tree';
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
  expect(await table.keys('')).toEqual(['index']);
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
    await table.update(['index'], () => broken);
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
  await table.update([`conversation/${conversation.id}`], () => ({ turns: 'none' }));
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
  expect((await table.keys('')).sort()).toEqual([`conversation/${conversation.id}`, 'index']);
});

test('where storage is refused, conversations stay in memory, and `isKept` is false', async () => {
  const refused: KeyValueTable = { ...table, keys: () => Promise.reject(new DOMException('No', 'SecurityError')) };
  const store = openStore(refused);
  const { conversation } = asking('for now');
  await store.save(conversation);
  expect(await titles(store)).toEqual(['for now']);
  expect(store.isKept).toBe(false);
  expect(await table.keys('')).toEqual([]);
  const kept = openStore();
  await kept.list();
  expect(kept.isKept).toBe(true);
});

test('an import of 3,000 conversations takes a few steps of storage and keeps each', async () => {
  const all = Array.from({ length: 3000 }, (_, i) => asking(`question ${i}`).conversation);
  const calls = { get: 0, update: 0, putNow: 0, keys: 0 };
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
  expect(await store.addAll(all, (done) => steps.push(done))).toEqual({ added: 3000, known: 0 });
  expect(calls).toEqual({ get: 0, update: 30, putNow: 0, keys: 1 });
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
  expect(await store.addAll([circle, asking('sound').conversation])).toEqual({ added: 1, known: 0 });
  expect(await store.load(conversation.id)).toEqual(conversation);
  expect(said).toHaveBeenCalledOnce();

  let step = 0;
  const update: KeyValueTable['update'] = (keys, change) =>
    ++step === 2 ? Promise.reject(new Error('no')) : table.update(keys, change);
  const shaky = openStore({ ...table, update });
  const many = Array.from({ length: 250 }, (_, i) => asking(`${i}`).conversation);
  expect(await shaky.addAll(many)).toEqual({ added: 150, known: 0 });
  expect(await shaky.list()).toHaveLength(152);
});

test('a full disk is reported with a next step', async () => {
  const full: KeyValueTable = { ...table, update: () => Promise.reject(new DOMException('', 'QuotaExceededError')) };
  const store = openStore(full);
  const said = vi.fn();
  store.onError = said;
  expect(await store.save(asking('too much').conversation)).toBe('refused');
  expect(said).toHaveBeenCalledExactlyOnceWith(
    'The browser has no room left for conversations. Export some and delete them here; the newest text is kept while the page is open.',
    'conversations-full',
  );
});

test('a conversation beyond the limits is reported, not lost silently', async () => {
  const store = openStore();
  const said = vi.fn();
  store.onError = said;
  const { conversation, turn } = asking('long');
  turn.answer = 'x'.repeat(10_000_001);
  expect(await store.save(conversation)).toBe('refused');
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
  await table.update([`conversation/${newConversation().id}`], () => conversation);
  expect(await titles(openStore())).toEqual([]);
});

test('a title given by another tab during the repair of the index stays', async () => {
  const [known, missing] = [asking('known').conversation, asking('missing').conversation];
  await openStore().save(known);
  await table.update([`conversation/${missing.id}`], () => missing);
  const get = async (key: string) => {
    if (key.endsWith(missing.id)) await openStore().rename(known.id, 'renamed');
    return table.get(key);
  };
  await openStore({ ...table, get }).list();
  expect((await titles(openStore())).sort()).toEqual(['missing', 'renamed']);
});

test('a failed removal leaves the conversation in place', async () => {
  const { conversation } = asking('still here');
  let isBroken = false;
  const update: KeyValueTable['update'] = (keys, change) =>
    isBroken ? Promise.reject(new Error('no')) : table.update(keys, change);
  const store = openStore({ ...table, update });
  const heard: string[] = [];
  store.onError = (sentence) => heard.push(sentence);
  await store.save(conversation);
  isBroken = true;
  expect(await store.remove(conversation.id)).toBeNull();
  expect(heard).toHaveLength(1);
  isBroken = false;
  expect(await titles(store)).toEqual(['still here']);
});

describe('a conversation that another tab deletes', () => {
  /** Two tabs that know the conversation, and the turn that the second one answers. */
  async function shared() {
    const [one, two] = [openStore(), openStore()];
    const { conversation, turn } = asking('start');
    Object.assign(turn, { state: 'streaming', answer: '' });
    await two.save(conversation);
    one.adopt((await one.load(conversation.id))!);
    const heard: string[] = [];
    two.onError = (sentence) => heard.push(sentence);
    return { one, two, conversation, turn, heard };
  }

  test('stays deleted at the end of an answer, and the tab is told once', async () => {
    const { one, two, conversation, turn, heard } = await shared();
    await one.remove(conversation.id);
    turn.answer = 'more';
    two.keepGrown(conversation.id, turn);
    expect(await two.save(conversation)).toBe('deleted');
    expect(await two.save(conversation)).toBe('deleted');
    expect(heard).toEqual([
      'Another tab deleted this conversation. It stays deleted, unless you undo that there or ask a new question here.',
    ]);
    expect(await table.keys('')).toEqual(['index']);
    expect(await openStore().list()).toEqual([]);
  });

  test('stays deleted where the page crashes or closes', async () => {
    const { one, two, conversation, turn } = await shared();
    await one.remove(conversation.id);
    turn.answer = 'more';
    two.keepGrown(conversation.id, turn);
    two.saveLate(conversation);
    await openStore().list();
    expect(await openStore().list()).toEqual([]);
    expect(await table.keys('')).toEqual(['index']);
  });

  test('comes back whole with a new question, and with an undo', async () => {
    const { one, two, conversation, turn } = await shared();
    const removed = await one.remove(conversation.id);
    Object.assign(turn, { state: 'done', answer: 'more' });
    expect(await two.save(conversation)).toBe('deleted');
    await one.add(removed!);
    expect(await two.save(conversation)).toBe('stored');
    expect((await openStore().load(conversation.id))?.turns[0].answer).toBe('more');
    await one.remove(conversation.id);
    expect(await two.save(asking('go on', conversation).conversation)).toBe('stored');
    expect(questions(await openStore().load(conversation.id))).toEqual(['start', 'go on']);
  });
});

/** A write that never ends. */
function hang(written: string[], { answer }: { answer: string }): Promise<void> {
  written.push(answer);
  return new Promise(() => {});
}

describe('the text of a streaming turn', () => {
  async function streaming() {
    const store = openStore();
    const { conversation, turn } = asking('start');
    Object.assign(turn, { state: 'streaming', answer: '', finishReason: null });
    await store.save(conversation);
    return { store, conversation, turn };
  }

  test('is there at the next opening, without a save, and ends as unfinished', async () => {
    const { store, conversation, turn } = await streaming();
    turn.answer = 'Once upon';
    store.keepGrown(conversation.id, turn);
    await store.list(); // no list of an open page takes it away
    const found = await openStore().load(conversation.id);
    expect(found?.turns[0]).toMatchObject({ question: 'start', answer: 'Once upon', finishReason: 'closed' });
    const next = openStore();
    await next.list();
    expect((await table.keys('')).sort()).toEqual([`conversation/${conversation.id}`, 'index']);
    expect(await next.load(conversation.id)).toEqual(found);
  });

  test('is written whole when the page closes while a slow disk has eight writes to do', async () => {
    const { conversation, turn } = asking('start');
    const written: string[] = [];
    const write = (_key: string, value: unknown) => hang(written, value as { answer: string });
    const slow: KeyValueTable = { ...table, putNow: write, putLast: (key, value) => void write(key, value) };
    const store = new ConversationStore(slow, null);
    Object.assign(turn, { state: 'streaming', answer: '', finishReason: null });
    await store.save(conversation);
    for (let letters = 1; letters <= 12; letters++) {
      turn.answer = 'x'.repeat(letters);
      store.keepGrown(conversation.id, turn);
    }
    await expect.poll(() => written.length).toBe(8);
    store.flushGrown();
    await expect.poll(() => written.at(-1)?.length).toBe(12);
    store.flushGrown(); // nothing waits any more
    expect(written).toHaveLength(9);
  });

  test('is a write that holds neither question nor conversation, and the save that has it deletes it', async () => {
    const { store, conversation, turn } = await streaming();
    turn.answer = 'Once upon a time';
    store.keepGrown(conversation.id, turn);
    await store.load(conversation.id); // by then the write is done
    const [key] = await table.keys('late/');
    expect(await table.get(key)).toMatchObject({ id: turn.id, question: '', answer: 'Once upon a time' });
    Object.assign(turn, { state: 'done', finishReason: 'eos' });
    await store.save(conversation);
    expect(await table.keys('late/')).toEqual([]);
    expect(await openStore().load(conversation.id)).toEqual(conversation);
  });

  test('that is shorter than the stored text, damaged or of no conversation changes nothing', async () => {
    const { store, conversation, turn } = await streaming();
    Object.assign(turn, { state: 'done', finishReason: 'eos', answer: 'the whole answer' });
    await store.save(conversation);
    const other = newConversation().id;
    await table.putNow(`late/${conversation.id}/turn/${turn.id}`, { ...turn, answer: 'the', question: '' });
    await table.putNow(`late/${conversation.id}/turn/x`, { id: 7, answer: 'x'.repeat(100) });
    await table.putNow(`late/${other}/turn/${turn.id}`, { ...turn, question: '' });
    await table.putNow('late/', null);
    const next = openStore();
    expect((await next.list()).map(({ id }) => id)).toEqual([conversation.id]);
    expect(await next.load(conversation.id)).toEqual(conversation);
    expect((await table.keys('')).sort()).toEqual([`conversation/${conversation.id}`, 'index']);
  });
});

test('a system message, a branch and the memory of another tab survive a save that has not changed them', async () => {
  const [one, two] = [openStore(), openStore()];
  const first = asking('a');
  const { conversation, turn } = asking('b', first.conversation);
  await one.save(conversation);
  two.adopt((await two.load(conversation.id))!);
  const memory = { after: first.turn.id, since: turn.id };
  await one.save({ ...conversation, system: 'Be short.', shown: { '': first.turn.id }, memory });
  await two.save({ ...asking('c', conversation).conversation, updatedAt: Date.now() + 1000 });
  const found = (await openStore().load(conversation.id))!;
  expect(found).toMatchObject({ system: 'Be short.', memory });
  expect(found.shown['']).toBe(first.turn.id);
  expect(questions(found)).toEqual(['a', 'b', 'c']);
});

test('the branch of the tab that has asked last is shown at the next opening', async () => {
  const [one, two] = [openStore(), openStore()];
  const { conversation } = asking('start');
  await one.save(conversation);
  two.adopt((await two.load(conversation.id))!);
  const inOne = asking('from one', conversation).conversation;
  await one.save(inOne);
  await two.save(asking('from two', conversation).conversation);
  const shownQuestions = async () =>
    shownSteps((await openStore().load(conversation.id))!).map(({ turn }) => turn.question);
  expect(await shownQuestions()).toEqual(['start', 'from two']);
  await one.save({ ...inOne, title: 'Read on' }); // nothing asked, and nothing chosen
  expect(await shownQuestions()).toEqual(['start', 'from two']);
  await one.save(asking('one again', inOne).conversation);
  expect(await shownQuestions()).toEqual(['start', 'from one', 'one again']);
});

test('a turn that a refused save has replaced does not come back', async () => {
  let isFull = false;
  const update: KeyValueTable['update'] = (keys, change) =>
    isFull ? Promise.reject(new DOMException('', 'QuotaExceededError')) : table.update(keys, change);
  const store = openStore({ ...table, update });
  const { conversation, turn } = asking('fails');
  turn.answer = '';
  await store.save(conversation);
  const replaced = asking('works', removeTurn(conversation, turn)).conversation;
  isFull = true;
  await store.save(replaced);
  isFull = false;
  await store.save(replaced);
  expect(questions(await store.load(conversation.id))).toEqual(['works']);
});

test('a list is complete where the browser has no channel between tabs, or a channel that throws', async () => {
  const { BroadcastChannel: real } = globalThis;
  class Throws {
    constructor() {
      throw new DOMException('No', 'SecurityError');
    }
  }
  const mute = { postMessage: () => new Throws(), close() {} } as unknown as BroadcastChannel;
  try {
    for (const channel of [undefined, Throws]) {
      Object.assign(globalThis, { BroadcastChannel: channel });
      const store = new ConversationStore(memoryTable());
      await store.save(asking('alone').conversation);
      expect(await titles(store)).toEqual(['alone']);
    }
  } finally {
    Object.assign(globalThis, { BroadcastChannel: real });
  }
  const store = new ConversationStore(memoryTable(), mute);
  expect(await store.save(asking('alone').conversation)).toBe('stored');
});

test('storage that is absent or throws at any call is refused, not an error of the page', async () => {
  const throws = () => {
    throw new DOMException('No', 'SecurityError');
  };
  const opens = (database: object) => ({
    open() {
      const request = { result: database, onsuccess: () => {} };
      queueMicrotask(() => request.onsuccess());
      return request;
    },
  });
  const objects = { transaction: {}, get: throws, put: throws, getAllKeys: throws };
  const stores = [undefined, { open: throws }, opens({ transaction: throws })];
  stores.push(opens({ transaction: () => ({ objectStore: () => objects }) }));
  for (const indexedDB of stores) {
    vi.stubGlobal('indexedDB', indexedDB);
    const store = new ConversationStore(openTable('a', 'b'), null);
    expect(await store.save(asking('for now').conversation)).toBe('stored');
    expect(await titles(store)).toEqual(['for now']);
    expect(store.isKept).toBe(false);
    store.close();
  }
  vi.unstubAllGlobals();
});

test('an import tells what is new from what was here already', async () => {
  const store = openStore();
  const first = asking('first');
  const { conversation: longer } = asking('second', first.conversation);
  const other = asking('other').conversation;
  expect(await store.addAll([first.conversation, other])).toEqual({ added: 2, known: 0 });
  expect(await store.addAll([first.conversation, other])).toEqual({ added: 0, known: 2 });
  expect(await store.addAll([longer, other])).toEqual({ added: 1, known: 1 });
  expect(await store.addAll([first.conversation])).toEqual({ added: 0, known: 1 }); // an older export
  expect(await store.load(longer.id)).toEqual(longer);
});

test('all conversations are removed and can be added again', async () => {
  const store = openStore();
  const all = Array.from({ length: 130 }, (_, i) => asking(`talk ${i}`).conversation);
  await store.addAll(all);
  await store.keepGrown(all[0]!.id, all[0]!.turns[0]!);
  const removed = await store.removeAll();
  expect(removed.map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
  expect([await store.list(), await table.keys('conversation/'), await table.keys('late/')]).toEqual([[], [], []]);
  expect(await store.addAll(removed)).toEqual({ added: 130, known: 0 });
  expect(await openStore().list()).toHaveLength(130);
});

test('each deletion that fails is told, not the first alone', async () => {
  const store = openStore({ ...table, update: async () => Promise.reject(new Error('Refused.')) });
  const said: string[] = [];
  store.onError = (_, code) => said.push(code);
  for (let i = 0; i < 2; i++) expect(await store.remove('a')).toBeNull();
  expect(said).toEqual(['conversations-refused', 'conversations-refused']);
});
