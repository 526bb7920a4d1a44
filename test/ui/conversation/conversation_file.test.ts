// Conversations from files and storage: valid ones come back unchanged, others are refused with a sentence.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uniqueId } from '../../../src/shared/unique_id';
import { newTurn, type Turn } from '../../../src/ui/conversation/conversation';
import {
  checkFileSize,
  exportConversations,
  importConversations,
} from '../../../src/ui/conversation/conversation_file';
import { ConversationFileError, parseConversation } from '../../../src/ui/conversation/conversation_parse';
import {
  addTurn,
  type Conversation,
  newConversation,
  shownSteps,
} from '../../../src/ui/conversation/conversation_tree';
import { cpuMs } from '../../cpu_time';

/** Text of any UTF-16 units, lone surrogates included. */
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', '<img src=x onerror=alert(1)>', '\u202e', '\ud800'),
);
const id = fc
  .array(fc.integer({ min: 0, max: 15 }), { minLength: 32, maxLength: 32 })
  .map((digits) => digits.map((digit) => digit.toString(16)).join(''));
const time = fc.integer({ min: 0, max: 1_700_000_000_000 });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const count = fc.integer({ min: 0, max: 1e9 });
const amount = orNull(fc.double({ min: 0, max: 1e12, noNaN: true }).map((n) => n + 0)); // JSON has no -0

const turn: fc.Arbitrary<Turn> = fc.record({
  id,
  parent: fc.constant(null),
  createdAt: time,
  question: text,
  attachments: fc.array(fc.record({ name: text, text }), { maxLength: 3 }),
  reasoning: text,
  thoughtMs: amount,
  answer: text,
  calls: fc.array(fc.record({ name: text, arguments: text, error: orNull(text) }), { maxLength: 3 }),
  prefill: fc.constant(null),
  state: fc.constantFrom('done' as const, 'error' as const),
  waitsFor: fc.constant(null),
  finishReason: fc.constantFrom('eos' as const, 'stop' as const, 'length' as const, 'context' as const, null),
  limit: orNull(count),
  timing: orNull(fc.record({ decodeTokensPerSecond: amount, ttftMs: amount, tbtP50Ms: amount })),
  usage: orNull(
    fc.record({ promptTokens: count, cachedTokens: count, completionTokens: count, reasoningTokens: count }),
  ),
  advice: orNull(
    fc.record({ what: text, next: text, offers: fc.subarray(['retry' as const, 'edit' as const, 'new' as const]) }),
  ),
  remarks: fc.array(text, { maxLength: 3 }),
  writers: fc.array(fc.record({ model: text, endedAt: orNull(time) }), { maxLength: 3 }),
});

/**
 * Any tree: each turn follows an earlier one or none, and each place shows one of its turns or leaves the choice open.
 */
const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    id,
    title: text,
    createdAt: time,
    updatedAt: time,
    system: text,
    turns: fc.uniqueArray(turn, { maxLength: 8, selector: (made) => made.id }),
    parents: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
    chosen: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    hasMemory: fc.boolean(),
  })
  .map(({ turns: loose, parents, chosen, hasMemory, ...rest }) => {
    const turns = loose.map((made, i) => ({ ...made, parent: loose[(parents[i] % (i + 1)) - 1]?.id ?? null }));
    const shown = Object.fromEntries(turns.filter((_, i) => chosen[i]).map((made) => [made.parent ?? '', made.id]));
    const memory = { after: turns[0]?.id ?? '', since: turns.at(-1)?.id ?? '' };
    return { ...rest, turns, shown, ...(hasMemory && turns.length > 0 ? { memory } : {}) };
  });

test('an export is imported unchanged', () => {
  fc.assert(
    fc.property(fc.array(conversation, { maxLength: 4 }), (conversations) => {
      expect(importConversations(exportConversations(conversations))).toEqual({ conversations, refused: [] });
    }),
    { numRuns: 300 },
  );
});

test('a file with one bare conversation is imported', () => {
  const { conversation: bare } = addTurn(newConversation('Be brief.'), null, 'Why?');
  const { conversations } = importConversations(JSON.stringify(bare));
  expect(conversations.map(({ id, system }) => [id, system])).toEqual([[bare.id, 'Be brief.']]);
});

