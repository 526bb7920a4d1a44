// Conversations on a disk that stops at any operation, or is full, throws, refuses or hangs for a while: what was shown
// is there at the next opening.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConversationStore } from '../../src/ui/conversation/conversation_store';
import type { Conversation } from '../../src/ui/conversation/conversation_tree';
import { asking } from '../ui/conversation/asking';
import { Disk, type Fault, openPage, type Shown } from './disk';

/** What a reader may lose of an answer, in milliseconds. */
const LOST_MS = 250;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const run = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Runs `work` against the fake clock. */
async function timed<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  for (let i = 0; i < 10_000 && !isDone; i++) await run(10);
  return done;
}

/** Two pages that ask, stop, edit, rename, delete, restore and import. Ends early when the disk stops. */
async function session(disk: Disk) {
  const shown: Shown[] = [];
  const removed = new Set<string>();
  const [one, two] = [openPage(disk, shown), openPage(disk, shown)];
  const main = one.session.conversation.id;
  let other = '';
  const imported = ['I', 'J'].map((question) => asking(question).conversation);
  const steps: [ms: number, step: () => unknown][] = [
    [450, () => one.session.ask('A')],
    [200, () => one.session.ask('B')],
    [120, () => one.session.stop()],
    [450, () => one.session.askInstead(one.session.path[1], 'C')],
    [100, () => one.store.rename(main, 'Named')],
    [30, () => two.store.list().then(() => two.open(main))],
    [200, () => two.session.ask('D')],
    [400, () => one.session.askInstead(one.session.path[1], 'E')],
    [
      220,
      () => {
        one.session.open({ ...asking('F').conversation, turns: [] });
        other = one.session.conversation.id;
        one.session.ask('F');
      },
    ],
    [
      100,
      () => {
        removed.add(other);
        return one.delete(other);
      },
    ],
    [100, () => two.store.addAll(imported)],
    [300, () => two.session.ask('G')],
  ];
  for (const [ms, step] of steps) {
    if (disk.isStopped) break;
    void step();
    for (let at = 0; at < ms && !disk.isStopped; at += 10) await run(10);
  }
  return { shown, removed, main, imported, at: performance.now(), one, two };
}

/** What the next page finds, and that its repair is final. */
async function reopened(disk: Disk): Promise<Conversation[]> {
  const before = disk.stopsAt;
  disk.stopsAt = Number.POSITIVE_INFINITY;
  Object.assign(disk, { tail: Promise.resolve() });
  const store = new ConversationStore(disk.table(), null);
  const list = await timed(store.list());
  const found = await timed(Promise.all(list.map(({ id }) => store.load(id))));
  expect(disk.keys.filter((key) => key.startsWith('late/'))).toEqual([]);
  for (const [i, conversation] of found.entries()) {
    expect(conversation).not.toBeNull();
    expect(list[i]).toMatchObject({ id: conversation!.id, turns: conversation!.turns.length });
  }
  expect(disk.keys.filter((key) => key.startsWith('conversation/'))).toHaveLength(list.length);
  expect(await timed(new ConversationStore(disk.table(), null).list())).toEqual(list);
  disk.stopsAt = before;
  return found as Conversation[];
}

/** Expects each text that was shown long enough before `at`, and each question once. */
function expectShown(found: readonly Conversation[], { shown, removed, at }: Awaited<ReturnType<typeof session>>) {
  const turns = found.flatMap((conversation) => conversation.turns);
  const questions = turns.map(({ question }) => question);
  expect(new Set(questions).size).toBe(questions.length);
  const old = shown.filter((seen) => seen.at <= at - LOST_MS && !removed.has(seen.conversation));
  for (const seen of old) {
    const turn = turns.find(({ id }) => id === seen.turn);
    expect(turn?.question, `the turn ${seen.question} at ${at}`).toBe(seen.question);
    expect(turn!.answer.startsWith(seen.answer), `${turn!.answer} after ${seen.answer} at ${at}`).toBe(true);
  }
  const longest = new Map<string, string>();
  for (const { turn, answer } of shown) longest.set(turn, answer);
  for (const { id, answer } of turns) if (longest.has(id)) expect(longest.get(id)!.startsWith(answer)).toBe(true);
}

test('a disk that stops at any operation has what was shown 250 ms before, each turn once', async () => {
  const whole = new Disk();
  const undisturbed = await session(whole);
  await run(1_000);
  const found = await reopened(whole);
  expectShown(found, { ...undisturbed, at: Number.POSITIVE_INFINITY });
  expect(found.flatMap(({ turns }) => turns.map(({ question }) => question)).sort()).toEqual([...'ABCDEGIJ']);
  expect(found.find(({ id }) => id === undisturbed.main)?.title).toBe('Named');
  expect(whole.operations).toBeGreaterThan(50);
  for (let k = 1; k <= whole.operations; k++) {
    const disk = Object.assign(new Disk(), { stopsAt: k, isLastDone: k % 2 === 0 });
    const crashed = await session(disk);
    vi.clearAllTimers();
    expectShown(await reopened(disk), crashed);
  }
});

const REMEDIES: Record<Fault, RegExp> = {
  full: /no room left for conversations\. Export some and delete them here/,
  throws: /does not keep the newest text\. .* export the conversation/,
  refuses: /does not keep the newest text\. .* export the conversation/,
  hangs: /does not keep the newest text\. .* export the conversation/,
};

describe('the chat goes on, one notice names a remedy, and everything is stored later, with a disk that', () => {
  for (const fault of Object.keys(REMEDIES) as Fault[]) {
    test(fault, async () => {
      for (let k = 3; k <= 40; k += 3) {
        const disk = new Disk();
        const page = openPage(disk);
        page.session.ask('A');
        const { id } = page.session.conversation;
        for (let at = 0; at < 3_000 && disk.operations < k; at += 5) {
          if (!page.session.isAnswering) page.session.ask(String(at));
          await run(5);
        }
        disk.fault = fault;
        await run(1_500);
        page.session.stop();
        await run(1_500);
        page.session.ask('Still there?');
        await run(4_000);
        expect(page.session.path.at(-1)).toMatchObject({
          question: 'Still there?',
          state: 'done',
          finishReason: 'eos',
        });
        await run(60_000);
        expect(page.heard).toHaveLength(1);
        expect(page.heard[0]).toMatch(REMEDIES[fault]);
        expect(page.keeper.newer.has(id)).toBe(true);
        disk.mend();
        await run(60_000);
        expect(page.heard.slice(1)).toEqual(['recovered']);
        expect(page.keeper.newer.size).toBe(0);
        vi.clearAllTimers();
        const [found] = await reopened(disk);
        expect(found.turns).toEqual(page.session.conversation.turns.map((turn) => ({ ...turn, prefill: null })));
      }
    });
  }
});

test('storage that is refused at first takes the conversations of the page when it works', async () => {
  for (const fault of ['throws', 'refuses', 'hangs'] as const) {
    const disk = Object.assign(new Disk(), { fault });
    const page = openPage(disk);
    await timed(page.store.list());
    expect(page.store.isKept).toBe(false);
    page.session.ask('A');
    await run(1_000);
    const id = page.session.conversation.id;
    await timed(page.store.rename(id, 'Named'));
    disk.mend();
    await run(20_000);
    expect(page.store.isKept).toBe(true);
    page.session.ask('B');
    await run(1_000);
    const [found] = await reopened(disk);
    expect([found.title, ...found.turns.map(({ answer }) => answer)]).toEqual([
      'Named',
      ...page.session.path.map(({ answer }) => answer),
    ]);
  }
});
