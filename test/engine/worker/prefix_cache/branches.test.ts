// Branches against a textbook: a cache that is an array of what each position has seen, and random conversations.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ParkedKv } from '../../../../src/engine/backend/backend';
import { MOST_BRANCHES } from '../../../../src/engine/worker/prefix_cache/branch_plan';
import { Branches } from '../../../../src/engine/worker/prefix_cache/branches';
import { LEAST_TOKENS, sharedPrefix } from '../../../../src/engine/worker/prefix_cache/shared_prefix';

const BYTES = 10;

/** What each position of a sequence has seen: a hash of all ids up to it. */
function seenOf(ids: ArrayLike<number>): number[] {
  let hash = 7;
  return Array.from(ids, (id) => {
    hash = (Math.imul(hash, 31) + id + 1) >>> 0;
    return hash;
  });
}

/** An engine whose keys and values are what each position has seen. */
class Textbook {
  cachedIds: readonly number[] = [];
  memory: number[] = [];
  refuses = false;
  /** Copies that exist, with their room; and memory for another, with nothing in it. */
  readonly copies = new Map<ParkedKv, number>();
  readonly empty = new Set<ParkedKv>();
  /** Tokens and room of all that was parked. */
  readonly parks: [number, number][] = [];
  readonly branches: Branches;

  constructor(budgetTokens: number) {
    const park = async (tokens: number, room = tokens) => {
      this.parks.push([tokens, room]);
      return this.copy(this.memory, tokens, room);
    };
    this.branches = new Branches(
      { bytesPerToken: BYTES, bytesOf: (tokens) => tokens * BYTES, least: 0, park },
      budgetTokens * BYTES,
    );
  }

  private copy(from: readonly number[], tokens: number, room = tokens): ParkedKv | null {
    if (this.refuses) return null;
    const rows = from.slice(0, tokens);
    expect(rows.length).toBe(tokens);
    const kv: ParkedKv = {
      restore: (ids) => {
        expect(rows.slice(0, ids.length)).toEqual(seenOf(ids));
        this.memory.splice(0, ids.length, ...rows.slice(0, ids.length));
      },
      shrink: async (least) => this.copy(rows, least),
      extend: (first, tokens) => {
        rows.splice(first, tokens, ...this.memory.slice(first, tokens));
        expect(rows.length).toBeLessThanOrEqual(room);
        if (!this.refuses) this.empty.delete(kv);
        return !this.refuses;
      },
      destroy: () => {
        this.copies.delete(kv);
        this.empty.delete(kv);
      },
    };
    this.copies.set(kv, room);
    if (tokens < room) this.empty.add(kv);
    return kv;
  }

  get parkedTokens(): number {
    return [...this.copies.values()].reduce((sum, tokens) => sum + tokens, 0);
  }

