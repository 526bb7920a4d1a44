// Conversations as trees: branches, siblings, merged copies, titles.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeConversations } from '../../../src/ui/conversation/conversation_merge';
import {
  addTurn,
  type Conversation,
  newConversation,
  removeTurn,
  replaceTurn,
  settled,
  shownSteps,
  showTurn,
  titleOf,
} from '../../../src/ui/conversation/conversation_tree';

const shownPath = (conversation: Conversation) => shownSteps(conversation).map(({ turn }) => turn);
const questions = (conversation: Conversation) => shownPath(conversation).map((turn) => turn.question);

/** Turn a, then b and its edited form c, each followed by another turn. */
function branched() {
  const a = addTurn(newConversation(), null, 'a');
  const b = addTurn(a.conversation, a.turn.id, 'b');
  const afterB = addTurn(b.conversation, b.turn.id, 'after b');
  const c = addTurn(afterB.conversation, a.turn.id, 'c');
  const afterC = addTurn(c.conversation, c.turn.id, 'after c');
  return { conversation: afterC.conversation, a: a.turn, b: b.turn, c: c.turn };
}

test('a new branch is shown, and the old one comes back whole', () => {
  const { conversation, b, c } = branched();
  expect(questions(conversation)).toEqual(['a', 'c', 'after c']);
  expect(shownSteps(conversation)[1].among.map((turn) => turn.question)).toEqual(['b', 'c']);
  expect(questions(showTurn(conversation, b))).toEqual(['a', 'b', 'after b']);
  expect(questions(showTurn(showTurn(conversation, b), c))).toEqual(['a', 'c', 'after c']);
});

test('the first question can be branched, too', () => {
  const { conversation } = branched();
  const again = addTurn(conversation, null, 'another a').conversation;
  expect(questions(again)).toEqual(['another a']);
  expect(questions(showTurn(again, again.turns[0]))).toEqual(['a', 'c', 'after c']);
});

test('a turn is removed with all that follows it, and its sibling becomes visible', () => {
  const { conversation, c, a } = branched();
  expect(questions(removeTurn(conversation, c))).toEqual(['a', 'b', 'after b']);
  expect(removeTurn(conversation, a).turns).toEqual([]);
});

test('each visible turn comes with its siblings', () => {
  const { conversation, b, c } = branched();
  expect(shownSteps(conversation).map(({ among }) => among.map(({ question }) => question))).toEqual([
    ['a'],
    ['b', 'c'],
    ['after c'],
  ]);
  expect(shownSteps(showTurn(conversation, b))[1]).toEqual({ turn: b, among: [b, c] });
});

test('a turn without an answer or a next turn is replaced, any other gets a sibling', () => {
  const failed = addTurn(newConversation(), null, 'a');
  const again = replaceTurn(failed.conversation, failed.turn, 'a, again').conversation;
  expect(again.turns.map((turn) => turn.question)).toEqual(['a, again']);
  const { conversation, b } = branched();
  expect(replaceTurn(conversation, b, 'd').conversation.turns).toHaveLength(6); // empty answer, but a turn follows
  const said = { ...conversation.turns.at(-1)!, answer: 'half' };
  const half = { ...conversation, turns: [...conversation.turns.slice(0, -1), said] };
  const branch = replaceTurn(half, said, 'after c').conversation;
  expect(shownSteps(branch).at(-1)?.among).toHaveLength(2);
  expect(shownPath(branch).at(-1)?.answer).toBe('');
});

test('an answer whose page closed while it streamed is unfinished', () => {
  const { conversation, turn } = addTurn(newConversation(), null, 'a');
  turn.answer = 'half';
  expect(settled(conversation).turns[0]).toMatchObject({ answer: 'half', state: 'done', finishReason: 'closed' });
  expect(turn.state).toBe('streaming');
  expect(settled(settled(conversation))).toEqual(settled(conversation));
});

test('the first question is the title until a person gives one', () => {
  const { conversation } = branched();
  expect(titleOf(newConversation())).toBe('New conversation');
  expect(titleOf(conversation)).toBe('a');
  expect(titleOf({ ...conversation, title: ' My cat ' })).toBe('My cat');
  const long = titleOf(addTurn(newConversation(), null, `🐱 ${'miau '.repeat(40)}`).conversation);
  expect([...long].length).toBeLessThanOrEqual(60);
  expect(long.endsWith('…')).toBe(true);
});

test('a title follows the first question as it is shown, unless a person has given one', () => {
  const { conversation, turn } = addTurn(newConversation(), null, 'A brave cat');
  const edited = addTurn(addTurn(conversation, turn.id, 'More').conversation, null, 'A dragon').conversation;
  expect(titleOf(edited)).toBe('A dragon');
  expect(titleOf(showTurn(edited, turn))).toBe('A brave cat');
  expect(titleOf({ ...edited, title: 'Mine' })).toBe('Mine');
});

test('two copies merge into one with the turns of both and the longer answers', () => {
  const { conversation, b, c } = branched();
  const here = addTurn(showTurn(conversation, b), b.id, 'here').conversation;
  const there = {
    ...addTurn(conversation, c.id, 'there').conversation,
    title: 'named there',
    updatedAt: here.updatedAt + 5,
    turns: conversation.turns.map((turn) => (turn === c ? { ...turn, answer: 'longer' } : turn)),
  };
  const merged = mergeConversations(here, there);
  expect(merged.turns.map((turn) => turn.question)).toEqual(['a', 'b', 'after b', 'c', 'after c', 'here']);
  expect(merged.turns.find((turn) => turn.id === c.id)?.answer).toBe('longer');
  expect(merged.title).toBe('named there');
  expect(mergeConversations(there, here)).toEqual(merged);
});

test('after any changes, the visible path is one branch from a first turn to a last', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'root', 'remove', 'show'), fc.nat(50)), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (list) => {
      let conversation = newConversation();
      for (const [what, pick] of list) {
        const turn = conversation.turns[pick % Math.max(1, conversation.turns.length)];
        if (what === 'root') conversation = addTurn(conversation, null, 'q').conversation;
        else if (!turn) continue;
        else if (what === 'add') conversation = addTurn(conversation, turn.id, 'q').conversation;
        else conversation = what === 'remove' ? removeTurn(conversation, turn) : showTurn(conversation, turn);
        const path = shownPath(conversation);
        expect(path.map((node) => node.parent)).toEqual([null, ...path.map((node) => node.id)].slice(0, path.length));
        expect(conversation.turns.some((node) => node.parent === path.at(-1)?.id)).toBe(false);
        expect(path.length > 0).toBe(conversation.turns.length > 0);
      }
    }),
  );
});
