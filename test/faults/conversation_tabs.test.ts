// Two tabs over one storage in random interleavings: texts, titles, system messages and deletions of both are merged.

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { ConversationStore } from '../../src/ui/conversation/conversation_store';
import { type Conversation, newConversation } from '../../src/ui/conversation/conversation_tree';
import { Disk, openPage } from './disk';

/** One step of a tab, and the milliseconds until the next step. */
const STEP = fc.record({
  tab: fc.constantFrom(0, 1),
  what: fc.constantFrom('ask', 'ask', 'edit', 'stop', 'system', 'flip', 'rename', 'reopen', 'list', 'close'),
  pick: fc.nat(1_000),
  ms: fc.constantFrom(0, 3, 20, 90, 170, 500),
});

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

/** Runs the steps in two tabs with one conversation. Returns what the tabs have shown and set. */
async function interleave(disk: Disk, steps: readonly Step[]) {
  const tabs = [openPage(disk, [], 5), openPage(disk, [], 5)];
  tabs[0].session.ask('start');
  const { id } = tabs[0].session.conversation;
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([tabs[1].open(id), vi.advanceTimersByTimeAsync(100)]);
  const texts = new Map<string, string>();
  let title = '';
  let system = '';
  let systemAt = -1_000;
  const note = () => {
    for (const { session } of tabs) {
      for (const { id: turn, answer } of session.conversation.turns) {
        if (answer.length > (texts.get(turn) ?? '').length) texts.set(turn, answer);
      }
    }
  };
  for (const [i, { tab, what, pick, ms }] of steps.entries()) {
    const { session, store, keeper } = tabs[tab];
    const step = session.steps[pick % Math.max(1, session.steps.length)];
    if (what === 'ask') session.ask(`Q${i}`);
    else if (what === 'edit' && step) session.askInstead(step.turn, `Q${i}`);
    else if (what === 'stop') session.stop();
    else if (what === 'flip' && step) session.showVersion(step, 'question', pick % 2 ? 1 : -1);
    else if (what === 'list') void store.list();
    else if (what === 'rename') {
      title = `T${i}`;
      void store.rename(id, title);
    } else if (what === 'system') {
      await vi.advanceTimersByTimeAsync(Math.max(0, systemAt + 1_000 - performance.now())); // set one after another
      system = `S${i}`;
      session.setSystem(system);
      systemAt = performance.now();
    } else if (what === 'reopen') {
      session.open(newConversation());
      await Promise.all([keeper.flush(), vi.advanceTimersByTimeAsync(100)]);
      await Promise.all([tabs[tab].open(id), vi.advanceTimersByTimeAsync(100)]);
    } else if (what === 'close') {
      session.leave();
      session.keep();
      note();
      keeper.flushNow();
      tabs[tab].end();
      await vi.advanceTimersByTimeAsync(50);
      tabs[tab] = openPage(disk, [], 5);
      await Promise.all([tabs[tab].store.list(), vi.advanceTimersByTimeAsync(100)]);
      await Promise.all([tabs[tab].open(id), vi.advanceTimersByTimeAsync(100)]);
    }
    await vi.advanceTimersByTimeAsync(ms);
    note();
  }
  await vi.advanceTimersByTimeAsync(5_000);
  note();
  return { id, texts, title, system };
}

async function stored(disk: Disk, id: string): Promise<Conversation> {
  const store = new ConversationStore(disk.table(), null);
  const found = store.list().then(() => store.load(id));
  await vi.advanceTimersByTimeAsync(500);
  return (await found)!;
}

test('no text, question, title or system message of two tabs is lost, in any interleaving', async () => {
  vi.useFakeTimers();
  const steps = fc.array(STEP, { minLength: 4, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const disk = new Disk();
      const { id, texts, title, system } = await interleave(disk, list);
      const conversation = await stored(disk, id);
      const answers = new Map(conversation.turns.map((turn) => [turn.id, turn.answer]));
      for (const [turn, text] of texts) expect(answers.get(turn)).toBe(text);
      expect(conversation.title).toBe(title);
      expect(conversation.system).toBe(system);
      const questions = conversation.turns.map(({ question }) => question);
      expect(new Set(questions).size).toBe(questions.length);
      vi.clearAllTimers();
    }),
    { numRuns: Number(process.env.VIVACE_RUNS ?? 60), seed: 17 },
  );
  vi.useRealTimers();
});