  /** Runs a prompt and its answer. */
  async ask(prompt: readonly number[], answer: readonly number[], systemTokens = 0) {
    const taken = await this.branches.take(this, Uint32Array.from(prompt), () => systemTokens);
    expect(taken.cached).toBeLessThan(prompt.length);
    expect(this.memory.slice(0, taken.cached)).toEqual(seenOf(prompt).slice(0, taken.cached));
    const all = [...prompt, ...answer];
    this.memory.splice(taken.cached, all.length - taken.cached, ...seenOf(all).slice(taken.cached));
    this.cachedIds = all;
    return taken;
  }
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
const A = numbers(1000, 60);
const B = numbers(2000, 50);
const ANSWER = numbers(9000, 20);

test('chats A, B, A: all but the last token of the prompt is there, and what follows the answer goes on from it', async () => {
  const engine = new Textbook(1000);
  await engine.ask(A, ANSWER);
  expect(await engine.ask(B, ANSWER)).toEqual({ cached: 0, report: 'new' });
  expect(await engine.ask(A, ANSWER)).toEqual({ cached: 59, report: 'parked' });
  expect(await engine.ask([...B, ...ANSWER, 1, 2], [])).toEqual({ cached: 70, report: 'parked' });
  expect(await engine.ask([...A, ...ANSWER, 3], [])).toEqual({ cached: 80, report: 'parked' });
  expect(await engine.ask([...A, ...ANSWER, 3, 4], [])).toEqual({ cached: 81, report: 'live' });
});

test('memory for a copy is there before another chat comes back, as far as the budget goes', async () => {
  const engine = new Textbook(175);
  await engine.ask(A, ANSWER);
  await engine.branches.makeReady(engine);
  expect(engine.parks, 'no other chat is there').toEqual([]);
  await engine.ask(B, ANSWER);
  await Promise.all([engine.branches.makeReady(engine), engine.branches.makeReady(engine)]);
  const [a, b] = [A, B].map(({ length }) => length + ANSWER.length);
  expect(engine.parks).toEqual([
    [a, a],
    [0, b],
  ]);
  expect(engine.branches.held.branches).toBe(1);
  expect(await engine.ask(A, ANSWER)).toEqual({ cached: 59, report: 'parked' });
  expect(engine.parks.length, 'the memory was taken').toBe(2);
  expect(await engine.ask(B, ANSWER)).toEqual({ cached: 49, report: 'parked' });

  await engine.ask([...B, ...ANSWER, ...numbers(3000, 60)], []);
  const { length } = engine.parks;
  await engine.branches.makeReady(engine);
  expect(engine.parks.length, 'no room for both').toBe(length);
});

test('memory that is ready goes with the branches, and before them', async () => {
  const engine = new Textbook(1000);
  await engine.ask(A, ANSWER);
  await engine.ask(B, ANSWER);
  await engine.branches.makeReady(engine);
  engine.branches.evictFor(0);
  expect([engine.copies.size, engine.empty.size]).toEqual([1, 0]);
  await engine.branches.makeReady(engine);
  expect(engine.branches.giveUp()).toBe(true);
  expect(engine.copies.size).toBe(0);

  await engine.ask(A, ANSWER);
  await engine.ask(B, ANSWER);
  const made = engine.branches.makeReady(engine);
  engine.branches.giveUp();
  await made;
  expect(engine.copies.size, 'memory that comes too late').toBe(0);
});

test('a budget of 0 keeps nothing, and says so', async () => {
  const engine = new Textbook(0);
  await engine.ask(A, ANSWER);
  await engine.ask(B, ANSWER);
  expect([engine.copies.size, engine.branches.held]).toEqual([0, { branches: 0, bytes: 0 }]);
  expect(await engine.ask(A, ANSWER)).toEqual({ cached: 0, report: 'evicted' });
  expect(await engine.ask([...A, ...ANSWER, 1], [])).toEqual({ cached: 80, report: 'live' });
});

test('refused memory costs the branch that was to be parked, and no other', async () => {
  const engine = new Textbook(1000);
  await engine.ask(A, ANSWER);
  await engine.ask(B, ANSWER);
  engine.refuses = true;
  await engine.ask(numbers(3000, 40), ANSWER);
  expect(engine.copies.size).toBe(1);
  expect(await engine.ask(B, ANSWER)).toEqual({ cached: 0, report: 'refused' });
  expect(await engine.ask(A, ANSWER)).toEqual({ cached: 59, report: 'parked' });
  const full = new Textbook(100);
  await full.ask(A, ANSWER);
  await full.ask(B, ANSWER);
  full.refuses = true;
  await full.ask(numbers(3000, 40), ANSWER); // would cost A its place
  expect(await full.ask(A, ANSWER)).toEqual({ cached: 59, report: 'parked' });
});

test('the least recently used goes first, a system prompt last, and near copies before others', async () => {
  const engine = new Textbook(200);
  const system = numbers(1, 30);
  await engine.ask([...system, ...A], [], 30); // 90 tokens
  await engine.ask(B, ANSWER); // 70
  await engine.ask(numbers(3000, 60), []); // 60: parks B, 160 are held
  await engine.ask(numbers(4000, 20), []); // parks 60 more: the first is cut to its system prompt
  expect([...engine.copies.values()].sort()).toEqual([30, 60, 70]);
  expect(await engine.ask([...system, ...numbers(5000, 20)], [])).toEqual({ cached: 30, report: 'parked' });
  expect((await engine.ask([...system, ...A], [])).report).toBe('evicted');
  const copies = new Textbook(200);
  await copies.ask(B, ANSWER); // 70, the oldest
  await copies.ask(A, numbers(6000, 20)); // 80
  await copies.ask(A, numbers(7000, 20)); // 80, another answer to the same question
  await copies.ask(A, numbers(8000, 20));
  expect([...copies.copies.values()].sort()).toEqual([70, 80]);
  expect((await copies.ask(B, ANSWER)).cached).toBe(49);
});

test('thinking that the template drops is not parked', async () => {
  const engine = new Textbook(1000);
  await engine.ask(A, ANSWER);
  engine.branches.keep(60);
  await engine.ask(B, ANSWER);
  expect(engine.parkedTokens).toBe(60);
});

test('work that overwrites the cache parks the conversation first; a fault drops all', async () => {
  const engine = new Textbook(1000);
  await engine.ask(A, ANSWER);
  await engine.branches.leave(engine);
  engine.memory = [];
  expect(await engine.ask(A, ANSWER)).toEqual({ cached: 59, report: 'parked' });
  await engine.ask(B, ANSWER);
  engine.branches.clear(engine);
  engine.cachedIds = [];
  expect([engine.copies.size, (await engine.ask(B, ANSWER)).report]).toEqual([0, 'cleared']);
  await engine.ask(A, ANSWER);
  expect([engine.branches.giveUp(), engine.branches.giveUp(), engine.copies.size]).toEqual([true, false, 0]);
});

describe('random conversations', () => {
  /** A turn goes on from any sequence so far, cut anywhere, with new ids of a small alphabet. */
  const turn = fc.record({
    from: fc.nat(),
    cut: fc.nat(120),
    more: fc.array(fc.nat(2), { minLength: 1, maxLength: 40 }),
    answer: fc.array(fc.nat(2), { maxLength: 30 }),
    systemTokens: fc.nat(60),
    refuses: fc.boolean(),
    leaves: fc.boolean(),
    makesReady: fc.boolean(),
  });

  async function play(turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[], budget: number) {
    const engine = new Textbook(budget);
    const seen: number[][] = [[]];
    for (const { from, cut, more, answer, systemTokens, refuses, leaves, makesReady } of turns) {
      engine.refuses = refuses && budget < Number.POSITIVE_INFINITY;
      if (leaves) {
        await engine.branches.leave(engine);
        engine.memory = [];
      }
      const prompt = [...(seen[from % seen.length] ?? []).slice(0, cut), ...more];
      const best = Math.max(...seen.map((ids) => sharedPrefix(ids, prompt, prompt.length - 1)));
      const { cached } = await engine.ask(prompt, answer, systemTokens);
      seen.push([...prompt, ...answer]);
      expect(engine.parkedTokens).toBeLessThanOrEqual(budget);
      const copies = [...engine.copies].filter(([kv]) => !engine.empty.has(kv));
      expect(copies.length).toBeLessThanOrEqual(MOST_BRANCHES);
      const bytes = BYTES * copies.reduce((sum, [, room]) => sum + room, 0);
      expect(engine.branches.held).toEqual({ branches: copies.length, bytes });
      if (makesReady) await engine.branches.makeReady(engine);
      expect(engine.parkedTokens).toBeLessThanOrEqual(budget);
      if (budget === Number.POSITIVE_INFINITY) expect(cached).toBeGreaterThan(best - 2 * LEAST_TOKENS);
    }
  }

  test.each([0, 50, 200, Number.POSITIVE_INFINITY])('within %s tokens', async (budget) => {
    const turns = fc.array(turn, { maxLength: MOST_BRANCHES });
    await fc.assert(
      fc.asyncProperty(turns, (some) => play(some, budget)),
      { numRuns: 150 },
    );
  });

  test('more than the most branches', async () => {
    const engine = new Textbook(1e6);
    for (let i = 0; i < 2 * MOST_BRANCHES; i++) await engine.ask(numbers(1000 * i, 40), []);
    expect(engine.copies.size).toBe(MOST_BRANCHES);
  });
});