test('a remark is a sentence, not megabytes', () => {
  const { conversation: one } = addTurn(newConversation(), null, 'Why?');
  const withRemark = (remark: string) => ({ ...one, turns: one.turns.map((turn) => ({ ...turn, remarks: [remark] })) });
  expect(parseConversation(withRemark('x'.repeat(4000))).turns[0].remarks[0]).toHaveLength(4000);
  expect(() => parseConversation(withRemark('x'.repeat(4001)))).toThrow(
    'Turn 1: a remark has 4001 letters, and 4000 are the most.',
  );
});

/** Damage to a valid value: a place in it, and the new content of that place. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    undefined,
    Number.NaN,
    -1,
    1e300,
    '',
    '__proto__',
    'constructor',
    [],
    {},
    [[]],
    'x'.repeat(2000),
  ),
);

test('damaged conversations are refused with a sentence, or come out valid', () => {
  fc.assert(
    fc.property(conversation, fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 4 }), (sound, damages) => {
      const value = structuredClone(sound) as unknown as Record<string, unknown>;
      for (const [place, put] of damages) damage(value, place, put);
      const parsed = parseOrSentence(value);
      if (typeof parsed === 'string') expect(parsed).toMatch(/^[A-Z].* .*\.$/s);
      else expect(parseConversation(parsed)).toEqual(parsed);
    }),
    { numRuns: 3000 },
  );
});

function damage(value: Record<string, unknown>, place: number, put: unknown): void {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, child] of Object.entries(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk(child);
    }
  };
  walk(value);
  const [node, key] = places[place % places.length];
  node[key] = structuredClone(put); // a copy, because a later damage may change it, and must not put it into itself
}

function parseOrSentence(value: unknown): Conversation | string {
  try {
    return parseConversation(value);
  } catch (error) {
    if (!(error instanceof ConversationFileError)) throw error;
    return error.message;
  }
}

test('any text at all is imported or refused with a sentence', () => {
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .jsonValue()
      .map((conversations) => JSON.stringify({ format: 'vivace-conversations', version: 1, conversations })),
    fc.jsonValue().map((turns) => JSON.stringify({ ...newConversation(), turns: [turns] })),
  );
  fc.assert(
    fc.property(anything, (file) => {
      try {
        expect(importConversations(file).conversations).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toBeInstanceOf(ConversationFileError);
        expect((error as Error).message).toMatch(/^[A-Z].* .*\.$/s);
      }
    }),
    { numRuns: 2000 },
  );
});

function withTurns(...turns: Partial<Turn>[]): string {
  return JSON.stringify({ ...newConversation(), turns: turns.map((made) => ({ ...newTurn('Why?'), ...made })) });
}

const [A, B] = [uniqueId(), uniqueId()];

for (const [name, file, sentence] of [
  ['no JSON', 'Hello', 'This file is not JSON. Choose a file that Vivace exported.'],
  [
    'an export that was cut',
    '{"format":"vivace-conversations","version":1,"conversations":[{"id":"0',
    'This file is incomplete or damaged. Export it again, or copy it again.',
  ],
  ['deep nesting', '['.repeat(2_000_000), 'This file is not JSON. Choose a file that Vivace exported.'],
  [
    'deep nesting that ends',
    '['.repeat(500_000) + ']'.repeat(500_000),
    /^This file (?:holds no conversations|is not JSON)\. /,
  ],
  ...['{"format":"vivace-run","version":1,"id":', '{\n "format": "vivace-run"}'].map(
    (run) => ['a run, cut or not', run, /^This file is a run, not a conversation\. Open the panel \(Timing\)/] as const,
  ),
  ['another format', '{"format":"chats"}', 'This file holds no conversations. Choose a file that Vivace exported.'],
  [
    'a later version',
    '{"format":"vivace-conversations","version":2,"conversations":[]}',
    /^This file has version 2, and this page reads version 1\. /,
  ],
  [
    'a circle of parents',
    withTurns({ id: A, parent: B }, { id: B, parent: A }),
    'Nothing was imported. Turn 1: the turn that it follows does not come before it.',
  ],
  ['its own parent', withTurns({ id: A, parent: A }), /Turn 1: the turn that it follows does not come before it/],
  ['an id twice', withTurns({ id: A }, { id: A }), 'Nothing was imported. Turn 2: its id is that of another turn.'],
  ['an id that is no id', withTurns({ id: '__proto__' }), /Turn 1: its id is not an id of 32 hexadecimal digits\./],
  [
    'too many turns',
    withTurns(...Array.from({ length: 10_001 }, () => ({}))),
    /Its list of turns has 10001 entries, and 10000 are the most/,
  ],
  [
    'too much text',
    withTurns({ answer: 'x'.repeat(6_000_000) }, { answer: 'x'.repeat(6_000_000) }),
    /Turn 2: with its answer there are more than 10000000 letters/,
  ],
] as const) {
  test(`refused with the reason: ${name}`, () => {
    const started = cpuMs();
    expect(() => importConversations(file)).toThrow(ConversationFileError);
    expect(() => importConversations(file)).toThrow(sentence);
    expect(cpuMs() - started).toBeLessThan(20_000);
  });
}

test('a file is refused by its size before it is read', () => {
  expect(() => checkFileSize(50_000_000)).not.toThrow();
  expect(() => checkFileSize(61_200_000)).toThrow('This file has 62 MB, and 50 MB are the most.');
});

test('a file with valid and damaged conversations yields the valid ones', () => {
  const { conversation: sound } = addTurn(newConversation(), null, 'Why?');
  const file = { format: 'vivace-conversations', version: 1, conversations: [{ ...sound, title: 7 }, sound] };
  const { conversations, refused } = importConversations(JSON.stringify(file));
  expect(conversations.map(({ id }) => id)).toEqual([sound.id]);
  expect(refused).toEqual(['Conversation 1: its title is not text.']);
});

test('no prototype is touched, and no unknown field comes along', () => {
  const { conversation: made } = addTurn(newConversation(), null, 'Why?');
  const file = JSON.stringify(made)
    .replace('"shown":{', '"shown":{"__proto__":{"polluted":1},"constructor":"x",')
    .replace('"turns":[{', '"evil":1,"__proto__":{"polluted":1},"turns":[{"__proto__":{"polluted":1},"evil":1,');
  const [parsed] = importConversations(file).conversations;
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.keys(parsed!).sort()).toEqual(Object.keys(made).sort());
  expect(Object.keys(parsed!.turns[0]).sort()).toEqual(Object.keys(made.turns[0]).sort());
  expect(Object.getPrototypeOf(parsed!.shown)).toBe(Object.prototype);
  expect(shownSteps(parsed!).map(({ turn }) => turn.question)).toEqual(['Why?']);
});

test('a streaming answer becomes an unfinished one', () => {
  const { conversation: streaming } = addTurn(newConversation(), null, 'Why?');
  const [parsed] = parseConversation(streaming).turns;
  expect([parsed!.state, parsed!.finishReason, parsed!.prefill, parsed!.waitsFor]).toEqual([
    'done',
    'closed',
    null,
    null,
  ]);
});

test('a date in the future becomes the current one', () => {
  for (const times of [{ updatedAt: 8e15 }, { createdAt: 8e15, updatedAt: 8e15 }]) {
    const parsed = parseConversation({ ...newConversation(), ...times });
    expect(parsed.updatedAt).toBeLessThanOrEqual(Date.now());
    expect(parsed.createdAt).toBeLessThanOrEqual(Date.now());
  }
});

test('a file with two conversations of one id yields both', () => {
  const asking = (question: string) => addTurn(newConversation(), null, question).conversation;
  const [first, second] = [asking('first'), asking('second')];
  const { conversations } = importConversations(exportConversations([first, { ...second, id: first.id }]));
  expect(conversations.map(({ turns }) => turns[0]?.question)).toEqual(['first', 'second']);
  expect(conversations[0]?.id).toBe(first.id);
  expect(conversations[1]?.id).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  expect(conversations[1]?.id).not.toBe(first.id);
});
