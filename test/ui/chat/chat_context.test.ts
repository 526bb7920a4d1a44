// The context meter and the forgetting of old turns, on branches with made-up token counts.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextTokens, forgetOldest, isFull, memoryStart } from '../../../src/ui/chat/chat_context';
import { newTurn, type Turn } from '../../../src/ui/conversation/conversation';

/** A branch of answered turns. Turn i adds `asked[i]` tokens of question and 10 of answer. */
function answered(...asked: number[]): Turn[] {
  let held = 0;
  return asked.map((tokens, i) => {
    const usage = { promptTokens: held + tokens, cachedTokens: held, completionTokens: 10, reasoningTokens: 0 };
    held = usage.promptTokens + usage.completionTokens;
    return { ...newTurn(`question ${i}`), answer: 'an answer', state: 'done' as const, finishReason: 'eos', usage };
  });
}

const failed = (): Turn => ({ ...newTurn('one more'), state: 'error' });

describe('the meter', () => {
  test('shows prompt and answer of the newest counted turn', () => {
    expect(contextTokens([])).toBeNull();
    expect(contextTokens([failed()])).toBeNull();
    expect(contextTokens([...answered(20, 15), failed()])).toBe(55);
  });

  test('shows the rest after turns were forgotten, and the count again after the next answer', () => {
    const path = answered(30, 20, 10);
    const memory = { after: path[0].id, since: path[2].id };
    expect(contextTokens(path, memory)).toBe(20 + 10 + 10 + 10);
    const usage = { promptTokens: 61, cachedTokens: 0, completionTokens: 5, reasoningTokens: 0 };
    expect(contextTokens([...path, { ...failed(), state: 'done', usage }], memory)).toBe(66);
  });

  test('leaves out thinking, as the next prompt does, unless it filled the context', () => {
    const usage = { promptTokens: 20, cachedTokens: 0, completionTokens: 100, reasoningTokens: 90 };
    const path = [{ ...answered(20)[0], usage }];
    expect(contextTokens(path)).toBe(30);
    expect(contextTokens([{ ...path[0], finishReason: 'context' }])).toBe(120);
  });

  test('counts a turn after thinking by what it adds', () => {
    const path = answered(20, 0, 10);
    Object.assign(path[0].usage!, { completionTokens: 100, reasoningTokens: 90 });
    Object.assign(path[1].usage!, { promptTokens: 45 }); // 15 more than before, without the thinking
    const memory = { after: path[0].id, since: path[2].id };
    expect(contextTokens(path.slice(0, 2), { ...memory, since: path[1].id })).toBe(15 + 10);
  });

  test('shows nothing used after everything was forgotten', () => {
    const path = answered(30, 20);
    expect(contextTokens(path, { after: path[1].id, since: path[1].id })).toBe(0);
  });
});

describe('a full context', () => {
  const full = () => {
    const path = answered(30, 20);
    path[1].finishReason = 'context';
    return path;
  };

  test('is one that cut its newest answer short, until turns are forgotten', () => {
    const path = full();
    expect(isFull(path)).toBe(true);
    expect(isFull(path, { after: path[0].id, since: path[1].id })).toBe(false);
    expect(isFull(answered(30, 20))).toBe(false);
    expect(isFull([])).toBe(false);
    expect(isFull([...path, failed()])).toBe(false);
  });

  test('is full again later, with the older memory in place', () => {
    const path = full();
    const memory = { after: path[0].id, since: path[0].id };
    expect(isFull(path, memory)).toBe(true);
  });
});

describe('forgetting', () => {
  test('keeps as many of the newest turns as fit the budget', () => {
    const path = answered(40, 40, 40, 40); // 50 each
    expect(memoryStart(path, forgetOldest(path, undefined, 100))).toBe(2);
    expect(memoryStart(path, forgetOldest(path, undefined, 99))).toBe(3);
    expect(memoryStart(path, forgetOldest(path, undefined, 0))).toBe(4);
  });

  test('forgets one turn at least, however large the budget', () => {
    const path = answered(40, 40, 40);
    expect(memoryStart(path, forgetOldest(path, undefined, 1e6))).toBe(1);
    const memory = forgetOldest(path, undefined, 1e6);
    expect(memoryStart(path, forgetOldest(path, memory, 1e6))).toBe(2);
  });

  test('keeps the question that waits for its answer, and comes to an end', () => {
    const path = [...answered(40, 40), failed()];
    const memory = forgetOldest(path, undefined, 0);
    expect(memoryStart(path, memory)).toBe(2);
    expect(forgetOldest(path, memory, 0)).toBeUndefined();
    expect(forgetOldest([failed()], undefined, 0)).toBeUndefined();
    expect(forgetOldest([], undefined, 0)).toBeUndefined();
  });

  test('counts the waiting question by its letters', () => {
    const path = [...answered(40, 40), { ...failed(), question: 'x'.repeat(300) }]; // some 108 tokens
    expect(memoryStart(path, forgetOldest(path, undefined, 130))).toBe(2);
    expect(memoryStart(path, forgetOldest(path, undefined, 160))).toBe(1);
  });

  test('handles turns asked after a forgetting, and turns without counts', () => {
    const usage = { promptTokens: 30, cachedTokens: 0, completionTokens: 10, reasoningTokens: 0 };
    const path = [...answered(40, 40), { ...failed(), state: 'done' as const, usage }, failed()];
    const start = memoryStart(path, forgetOldest(path, undefined, 60));
    expect(start).toBe(2);
  });

  test('has no effect on a branch without the turn after which memory begins', () => {
    expect(memoryStart(answered(40, 40), { after: 'elsewhere', since: 'elsewhere' })).toBe(0);
  });

  test('forgets more with each step and ends with the waiting question alone, for any counts', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 20 }), fc.nat(2000), (asked, budget) => {
        const path = [...answered(...asked), failed()];
        let memory = forgetOldest(path, undefined, budget);
        let start = 0;
        while (memory) {
          expect(memoryStart(path, memory)).toBeGreaterThan(start);
          start = memoryStart(path, memory);
          memory = forgetOldest(path, memory, budget);
        }
        expect(start).toBe(path.length - 1);
      }),
    );
  });
});
